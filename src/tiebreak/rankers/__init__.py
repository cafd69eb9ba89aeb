"""Rank arithmetic: arrays in, arrays and frozen dataclasses out; no files, no models, no calls.

    profile, pairwise        many rankings of the same candidates, and who is put before whom
    kemeny, voting, views    one ranking out of many; `aggregate` knows all methods by name
    csd                      models over many benchmarks, by simulated Swiss-system contests
    strength                 Bradley–Terry and Elo from matches
    agreement, saturation    do two leaderboards say the same; what can a benchmark still tell
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
from tiebreak.rankers.errors import MissingPackageError, RankingError
from tiebreak.rankers.kemeny import (
    Certificate,
    CertificateError,
    KemenyBatch,
    KemenyResult,
    check_certificate,
    kemeny_young,
    kemeny_young_batch,
)
from tiebreak.rankers.pairwise import majorities, margins, preference_counts
from tiebreak.rankers.profile import Profile
from tiebreak.rankers.proportion import Proportion, wilson
from tiebreak.rankers.ranks import competition_ranks, mean_ranks
from tiebreak.rankers.saturation import Saturation, saturation
from tiebreak.rankers.strength import bradley_terry, elo
from tiebreak.rankers.uncertainty import ItemBootstrap, bootstrap_items, bootstrap_leaderboard
from tiebreak.rankers.views import Views, peer_views

__all__ = [
    "METHODS",
    "Agreement",
    "Certificate",
    "CertificateError",
    "Consensus",
    "CsdResult",
    "FailureSensitivity",
    "ItemBootstrap",
    "KemenyBatch",
    "KemenyResult",
    "MissingPackageError",
    "Perturbation",
    "Profile",
    "Proportion",
    "RankingError",
    "Saturation",
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
    "majorities",
    "margins",
    "mean_rank",
    "mean_ranks",
    "normalized_borda",
    "pearson",
    "peer_views",
    "perturb",
    "preference_counts",
    "resolution_gain",
    "saturation",
    "spearman",
    "spread",
    "tiers",
    "top1",
    "weighted_rounds",
    "wilson",
    "win_rates",
]
