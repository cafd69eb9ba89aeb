"""Tiebreak makes saturated LLM benchmarks informative again.

It reads the answers that models have already given (Inspect logs, lm-eval samples), has an LLM
judge compare them, and returns a ranking with its uncertainty and its bill.

    pool = tiebreak.load_candidates("logs/")
    boards = tiebreak.leaderboards(["logs/"])
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tiebreak.candidates import CandidatePool, audit, load_candidates, write_parquet
    from tiebreak.report import Leaderboard, leaderboards, render

__version__ = "0.1.0"

__all__ = [
    "CandidatePool",
    "Leaderboard",
    "__version__",
    "audit",
    "leaderboards",
    "load_candidates",
    "render",
    "write_parquet",
]

_HOMES = {
    "tiebreak.candidates": ("CandidatePool", "audit", "load_candidates", "write_parquet"),
    "tiebreak.report": ("Leaderboard", "leaderboards", "render"),
}


def __getattr__(name: str) -> Any:
    # Loaded when first used, so that `import tiebreak` and `inspect list` stay quick.
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'tiebreak' has no attribute {name!r}")
