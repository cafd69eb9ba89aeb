"""Pairwise tests: which models do native scores tell apart, and which tiers are left?

It is not enough to test the neighbours of a leaderboard: where no two neighbours differ visibly,
the first and the last may. Tests are paired, item by item (`sign_flip_p`), and corrected for their
number (`holm`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.ranks import DECIMALS

# Up to this many items all signs are tried; beyond it so many at random, some at a time. A p-value
# of 0.05 then has a standard error of 0.002.
_ALL_SIGNS = 13
_FLIPS = 9999
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Pair:
    """Two models, `above` before `below` in the order that was given; both are columns.

    `difference` is that of their means over the `n_items` items with a score of both, `p` the
    two-sided p-value of this pair alone, `p_adjusted` (Holm) holds for all pairs together. They are
    NaN without a common item, and `apart`, whether `p_adjusted` ≤ 1 − level, is then None.
    """

    above: int
    below: int
    n_items: int
    difference: float
    p: float
    p_adjusted: float
    apart: bool | None


@dataclass(frozen=True, slots=True)
class Separation:
    """All pairs of models, and the groups, or tiers, that they leave.

    A group is a longest run of `order`, as places from 0, in which no two models are told apart.
    Groups may overlap: A and B, and B and C may be too close, while A and C are apart.
    """

    order: tuple[int, ...]
    pairs: tuple[Pair, ...]
    groups: tuple[range, ...]
    level: float

    @property
    def tested(self) -> tuple[Pair, ...]:
        """Pairs that have a common item."""
        return tuple(pair for pair in self.pairs if pair.apart is not None)


def separation(native: ArrayLike, order: Sequence[int], *, level: float = 0.95) -> Separation:
    """Test every pair of models.

    Paired and two-sided, item by item: the exact sign-flip test where all signs can be tried (with
    pass or fail that is McNemar's exact test), else the t test. p-values are adjusted by Holm's
    method: with probability `level` no two models with equal true means are told apart.

    Args:
        native: shape (items, N), one row per item, NaN = absent.
        order: columns to compare, best first, such as `Saturation.order`.
        level: confidence level, in (0, 1).
    """
    scores = np.asarray(native, dtype=np.float64)
    columns = list(combinations(order, 2))
    gaps = [scores[:, above] - scores[:, below] for above, below in columns]
    gaps = [gap[~np.isnan(gap)].round(DECIMALS) for gap in gaps]
    p = [_paired_p(gap) for gap in gaps]
    pairs = tuple(
        Pair(
            above=above,
            below=below,
            n_items=gap.size,
            difference=float(gap.mean()) if gap.size else math.nan,
            p=alone,
            p_adjusted=adjusted,
            apart=None if math.isnan(adjusted) else adjusted <= 1 - level,
        )
        for (above, below), gap, alone, adjusted in zip(columns, gaps, p, holm(p), strict=True)
    )
    return Separation(tuple(order), pairs, _groups(len(order), pairs), level)


def items_needed(n_pairs: int, level: float = 0.95) -> int:
    """Fewest items with which `separation` can tell two models apart at all.

    If one model is better in all n items, the sign-flip test has p = 2 / 2ⁿ, and Holm's method
    multiplies the smallest of `n_pairs` p-values by `n_pairs`.
    """
    n_items = 1
    while n_pairs * 2.0 ** (1 - n_items) > 1 - level:
        n_items += 1
    return n_items


def _paired_p(gap: FloatArray) -> float:
    """Two-sided p-value of a mean difference of zero; NaN without an item."""
    from scipy.stats import ttest_1samp

    if not gap.size:
        return math.nan
    sizes = np.abs(gap[gap != 0])
    if sizes.size <= _ALL_SIGNS or np.all(sizes == sizes[0]):
        return sign_flip_p(gap)
    return float(ttest_1samp(gap, 0).pvalue)


def _groups(n_models: int, pairs: Sequence[Pair]) -> tuple[range, ...]:
    """Longest runs of places without a pair that is told apart; `pairs` in order of places."""
    apart = np.zeros((n_models, n_models), dtype=bool)
    apart[np.triu_indices(n_models, k=1)] = [pair.apart is True for pair in pairs]
    groups: list[range] = []
    for start in range(n_models):
        stop = start + 1
        while stop < n_models and not apart[start:stop, stop].any():
            stop += 1
        if not groups or stop > groups[-1].stop:
            groups.append(range(start, stop))
    return tuple(groups)


def sign_flip_p(differences: ArrayLike, *, seed: int = 0) -> float:
    """Two-sided p-value of a paired randomisation test of a mean difference of zero.

    Args:
        differences: shape (n,), one per item; NaN and 0 are left out.
        seed: seed of the sign flips, where not all are tried.

    Returns:
        Share of the signs that give a sum at least as far from 0, in (0, 1]; 1 when no item
        differs.
    """
    from scipy.stats import binomtest

    values = np.asarray(differences, dtype=np.float64).round(DECIMALS)
    # Sorted, so that the order of items does not decide which signs they get.
    values = np.sort(values[~np.isnan(values) & (values != 0)])
    if not values.size:
        return 1.0
    if np.all(np.abs(values) == abs(values[0])):
        return float(binomtest(int(np.sum(values > 0)), values.size).pvalue)
    # The sums of one set of differences, added up in another order, differ in the last bits.
    total = values.sum()
    bound = abs(total) - 1e-9 * np.abs(values).sum()
    if values.size <= _ALL_SIGNS:
        signs = np.indices((2,) * values.size).reshape(values.size, -1)
        return float(np.mean(np.abs(2 * (values @ signs) - total) >= bound))
    generator = np.random.default_rng(seed)
    far = 0
    for start in range(0, _FLIPS, _BATCH):
        size = (min(_BATCH, _FLIPS - start), values.size)
        signs = generator.integers(0, 2, size=size, dtype=np.int8).astype(np.float64)
        far += int(np.sum(np.abs(2 * (signs @ values) - total) >= bound))
    return (far + 1) / (_FLIPS + 1)


def holm(p_values: ArrayLike) -> list[float]:
    """p-values adjusted for several tests (S. Holm 1979, Scandinavian Journal of Statistics 6).

    The i-th smallest of m is multiplied by m − i + 1 and is never below a smaller one; at most 1.

    Args:
        p_values: shape (m,); NaN is left out of the count and stays.
    """
    p = np.asarray(p_values, dtype=np.float64)
    tested = np.flatnonzero(~np.isnan(p))
    adjusted = p.copy()
    ascending = tested[np.argsort(p[tested], kind="stable")]
    factors = np.arange(len(tested), 0, -1)
    adjusted[ascending] = np.minimum(np.maximum.accumulate(p[ascending] * factors), 1)
    return list(map(float, adjusted))
