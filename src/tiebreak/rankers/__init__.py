"""Rank arithmetic: arrays in, arrays and frozen dataclasses out; no files, no models, no calls.

    profile, pairwise        many rankings of the same candidates, and who is put before whom
    aggregation              one ranking out of many, by any method: `aggregators` lists them
    kemeny, voting, views    these methods; a model's view of itself and its peers' view of it
    panel, dependence        do reviewers agree, and how many independent votes are they worth
    reviewers, expander      each reviewer on its own; who reviews whom in sparse peer review
    contests                 models over many benchmarks, by simulated Swiss-system contests
    massey, strength         strengths from matches: least squares, Bradley–Terry, Elo
    agreement, stability     do two leaderboards say the same, and would they with other items
    pairwise_tests           which models are told apart
    settlement               when is a ranking decided, however often one looks
    ranks, uncertainty       scores of a leaderboard, and how far other items would move it

Conventions. `ranks` and `scores` are float arrays of shape (items or ballots, N), one column per
model. Rank 1 is the best, equal ranks are ties (tied models share the mean of the ranks that they
take up), NaN marks a model that is absent. Scores are better when higher. Only `csd` reads models ×
benchmarks, as leaderboards print them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tiebreak.rankers.aggregation import (
        Consensus,
        aggregate,
        aggregate_items,
        consensus_by,
        mean_rank,
    )
    from tiebreak.rankers.aggregators import AGGREGATORS, Aggregator
    from tiebreak.rankers.agreement import (
        Agreement,
        cohen_kappa,
        kendall_tau,
        kendall_tau_many,
        pearson,
        pearson_many,
        resolution_gain,
        spearman,
        spearman_many,
        top1,
        top1_many,
    )
    from tiebreak.rankers.contests.expected_wins import CsdResult, csd
    from tiebreak.rankers.contests.rounds import tiers, weighted_rounds, win_rates
    from tiebreak.rankers.contests.sensitivity import (
        FailureSensitivity,
        Perturbation,
        failure_sensitivity,
        perturb,
    )
    from tiebreak.rankers.dependence import EffectiveVotes, effective_votes
    from tiebreak.rankers.errors import (
        CertificateError,
        MissingPackageError,
        MissingScoreError,
        NotConnectedError,
        NotConvergedError,
        RankingError,
        ReviewGraphError,
        UnprovenOrderError,
    )
    from tiebreak.rankers.expander import review_graph
    from tiebreak.rankers.intervals import Estimate, Proportion, wilson
    from tiebreak.rankers.kemeny.batch import kemeny_young_batch
    from tiebreak.rankers.kemeny.certificate import check_certificate
    from tiebreak.rankers.kemeny.result import Certificate, KemenyResult
    from tiebreak.rankers.kemeny.solve import kemeny_young
    from tiebreak.rankers.massey import least_squares
    from tiebreak.rankers.pairwise_tests import Separation, separation
    from tiebreak.rankers.panel import (
        Concordance,
        ReviewerAgreement,
        kendall_w,
        krippendorff_alpha,
        reviewer_agreement,
    )
    from tiebreak.rankers.profile import Profile
    from tiebreak.rankers.ranks import competition_ranks, mean_ranks, normalized_borda, spread
    from tiebreak.rankers.reviewers import (
        LeaveOneOut,
        PresentationBias,
        leave_one_out,
        presentation_bias,
    )
    from tiebreak.rankers.settlement import RankingTest
    from tiebreak.rankers.stability import (
        ResampledAgreement,
        RunStability,
        Stability,
        mean_statistic,
        resample_agreement,
        run_to_run,
        subsample_stability,
    )
    from tiebreak.rankers.strength import bradley_terry, elo
    from tiebreak.rankers.uncertainty import (
        ItemBootstrap,
        Resampling,
        bootstrap_items,
        bootstrap_leaderboard,
    )
    from tiebreak.rankers.views import Views, fair_gaps, peer_views

__all__ = [
    "AGGREGATORS",
    "Aggregator",
    "Agreement",
    "Certificate",
    "CertificateError",
    "Concordance",
    "Consensus",
    "CsdResult",
    "EffectiveVotes",
    "Estimate",
    "FailureSensitivity",
    "ItemBootstrap",
    "KemenyResult",
    "LeaveOneOut",
    "MissingPackageError",
    "MissingScoreError",
    "NotConnectedError",
    "NotConvergedError",
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
    "Separation",
    "Stability",
    "UnprovenOrderError",
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
    "kendall_tau",
    "kendall_tau_many",
    "kendall_w",
    "krippendorff_alpha",
    "least_squares",
    "leave_one_out",
    "mean_rank",
    "mean_ranks",
    "mean_statistic",
    "normalized_borda",
    "pearson",
    "pearson_many",
    "peer_views",
    "perturb",
    "presentation_bias",
    "resample_agreement",
    "resolution_gain",
    "review_graph",
    "reviewer_agreement",
    "run_to_run",
    "separation",
    "spearman",
    "spearman_many",
    "spread",
    "subsample_stability",
    "tiers",
    "top1",
    "top1_many",
    "weighted_rounds",
    "wilson",
    "win_rates",
]

_HOMES = {
    "aggregators": "AGGREGATORS Aggregator",
    "aggregation": "Consensus aggregate aggregate_items consensus_by mean_rank",
    "agreement": (
        "Agreement cohen_kappa kendall_tau kendall_tau_many pearson pearson_many "
        "resolution_gain spearman spearman_many top1 top1_many"
    ),
    "contests.expected_wins": "CsdResult csd",
    "contests.rounds": "tiers weighted_rounds win_rates",
    "contests.sensitivity": "FailureSensitivity Perturbation failure_sensitivity perturb",
    "dependence": "EffectiveVotes effective_votes",
    "errors": (
        "CertificateError MissingPackageError MissingScoreError NotConnectedError "
        "NotConvergedError RankingError ReviewGraphError UnprovenOrderError"
    ),
    "expander": "review_graph",
    "intervals": "Estimate Proportion wilson",
    "kemeny.batch": "kemeny_young_batch",
    "kemeny.certificate": "check_certificate",
    "kemeny.result": "Certificate KemenyResult",
    "kemeny.solve": "kemeny_young",
    "massey": "least_squares",
    "pairwise_tests": "Separation separation",
    "panel": "Concordance ReviewerAgreement kendall_w krippendorff_alpha reviewer_agreement",
    "profile": "Profile",
    "ranks": "competition_ranks mean_ranks normalized_borda spread",
    "reviewers": "LeaveOneOut PresentationBias leave_one_out presentation_bias",
    "settlement": "RankingTest",
    "stability": (
        "ResampledAgreement RunStability Stability mean_statistic resample_agreement "
        "run_to_run subsample_stability"
    ),
    "strength": "bradley_terry elo",
    "uncertainty": "ItemBootstrap Resampling bootstrap_items bootstrap_leaderboard",
    "views": "Views fair_gaps peer_views",
}


def __getattr__(name: str) -> Any:
    # Loaded when first used, so that a list of the aggregators needs neither NumPy nor SciPy.
    for home, names in _HOMES.items():
        if name in names.split():
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
