"""Rank arithmetic: arrays in, arrays and frozen dataclasses out; no files, no models, no calls.

    profile, pairwise        many rankings of the same candidates, and who is put before whom
    kemeny, voting, views    one ranking out of many; `aggregate` knows all methods by name
    panel, dependence        do reviewers agree, and how many independent votes are they worth
    reviewers, expander      each reviewer on its own; who reviews whom in sparse peer review
    csd                      models over many benchmarks, by simulated Swiss-system contests
    least_squares, strength  strengths from matches: least squares, Bradley–Terry, Elo
    agreement, resampling    do two leaderboards say the same, and would they with other items
    saturation, separation   what can a benchmark still tell; which models are told apart
    settlement               when is a ranking decided, however often one looks
    borda, uncertainty       scores of a leaderboard, and how far other items would move it

Conventions. `ranks` and `scores` are float arrays of shape (items or ballots, N), one column per
model. Rank 1 is the best, equal ranks are ties (tied models share the mean of the ranks that they
take up), NaN marks a model that is absent. Scores are better when higher. Only `csd` reads models ×
benchmarks, as leaderboards print them.
"""

from tiebreak.rankers.aggregate import METHODS, aggregate, aggregate_items, mean_rank
from tiebreak.rankers.agreement import (
    Agreement,
    cohen_kappa,
    kendall,
    pearson,
    resolution_gain,
    spearman,
    top1,
)
from tiebreak.rankers.agreement_many import (
    kendall_many,
    pearson_many,
    spearman_many,
    top1_many,
)
from tiebreak.rankers.borda import normalized_borda, spread
from tiebreak.rankers.consensus import Consensus, consensus_by
from tiebreak.rankers.csd import (
    CsdResult,
    FailureSensitivity,
    Perturbation,
    Tiers,
    csd,
    failure_sensitivity,
    perturb,
    tiers,
    weighted_rounds,
    win_rates,
)
from tiebreak.rankers.dependence import EffectiveVotes, effective_votes
from tiebreak.rankers.errors import MissingPackageError, NotConnectedError, RankingError
from tiebreak.rankers.expander import ReviewGraphError, review_graph
from tiebreak.rankers.intervals import Estimate
from tiebreak.rankers.kemeny import (
    Certificate,
    CertificateError,
    KemenyBatch,
    KemenyResult,
    check_certificate,
    kemeny_young,
    kemeny_young_batch,
)
from tiebreak.rankers.least_squares import (
    least_squares,
    least_squares_statistic,
    transitive_closure,
)
from tiebreak.rankers.pairwise import majorities, margins, preference_counts
from tiebreak.rankers.panel import (
    Concordance,
    ReviewerAgreement,
    kendall_w,
    krippendorff_alpha,
    reviewer_agreement,
)
from tiebreak.rankers.profile import Profile
from tiebreak.rankers.proportion import Proportion, wilson
from tiebreak.rankers.ranks import competition_ranks, mean_ranks
from tiebreak.rankers.resampling import (
    AgreementInterval,
    ResampledAgreement,
    RunStability,
    Stability,
    mean_statistic,
    resample_agreement,
    run_to_run,
    subsample_stability,
)
from tiebreak.rankers.reviewers import (
    LeaveOneOut,
    PresentationBias,
    leave_one_out,
    presentation_bias,
)
from tiebreak.rankers.saturation import Saturation, saturation
from tiebreak.rankers.separation import Separation, separation
from tiebreak.rankers.settlement import RankingTest
from tiebreak.rankers.strength import bradley_terry, elo
from tiebreak.rankers.uncertainty import (
    ItemBootstrap,
    Resampling,
    bootstrap_items,
    bootstrap_leaderboard,
)
from tiebreak.rankers.views import Views, fair_gaps, peer_views

__all__ = [
    "METHODS",
    "Agreement",
    "AgreementInterval",
    "Certificate",
    "CertificateError",
    "Concordance",
    "Consensus",
    "CsdResult",
    "EffectiveVotes",
    "Estimate",
    "FailureSensitivity",
    "ItemBootstrap",
    "KemenyBatch",
    "KemenyResult",
    "LeaveOneOut",
    "MissingPackageError",
    "NotConnectedError",
    "Perturbation",
    "PresentationBias",
    "Profile",
    "Proportion",
    "RankingError",
    "RankingTest",
    "ResampledAgreement",
    "Resampling",
    "ReviewGraphError",
    "ReviewerAgreement",
    "RunStability",
    "Saturation",
    "Separation",
    "Stability",
    "Tiers",
    "Views",
    "aggregate",
    "aggregate_items",
    "bootstrap_items",
    "bootstrap_leaderboard",
    "bradley_terry",
    "check_certificate",
    "cohen_kappa",
    "competition_ranks",
    "consensus_by",
    "csd",
    "effective_votes",
    "elo",
    "failure_sensitivity",
    "fair_gaps",
    "kemeny_young",
    "kemeny_young_batch",
    "kendall",
    "kendall_many",
    "kendall_w",
    "krippendorff_alpha",
    "least_squares",
    "least_squares_statistic",
    "leave_one_out",
    "majorities",
    "margins",
    "mean_rank",
    "mean_ranks",
    "mean_statistic",
    "normalized_borda",
    "pearson",
    "pearson_many",
    "peer_views",
    "perturb",
    "preference_counts",
    "presentation_bias",
    "resample_agreement",
    "resolution_gain",
    "review_graph",
    "reviewer_agreement",
    "run_to_run",
    "saturation",
    "separation",
    "spearman",
    "spearman_many",
    "spread",
    "subsample_stability",
    "tiers",
    "top1",
    "top1_many",
    "transitive_closure",
    "weighted_rounds",
    "wilson",
    "win_rates",
]
