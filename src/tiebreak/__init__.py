"""Tiebreak makes saturated LLM benchmarks informative again.

It reads the answers that models have already given (Inspect logs, lm-eval samples), has an LLM
judge compare them, and returns a ranking with its uncertainty and its bill.

    pool = tiebreak.load_candidates("logs/")
    boards = tiebreak.leaderboards(["logs/"])

It also merges rankings (`aggregate`, `kemeny_young`) and ranks models over many benchmarks (`csd`).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tiebreak.analysis.alignment.align import align
    from tiebreak.analysis.leaderboard import Leaderboard, leaderboards
    from tiebreak.analysis.peers.review import peer_report
    from tiebreak.analysis.saturation import saturation
    from tiebreak.candidates import CandidatePool, audit, load_candidates, write_parquet
    from tiebreak.publish import publish_dataset
    from tiebreak.rankers import Profile, aggregate, csd, kemeny_young
    from tiebreak.tables import read_ballots, read_human_ranking, read_rounds, read_scores
    from tiebreak.write_back import write_back_ranks

__version__ = "0.1.0"

__all__ = [
    "CandidatePool",
    "Leaderboard",
    "Profile",
    "__version__",
    "aggregate",
    "align",
    "audit",
    "csd",
    "kemeny_young",
    "leaderboards",
    "load_candidates",
    "peer_report",
    "publish_dataset",
    "read_ballots",
    "read_human_ranking",
    "read_rounds",
    "read_scores",
    "saturation",
    "write_back_ranks",
    "write_parquet",
]

_HOMES = {
    "tiebreak.analysis.alignment.align": ("align",),
    "tiebreak.analysis.leaderboard": ("Leaderboard", "leaderboards"),
    "tiebreak.analysis.peers.review": ("peer_report",),
    "tiebreak.analysis.saturation": ("saturation",),
    "tiebreak.candidates": ("CandidatePool", "audit", "load_candidates", "write_parquet"),
    "tiebreak.publish": ("publish_dataset",),
    "tiebreak.rankers": ("Profile", "aggregate", "csd", "kemeny_young"),
    "tiebreak.tables": ("read_ballots", "read_human_ranking", "read_rounds", "read_scores"),
    "tiebreak.write_back": ("write_back_ranks",),
}


def __getattr__(name: str) -> Any:
    # Loaded when first used, so that `import tiebreak` and `inspect list` stay quick.
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'tiebreak' has no attribute {name!r}")
