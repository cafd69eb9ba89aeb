"""Whether the longer answer gains, between the same two models.

That a model with longer answers wins more often shows nothing: it may be the better one. So each
pair of models is compared with itself: does A win more often where its answer is longer than B's
than where it is shorter? Still, what makes an answer longer in an item may also make it better;
no ballot can tell.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiebreak.analysis.judge.position import ALARM, FEWEST_ITEMS, TOLERANCE
from tiebreak.rankers.profile import FloatArray
from tiebreak.scorers.ballots import ItemBallots

# Of two models that gave the longer answer a and b times, 4ab / (a + b). Where b is 1 or 2, the
# slope hangs on these matches, and 3 to 7% of fair judges of two models seemed to like length.
_LEAST_SPREAD = 40.0


@dataclass(frozen=True, slots=True)
class Length:
    """What being the longer answer is worth, within pairs of models.

    `gain` is in wins per match, in [-½, ½]: the longer of two answers wins ½ + gain where both
    models are as good. It is the slope of results on who is longer (1, 0, −1) with a constant for
    every pair of models; `n_matches` are in pairs of which now one, now the other is longer. Its
    interval and the two-sided `p` are by jackknife over the `n_items` of these matches (t), from
    ten items on; `p` only where each model has the longer answer often enough (some ten times).
    What is undefined is NaN, and `reason` says why there is no gain.
    """

    gain: float
    lower: float
    upper: float
    p: float
    n_matches: int
    n_items: int
    reason: str | None

    @property
    def bound(self) -> bool:
        """Whether the longer or the shorter answer gains, and more than the tolerance."""
        return self.p <= ALARM and abs(self.gain) >= TOLERANCE


def length_of(items: Iterable[ItemBallots], *, level: float = 0.95) -> Length:
    """Measure over all scored matches between answers of known length."""
    from scipy.stats import t

    items = tuple(items)
    item, pair, table = _cells(items)
    if not len(item):
        scored = any(match.result is not None for one in items for match in one.matches)
        return _nothing("the log does not say how long answers are" if scored else "no match")
    totals = np.zeros((pair.max() + 1, table.shape[1]))
    np.add.at(totals, pair, table)
    up, down = _slope(totals)
    telling = down[pair] > 0
    if not telling.any():
        return _nothing("of no two models now one and now the other gave the longer answer")
    item, pair, table = item[telling], pair[telling], table[telling]
    n_matches, numbers = int(table[:, 0].sum()), np.unique(item, return_inverse=True)[1]
    m = int(numbers.max()) + 1
    gain = float(up.sum() / down.sum())
    if m < FEWEST_ITEMS:
        nan = math.nan
        return Length(gain, nan, nan, nan, n_matches, m, None)
    # Leaving out an item changes the pairs that met in it, and no others.
    without = _slope(totals[pair] - table)
    more = np.bincount(numbers, without[0] - up[pair], m)
    fewer = np.bincount(numbers, without[1] - down[pair], m)
    left = (up.sum() + more) / np.maximum(down.sum() + fewer, np.finfo(float).tiny)
    error = math.sqrt((m - 1) / m * float(np.sum((left - left.mean()) ** 2)))
    half = float(t.ppf((1 + level) / 2, m - 1)) * error
    p = float(2 * t.sf(abs(gain) / error, m - 1)) if error else float(gain == 0)
    if down.sum() < _LEAST_SPREAD:
        p = math.nan
    return Length(gain, gain - half, gain + half, p, n_matches, m, None)


def _nothing(reason: str) -> Length:
    return Length(math.nan, math.nan, math.nan, math.nan, 0, 0, reason)


def _cells(
    items: Iterable[ItemBallots],
) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]:
    """One row for each item and pair that met: item, pair, and sums n, x, y, xy, xx of matches.

    x is 1, 0 or −1 as the first of the pair, by name, gave the longer answer, and y its result.
    """
    cells: dict[tuple[str, tuple[str, str]], FloatArray] = {}
    for item in items:
        for match in item.matches:
            names = match.high, match.low
            if match.result is None or not set(names) <= item.lengths.keys():
                continue
            x, y = np.sign(item.lengths[match.high] - item.lengths[match.low]), match.result
            if names != (pair := (min(names), max(names))):
                x, y = -x, 1 - y
            row = np.array([1, x, y, x * y, x * x], dtype=np.float64)
            cells[item.item_id, pair] = cells.get((item.item_id, pair), 0) + row
    item_ids, pairs = zip(*cells, strict=True) if cells else ((), ())
    _, item_number = np.unique(np.array(item_ids, dtype=str), return_inverse=True)
    numbers = {pair: number for number, pair in enumerate(sorted(set(pairs)))}
    return (
        item_number.astype(np.int64),
        np.array([numbers[pair] for pair in pairs], dtype=np.int64),
        np.array(list(cells.values()), dtype=np.float64).reshape(len(cells), 5),
    )


def _slope(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Numerator and denominator of the slope within each pair, from its sums; 0 without matches."""
    n, x, y, xy, xx = sums.T
    safe = np.maximum(n, 1)
    return xy - x * y / safe, np.maximum(xx - x * x / safe, 0).round(9)
