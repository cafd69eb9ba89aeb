"""Rank arithmetic: arrays in, arrays and frozen dataclasses out; no files, no models, no calls.

    profile, pairwise        many rankings of the same candidates, and who is put before whom
    kemeny, voting, views    one ranking out of many; `aggregate` knows all methods by name
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
    kendall_many,
    pearson,
    resolution_gain,
    spearman,
    top1,
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
from tiebreak.rankers.errors import MissingPackageError, NotConnectedError, RankingError
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
from tiebreak.rankers.saturation import Saturation, saturation
from tiebreak.rankers.separation import Separation, separation
from tiebreak.rankers.settlement import RankingTest
from tiebreak.rankers.strength import bradley_terry, elo
from tiebreak.rankers.uncertainty import ItemBootstrap, bootstrap_items, bootstrap_leaderboard
from tiebreak.rankers.views import Views, peer_views

__all__ = [
    "METHODS",
    "Agreement",
    "AgreementInterval",
    "Certificate",
    "CertificateError",
    "Consensus",
    "CsdResult",
    "FailureSensitivity",
    "ItemBootstrap",
    "KemenyBatch",
    "KemenyResult",
    "MissingPackageError",
    "NotConnectedError",
    "Perturbation",
    "Profile",
    "Proportion",
    "RankingError",
    "RankingTest",
    "ResampledAgreement",
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
    "elo",
    "failure_sensitivity",
    "kemeny_young",
    "kemeny_young_batch",
    "kendall",
    "kendall_many",
    "least_squares",
    "least_squares_statistic",
    "majorities",
    "margins",
    "mean_rank",
    "mean_ranks",
    "mean_statistic",
    "normalized_borda",
    "pearson",
    "peer_views",
    "perturb",
    "preference_counts",
    "resample_agreement",
    "resolution_gain",
    "run_to_run",
    "saturation",
    "separation",
    "spearman",
    "spread",
    "subsample_stability",
    "tiers",
    "top1",
    "transitive_closure",
    "weighted_rounds",
    "wilson",
    "win_rates",
]
