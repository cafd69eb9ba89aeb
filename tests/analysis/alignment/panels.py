"""Peer reviews as arrays, without any log."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.analysis.peers.panel import Panel
from tiebreak.scorers.ballots import Reviewer
from tiebreak.tables.human import HumanRanking

NAN = float("nan")


def panel(
    ranks: ArrayLike,
    *,
    models: Sequence[str] = "abcdefgh",
    native: ArrayLike | None = None,
    items: Sequence[int] | None = None,
    **fields: Any,
) -> Panel:
    """A panel from ranks of shape (rows, reviewers, N); reviewer k is model k, or none."""
    table = np.asarray(ranks, dtype=np.float64)
    n_rows, n_reviewers, n = table.shape
    names = tuple(models[:n])
    called = [*names, *(f"X{k}" for k in range(n, n_reviewers))][:n_reviewers]
    numbers = np.arange(n_rows) if items is None else np.asarray(items)
    usual: dict[str, Any] = {
        "benchmark": "gsm8k",
        "log": "logs/peers.eval",
        "aggregator": "kemeny_young",
        "degree": None,
        "notes": (),
        "own": tuple(k if k < n else None for k in range(n_reviewers)),
    }
    return Panel(
        models=names,
        reviewers=tuple(
            Reviewer(name=name, model=f"m/{name}", candidate=name if name in names else None)
            for name in called
        ),
        item_ids=tuple(f"q{number}" for number in numbers),
        items=numbers,
        ranks=table,
        shown=np.full(table.shape, NAN),
        native=np.ones((n_rows, n)) if native is None else np.asarray(native, np.float64),
        ballots=(),
        **usual | fields,
    )


def people(order: str = "abcdefgh", **more: str) -> HumanRanking:
    """People rank one-letter models, best first, on all benchmarks, and on those named."""
    orders = {"": order} | more
    ranks = {
        name: {model: float(place) for place, model in enumerate(said, start=1)}
        for name, said in orders.items()
        if said
    }
    return HumanRanking("arena.csv", ranks)


def noisy(
    n_items: int, n_reviewers: int, n: int, *, seed: int, apart: float = 0.5, noise: float = 1.0
) -> NDArray[np.float64]:
    """Ranks of shape (items, reviewers, N), models from the best to the worst."""
    rng = np.random.default_rng(seed)
    answers = -apart * np.arange(n) + noise * rng.normal(size=(n_items, 1, n))
    seen = answers + noise * rng.normal(size=(n_items, n_reviewers, n))
    return ranks_of(seen)


def ranks_of(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks along the last axis, the highest score first."""
    return (np.argsort(np.argsort(-scores, axis=-1), axis=-1) + 1).astype(np.float64)
