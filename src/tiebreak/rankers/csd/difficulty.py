"""Rounds within one benchmark: its items in tiers of difficulty (§5.1.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.rankers.csd.inputs import ContestSettingError, FloatArray, IntArray
from tiebreak.rankers.errors import MissingScoreError, ShapeError
from tiebreak.rankers.ranks import DECIMALS

TENTHS = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)


@dataclass(frozen=True, eq=False, slots=True)
class Tiers:
    """Items of a benchmark by difficulty, the easiest tier first.

    `scores`, shape (M, tiers): mean score of each model over the items of the tier, ready for
    `csd`. `names`: the range of success rates of each tier. `n_items`, shape (tiers,). `tier`,
    shape (items,): where each item went. `dropped`: names of the tiers without items. `bounds`
    are the success rates that were given.
    """

    scores: FloatArray
    names: tuple[str, ...]
    n_items: IntArray
    tier: IntArray
    dropped: tuple[str, ...]
    bounds: tuple[float, ...]


def tiers(item_scores: ArrayLike, bounds: Sequence[float] = TENTHS) -> Tiers:
    """Split one benchmark into tiers by the items' mean success rate over the models (§5.1.2).

    The default is ten tiers: above 90%, 80–90%, …, at most 10%. (The paper asks for ten, but its
    list of ranges goes from "> 90%" to "70%–80%" and ends with the ninth; 80–90% is left out there
    by mistake.) An item that is just on a bound belongs to the harder tier.

    Args:
        item_scores: shape (items, M), in [0, 1].
        bounds: descending success rates, between 0 and 1, that part the tiers.

    Raises:
        RankingError: the table has another shape, holes, or scores outside [0, 1], or the bounds
            do not descend within (0, 1).
    """
    table = np.asarray(item_scores, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape:
        raise ShapeError(f"item_scores must have shape (items, models), got {table.shape}")
    if np.isnan(table).any():
        item, model = np.argwhere(np.isnan(table))[0]
        raise MissingScoreError(f"model {model} has no score in item {item}")
    if table.min() < 0 or table.max() > 1:
        raise ContestSettingError("item scores must lie between 0 and 1, for success rates")
    edges = (1.0, *(float(bound) for bound in bounds), 0.0)
    if not all(high > low for high, low in pairwise(edges)):
        raise ContestSettingError(f"bounds must descend within (0, 1), got {list(bounds)}")
    rates = table.mean(axis=1).round(DECIMALS)
    place = np.sum(rates[:, None] <= np.array(edges[1:-1]), axis=1)
    kept, tier, n_items = np.unique(place, return_inverse=True, return_counts=True)
    ranges = [f"{low:.4g}–{high:.4g}" for high, low in pairwise(edges)]
    return Tiers(
        scores=np.stack([table[place == number].mean(axis=0) for number in kept], axis=1),
        names=tuple(ranges[number] for number in kept),
        n_items=n_items.astype(np.int64),
        tier=tier.astype(np.int64),
        dropped=tuple(name for number, name in enumerate(ranges) if number not in kept),
        bounds=edges[1:-1],
    )
