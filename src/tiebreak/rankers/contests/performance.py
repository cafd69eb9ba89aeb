"""Tiers of models by expected wins (§4.1, figure 3).

The paper shows four and gives no rule. Ours are natural breaks (Fisher, JASA 53, 1958; Jenks,
1967): of all ways to part the sorted values the one with the least squares within the tiers, found
exactly. They describe where values lie close together; they test nothing.
"""

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.profile import FloatArray, IntArray


def natural_breaks(values: ArrayLike, tiers: int = 4) -> IntArray:
    """The tier of each value, 1 = the highest, shape (n,). Equal values share theirs.

    Args:
        values: shape (n,), finite; higher is better.
        tiers: number of tiers, from 1 to that of different values.

    Raises:
        RankingError: a value is not finite, or there are fewer different values than tiers.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 1 or not np.isfinite(table).all():
        raise RankingError(f"values must be finite, of shape (n,), got {table}")
    distinct, group, n = np.unique(-table, return_inverse=True, return_counts=True)
    if not 1 <= tiers <= len(distinct):
        raise RankingError(
            f"{len(distinct)} different values cannot be put into {tiers} tiers; ask for 1 to "
            f"{len(distinct)}"
        )
    within = _squares(distinct, n)
    # least[end]: squares within the best partition of the first `end` values.
    least, cuts = np.r_[0.0, np.full(len(distinct), np.inf)], []
    for _ in range(tiers):
        sums = least[:-1, None] + within
        cuts.append(np.argmin(sums, axis=0))
        least = np.r_[np.inf, sums.min(axis=0)]
    tier, end = np.empty(len(distinct), dtype=np.int64), len(distinct)
    for number in range(tiers, 0, -1):
        start = int(cuts[number - 1][end - 1])
        tier[start:end], end = number, start
    return tier[group]


def _squares(values: FloatArray, n: IntArray) -> FloatArray:
    """Squares about the mean of the values from one to another, [start, last]; infinite before."""
    centred = values - values.mean()
    sums = [np.r_[0.0, np.cumsum(n * centred**power)] for power in range(3)]
    weight, total, square = (one[None, 1:] - one[:-1, None] for one in sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        within = np.maximum(square - total**2 / weight, 0)
    return np.where(weight > 0, within, np.inf)
