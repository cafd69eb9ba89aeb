"""From some items to all: a stratified sample, and totals with their uncertainty.

A stratum has the items with the same benchmark, rubric and number of different answers, because a
protocol with a fixed plan asks the same number of questions about each. A part of every stratum is
taken, evenly spread over the items in order of length; its mean counts for the whole stratum. So
calls of fixed protocols are exact, and the sample varies as little as possible.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from tiebreak.rankers.profile import FloatArray

ERRORS: Final = 2.0
"""Half width of an interval in standard errors: about 95%."""


class Range(NamedTuple):
    """A figure: the likely value, and the range in which it is expected."""

    low: float
    likely: float
    high: float

    def at(self, end: int) -> float:
        """The low end for -1, the likely value for 0, the high end for 1."""
        return self[end + 1]


class Stratum(NamedTuple):
    """Similar items: their number, and the positions of those taken, in order of length."""

    size: int
    taken: tuple[int, ...]


class Total(NamedTuple):
    """Totals over all items, one for each quantity, and their standard errors."""

    value: FloatArray
    error: FloatArray


def strata(kinds: Sequence[Hashable], lengths: Sequence[int], most: int | None) -> list[Stratum]:
    """Take about `most` items (None: all), in proportion from all strata, at least two of each.

    `kinds` are the strata of the items and `lengths` their lengths; the items taken are spread over
    short and long ones. A stratum with one item gives that one.
    """
    share = 1.0 if most is None else min(1.0, most / len(kinds))
    members: dict[Hashable, list[int]] = {}
    for item in sorted(range(len(kinds)), key=lambda i: (lengths[i], i)):
        members.setdefault(kinds[item], []).append(item)
    chosen = []
    for items in members.values():
        n = len(items)
        m = min(n, max(2, round(share * n)))  # two show a variance
        chosen.append(Stratum(n, tuple(items[(2 * i + 1) * n // (2 * m)] for i in range(m))))
    return chosen


def total(chosen: Sequence[Stratum], values: Mapping[int, FloatArray]) -> Total:
    """Totals over all items from the `values` of each quantity in the items taken.

    The variance of n items has two parts: the error of the mean of the m taken (n² s² / m), and
    the variation of the judge's draws (n s²). s² comes from the differences between neighbours
    in the order of length, as for any systematic sample (Wolter, Introduction to Variance
    Estimation, 2007, §8.2); a stratum with one item taken gets the variance of the most variable.
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
    """The range of one quantity over the usual judge and extreme ones, including errors."""
    value = float(likely.value[quantity])
    lowest = min(t.value[quantity] - ERRORS * t.error[quantity] for t in extremes)
    highest = max(t.value[quantity] + ERRORS * t.error[quantity] for t in extremes)
    return Range(min(value, max(0.0, float(lowest))), value, max(value, float(highest)))


def _variance(table: FloatArray) -> FloatArray:
    """Half the mean squared difference between neighbours in each column."""
    variance: FloatArray = (np.diff(table, axis=0) ** 2).mean(axis=0) / 2
    return variance
