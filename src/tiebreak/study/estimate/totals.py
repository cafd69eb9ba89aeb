"""From some items to all: which ones to look at, and totals with what is uncertain about them.

Items are alike that have the same benchmark, rubric and number of different answers: a protocol
with a fixed plan asks the same number of questions about each. From every such stratum a part is
taken, evenly over the items in the order of their length; its mean counts for the whole stratum.
So calls of fixed protocols are exact, and nothing is left to luck that need not be.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from tiebreak.rankers.profile import FloatArray

ERRORS: Final = 2.0
"""Half width of an interval in standard errors: about 95%."""


class Range(NamedTuple):
    """A figure: the likely value, and the range that it is expected in."""

    low: float
    likely: float
    high: float

    def at(self, end: int) -> float:
        """The low end for -1, the likely value for 0, the high end for 1."""
        return self[end + 1]


class Stratum(NamedTuple):
    """Items that are alike: how many there are, and which of them are looked at, in order."""

    size: int
    taken: tuple[int, ...]


class Total(NamedTuple):
    """Totals over all items, one for each quantity, and their standard errors."""

    value: FloatArray
    error: FloatArray


def strata(kinds: Sequence[Hashable], lengths: Sequence[int], most: int | None) -> list[Stratum]:
    """Take about `most` items, in proportion from all strata, at least two of each where there are.

    `kinds` are the strata of the items; what is taken is spread over short and long ones. None:
    all.
    """
    share = 1.0 if most is None else min(1.0, most / len(kinds))
    members: dict[Hashable, list[int]] = {}
    for item in sorted(range(len(kinds)), key=lambda i: (lengths[i], i)):
        members.setdefault(kinds[item], []).append(item)
    chosen = []
    for items in members.values():
        n = len(items)
        m = min(n, max(2, round(share * n)))
        chosen.append(Stratum(n, tuple(items[(2 * i + 1) * n // (2 * m)] for i in range(m))))
    return chosen


def total(chosen: Sequence[Stratum], values: Mapping[int, FloatArray]) -> Total:
    """Totals over all items from the `values` of each quantity in those that were taken.

    The error has two parts: the mean of the m items taken may be off (n² s² / m), and other draws
    of the judge would give other figures (n s²). s² comes from the differences between neighbours
    in the order of length, as for any systematic sample (Wolter, Introduction to Variance
    Estimation, 2007, §8.2); a stratum of one item is taken to vary like the most variable one.
    """
    tables = [np.array([values[i] for i in stratum.taken], np.float64) for stratum in chosen]
    known = [_variance(table) for table in tables if len(table) > 1]
    largest = np.max(known, axis=0) if known else np.zeros(tables[0].shape[1])
    value = sum(s.size * t.mean(axis=0) for s, t in zip(chosen, tables, strict=True))
    variance = sum(
        s.size * (1 + s.size / len(t)) * (_variance(t) if len(t) > 1 else largest)
        for s, t in zip(chosen, tables, strict=True)
    )
    return Total(np.asarray(value), np.sqrt(np.asarray(variance)))


def range_of(likely: Total, extremes: Sequence[Total], quantity: int) -> Range:
    """The range of one quantity, of the usual judge and of extreme ones, with their errors."""
    value = float(likely.value[quantity])
    lowest = min(t.value[quantity] - ERRORS * t.error[quantity] for t in extremes)
    highest = max(t.value[quantity] + ERRORS * t.error[quantity] for t in extremes)
    return Range(min(value, max(0.0, float(lowest))), value, max(value, float(highest)))


def _variance(table: FloatArray) -> FloatArray:
    """Half the mean squared difference between neighbours, of each column."""
    variance: FloatArray = (np.diff(table, axis=0) ** 2).mean(axis=0) / 2
    return variance
