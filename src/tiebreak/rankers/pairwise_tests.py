"""Pairwise tests: pairs of models that scores tell apart, and the remaining tiers and ranks.

Testing only neighbours of a leaderboard is not enough: the first and the last model may differ
although no two neighbours do. Tests are paired by item, and corrected for their number:

    scores → a mean per item → T of every pair → max T under random signs → apart → ranks left open

The correction is the step-down of the largest statistic (P. H. Westfall, S. S. Young 1993,
"Resampling-Based Multiple Testing"): a random sign for each item flips the differences of all pairs
at once, so pairs that share a model are not treated as independent. This is exact if differences
are symmetric, as they are for ranks of equal models and for passes and fails. Other scores may be
skewed: a mean tends to be too large on the side away from the long tail, whose items are not in the
sample yet. Then the statistic is shrunk, and differences that events too rare to be in the sample
could reverse are not tested (`Untested`).

At most 5% of simulated boards of equal models have a pair that is told apart: 2, 8 and 30 models, 5
to 1,000 items, with ties in none or 80% of them; for scores skewed against each other on average
over sizes, from 20 items on (`benchmarks/claims/boards.py` and `skewed.py` measure all cells).
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Generic, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.rankers.profile import FloatArray, IntArray, ratio
from tiebreak.rankers.ranks import DECIMALS
from tiebreak.rankers.uncertainty import item_numbers, per_item

# Up to `_ALL_SIGNS` items all signs are tried, otherwise `_FLIPS` random ones, for which a p-value
# of 0.05 has a standard error of 0.002.
_ALL_SIGNS = 13
_FLIPS = 9999
# Signs per batch, and the minimum number of flips in a batch. With a multiple of 8 flips the bytes
# fill whole words of the generator.
_SIGNS, _BATCH = 1 << 16, 40
# For tables with missing scores, the sums of this many pairs are held at once: 80 MB.
_PAIRS = 1000
# Strength of the shrinking by skewness: 5.1% of simulated boards had a false claim with 3, 4.7%
# with 4, but 4 costs another half percentage point of power if scores are skewed alike.
_PULL = 3.5
# Statistics of the same differences added in another order differ in the last bits.
_NEAR = 1e-9


Untested = Literal["no common item", "rare failures"]
"""Why two models are not tested. "rare failures": their scores would tell them apart if all items
were like these, but an event that n items easily miss, with a rate of 1 − (1 − level)^(1/n) ≈ 3/n,
would reverse the lead if it cost 1, the full range of a score. Passes and fails, and ranks within
items, are always tested, because no item can cost more than another there."""


M = TypeVar("M", int, str)


@dataclass(frozen=True, slots=True)
class Pair(Generic[M]):
    """Two models, as columns or names; `above` comes before `below` in the given order.

    `difference` is that of their means over the `n_items` items with a score of both, `p` the
    two-sided p-value of this pair alone (`paired_p`), `p_adjusted` the p-value adjusted for all
    pairs. `apart` is whether `p_adjusted` ≤ 1 − level. If the pair is not tested, `untested` says
    why, `p_adjusted` is NaN and `apart` None; without a common item all numbers are NaN.
    """

    above: M
    below: M
    n_items: int
    difference: float
    p: float
    p_adjusted: float
    apart: bool | None
    untested: Untested | None


@dataclass(frozen=True, slots=True)
class Separation:
    """Tests of all pairs of models, with the resulting groups (tiers) and rank ranges.

    A group is a maximal run of `order`, as places from 0, in which no two models are told apart.
    Groups may overlap: A and B, and B and C can be too close while A and C are apart.

    `rank_lower` and `rank_upper` have an entry for each place of `order`: 1 + the number of
    significantly better models, and N − the number of significantly worse ones. With probability
    `level` they contain the true ranks of all models at once (M. Mogstad, J. P. Romano, A. M.
    Shaikh, D. Wilhelm 2024, "Inference for Ranks with Applications to Mobility across
    Neighbourhoods and Academic Achievement across Countries", Review of Economic Studies 91(1),
    doi:10.1093/restud/rdad006).
    """

    order: tuple[int, ...]
    pairs: tuple[Pair[int], ...]
    groups: tuple[range, ...]
    rank_lower: tuple[int, ...]
    rank_upper: tuple[int, ...]
    level: float

    @property
    def apart(self) -> tuple[tuple[int, int], ...]:
        """Pairs that are told apart, as columns: the better model, then the worse."""
        return _apart(self.pairs)

    @property
    def tested(self) -> tuple[Pair[int], ...]:
        """Pairs that were tested."""
        return tuple(pair for pair in self.pairs if pair.apart is not None)


def separation(
    scores: ArrayLike, order: Sequence[int], *, items: ArrayLike | None = None, level: float = 0.95
) -> Separation:
    """Test every pair of models, two-sided, paired by item.

    With probability `level` no two models with equal true means are told apart (see the module's
    docstring for the test and its simulated error).

    Args:
        scores: shape (rows, N), higher is better, NaN = absent.
        order: columns to compare, best first.
        items: shape (rows,), the item of each row; the rows of an item are averaged first. By
            default every row is an item.
        level: confidence level, in (0, 1).

    Raises:
        RankingError: `items` does not fit.
    """
    table = item_means(np.asarray(scores, dtype=np.float64), items)
    columns = list(combinations(order, 2))
    first, second = np.array(columns, dtype=np.int64).reshape(-1, 2).T
    gaps = (table[:, first] - table[:, second]).round(DECIMALS)
    p = np.array([paired_p(gap) for gap in gaps.T])
    known = ~np.isnan(gaps)
    gaps[~known] = 0
    n_items = np.count_nonzero(known, axis=0)
    means = ratio(gaps.sum(axis=0), n_items)
    symmetric = _symmetric(table)
    if not gaps.any():
        together = np.ones(len(columns))
    elif symmetric and len(columns) == 1:
        together = p  # With one pair there is nothing to correct.
    else:
        kept = np.ones(len(columns)) if symmetric else _drawn_in(gaps, known, first, second)
        # An adjusted p-value must not be below the pair's own, which may be exact.
        together = np.maximum(p, _sign_flips(table, first, second, gaps, kept))
    rarest = 1 - (1 - level) ** (1 / np.maximum(n_items, 1))
    hidden = (together <= 1 - level) & (np.abs(means) <= rarest) & (not symmetric)
    adjusted = np.where((n_items > 0) & ~hidden, together, np.nan)
    return separated(order, columns, n_items, means, p, adjusted, hidden, level)


def separation_of_pairs(
    leads: Mapping[tuple[int, int], FloatArray], order: Sequence[int], *, level: float = 0.95
) -> Separation:
    """Test each pair by its own comparisons only, for designs that compare only some pairs.

    With probability `level` no two equal models are told apart (Holm's method over `paired_p`).

    Args:
        leads: for each pair of columns, the first model's lead on each item, in [-1, 1].
        order: columns to compare, best first.
        level: confidence level, in (0, 1).
    """
    columns = list(combinations(order, 2))
    none = np.empty(0)
    gaps = [leads.get(pair, -leads.get(pair[::-1], none)) for pair in columns]
    p = np.array([paired_p(gap) for gap in gaps])
    n_items = np.array([gap.size for gap in gaps], dtype=np.int64)
    means = ratio(np.array([gap.sum() for gap in gaps]), n_items)
    hidden = np.zeros(len(columns), dtype=np.bool_)
    return separated(order, columns, n_items, means, p, np.array(holm(p)), hidden, level)


def separated(
    order: Sequence[int],
    columns: Sequence[tuple[int, int]],
    n_items: IntArray,
    means: FloatArray,
    p: FloatArray,
    adjusted: FloatArray,
    hidden: NDArray[np.bool_],
    level: float,
) -> Separation:
    """Build a `Separation` from the tests of pairs, given in `columns` by places."""
    pairs = tuple(
        Pair(
            above=above,
            below=below,
            n_items=int(n),
            difference=float(difference),
            p=float(alone),
            p_adjusted=float(together),
            apart=None if math.isnan(together) else bool(together <= 1 - level),
            untested="rare failures" if rare else None if n else "no common item",
        )
        for (above, below), n, difference, alone, together, rare in zip(
            columns, n_items, means, p, adjusted, hidden, strict=True
        )
    )
    apart = _apart(pairs)
    better, worse = Counter(over for over, _ in apart), Counter(under for _, under in apart)
    lower = tuple(1 + worse[column] for column in order)
    upper = tuple(len(order) - better[column] for column in order)
    return Separation(tuple(order), pairs, _groups(len(order), pairs), lower, upper, level)


def paired_p(differences: ArrayLike) -> float:
    """Two-sided p-value of a mean difference of zero, for one pair chosen beforehand.

    Uses the exact sign-flip test if all signs can be tried or all sizes are equal (with pass or
    fail this is McNemar's exact test), otherwise Student's t test.

    Args:
        differences: shape (n,), one per item, NaN left out.

    Returns:
        In [0, 1]; NaN without an item.
    """
    from scipy.special import stdtr

    gap = np.asarray(differences, dtype=np.float64).round(DECIMALS)
    gap = gap[~np.isnan(gap)]
    if not gap.size:
        return math.nan
    sizes = np.abs(gap[gap != 0])
    if sizes.size <= _ALL_SIGNS or np.all(sizes == sizes[0]):
        return sign_flip_p(gap)
    error = gap.std(ddof=1) / math.sqrt(gap.size)
    return float(2 * stdtr(gap.size - 1, -abs(gap.mean()) / error))


def items_needed(n_tests: int = 1, level: float = 0.95) -> int:
    """Smallest number of items with which a sign-flip test can be significant.

    If a model is better in all n items, p = 2 / 2ⁿ. In `separation` this holds for any number of
    pairs; Holm's method multiplies the smallest of `n_tests` p-values by `n_tests`.
    """
    n_items = 1
    while n_tests * 2.0 ** (1 - n_items) > 1 - level:
        n_items += 1
    return n_items


def items_to_tell_apart(
    n_items: int, p: float, n_models: int = 2, *, level: float = 0.95, power: float = 0.8
) -> tuple[float, float]:
    """Items needed to tell two models apart with this power: estimate, and lower bound.

    Tests of `n_models` models find a difference with this power if it is q + z standard errors,
    with Tukey's q and the normal quantile z. The observed difference is t standard errors, from the
    pair's own `p` over `n_items` items, and the true one at most t + q, which gives the lower
    bound. There is no upper bound if the two are not told apart.

    Returns:
        Numbers of items; the first is infinite if there is no difference.
    """
    from scipy.special import stdtrit
    from scipy.stats import norm, studentized_range

    seen = abs(float(stdtrit(n_items - 1, p / 2)))
    critical = float(studentized_range.ppf(level, max(n_models, 2), np.inf)) / math.sqrt(2)
    wanted = critical + float(norm.ppf(power))
    likely = n_items * (wanted / seen) ** 2 if seen else math.inf
    return likely, n_items * (wanted / (seen + critical)) ** 2


def item_means(rows: FloatArray, items: ArrayLike | None) -> FloatArray:
    """Means over the rows of each item, (rows, N) → (items, N); NaN if a model has no score."""
    n_items, item = item_numbers(items, len(rows))
    known = ~np.isnan(rows)
    return ratio(per_item(np.nan_to_num(rows), item, n_items), per_item(known, item, n_items))


def _symmetric(table: FloatArray) -> bool:
    """Whether scores are passes and fails, or ranks within items: differences are then symmetric.

    Ranks are recognised by their mean, which is the same in every item. Passes and fails may
    include a baseline that scores a half throughout.
    """
    values = table.round(DECIMALS)
    known = values[~np.isnan(values)]
    half = np.mean([known.min(), known.max()]) if known.size else math.nan
    still = np.all(np.isnan(values) | (values == half), axis=0)
    if np.unique(values[:, ~still][~np.isnan(values[:, ~still])]).size <= 2:
        return True
    means = ratio(np.nansum(table, axis=1), np.sum(~np.isnan(table), axis=1))
    return np.unique(means[~np.isnan(means)].round(DECIMALS)).size == 1


def _drawn_in(
    gaps: FloatArray, known: NDArray[np.bool_], first: IntArray, second: IntArray
) -> FloatArray:
    """Factor in (0, 1] on each pair's T, below 1 if the long tail is on the side opposite the mean.

    Skewness g inflates Student's t of n differences on the side away from the tail, by about |g| t²
    / √n (N. J. Johnson 1978, "Modified t Tests and Confidence Intervals for Asymmetrical
    Populations", JASA 73). The correction is t (1 + u²)^(−1/16), u = 3.5 |g| t² / √n: small if g is
    due to chance, larger for large t, and still increasing in t. On the tail's own side t is if
    anything too small, and is kept, as it is if all differences have the same size.

    A pair's third moment is about one model's minus the other's. Chance in it mostly cancels in the
    means over all opponents, so g is also computed from these, and the smaller of the two is used.
    """
    n = np.maximum(np.count_nonzero(known, axis=0), 1)
    mean = gaps.sum(axis=0) / n
    rest = gaps - mean
    rest[~known] = 0
    power = rest * rest
    # If all differences are equal, their deviations from the mean are rounding errors.
    least = _NEAR * np.maximum(np.abs(mean), _NEAR)
    spread = np.maximum(np.sqrt(power.sum(axis=0) / n), least)
    power *= rest
    third = power.sum(axis=0) / n
    models = max(first.max(), second.max()) + 1
    sums = np.bincount(first, third, models) - np.bincount(second, third, models)
    shared = (sums[first] - sums[second]) / len(np.unique([first, second]))
    against = np.minimum(-third * np.sign(mean), -shared * np.sign(mean)) / spread**3
    square = (n - 1) * (mean / spread) ** 2
    sizes = np.abs(gaps)
    even = np.all((sizes == 0) | (sizes == sizes.max(axis=0)), axis=0)
    u = np.where(even, 0, _PULL * np.maximum(against, 0) * square / np.sqrt(n))
    less = (1 + u * u) ** (-1 / 8)
    # T = Σd / √Σd² = √n · t / √(n − 1 + t²).
    kept: FloatArray = np.sqrt(less * (n - 1 + square) / np.maximum(n - 1 + less * square, 1))
    return kept


def _sign_flips(
    table: FloatArray, first: IntArray, second: IntArray, gaps: FloatArray, kept: FloatArray
) -> FloatArray:
    """Step-down p-values by the largest T = |Σ d| / √(Σ d²), under one random sign per item.

    The observed T are multiplied by `kept`. A pair that differs in k items has T ≤ √k for any
    signs, so that near-duplicates do not reduce the power for other pairs.
    """
    differs = gaps.any(axis=1)
    table, gaps = table[differs], gaps[differs]
    squares = np.sum(gaps * gaps, axis=0)
    root = np.sqrt(np.where(squares > 0, squares, np.inf))
    seen = kept * np.abs(gaps.sum(axis=0)) / root

    def drawn(pairs: IntArray) -> Iterator[FloatArray]:
        sums = _flipped(table, first, second, gaps, pairs)
        return (np.abs(part) / root[pair] for pair, part in zip(pairs, sums, strict=True))

    return step_down(seen, drawn, exact=len(table) <= _ALL_SIGNS)


def step_down(
    seen: FloatArray, drawn: Callable[[IntArray], Iterator[FloatArray]], *, exact: bool = False
) -> FloatArray:
    """Step-down p-values for all tests together, by the largest statistic not yet rejected.

    Args:
        seen: shape (tests,), observed statistics; large values are evidence against a hypothesis.
        drawn: yields for each of the given tests, in that order, its statistic in each draw under
            all hypotheses; draw k is the same for all tests.
        exact: whether the draws are all possible ones; if not, the observation counts as a draw.
    """
    ascending = np.argsort(seen, kind="stable")
    bound = seen * (1 - _NEAR)
    far, largest = np.zeros(len(seen)), np.zeros(1)
    for test, statistics in zip(ascending, drawn(ascending), strict=True):
        largest = np.maximum(largest, statistics)
        far[test] = np.count_nonzero(largest >= bound[test])
    p = (far + (not exact)) / (len(largest) + (not exact))
    adjusted = np.empty_like(p)
    adjusted[ascending] = np.maximum.accumulate(p[ascending][::-1])[::-1]
    return adjusted


def _flipped(
    table: FloatArray, first: IntArray, second: IntArray, gaps: FloatArray, pairs: IntArray
) -> Iterator[FloatArray]:
    """Yield the sums of differences of each of `pairs` under the same signs, shape (draws,)."""
    if np.isnan(table).any():
        for start in range(0, len(pairs), _PAIRS):
            yield from _sums(gaps[:, pairs[start : start + _PAIRS]])
    else:
        totals = _sums(table)
        for pair in pairs:
            yield totals[first[pair]] - totals[second[pair]]


def _sums(columns: FloatArray, seed: int = 0) -> FloatArray:
    """Sums of columns (items, n) under all signs if items are few, else random ones: (n, draws)."""
    n = len(columns)
    if n <= _ALL_SIGNS:
        return (_all_signs(n) @ columns).T
    generator = np.random.default_rng(seed)
    flips = max(_SIGNS // n // 8 * 8, _BATCH)
    sums, batch = np.empty((columns.shape[1], _FLIPS)), np.empty((flips, n))
    for start in range(0, _FLIPS, flips):
        signs = batch[: _FLIPS - start]
        # The sign bit of a random byte is a fair coin, the one that `integers(0, 2)` uses.
        words = generator.bit_generator.random_raw(-(-signs.size // 8)).astype("<u8", copy=False)
        signs[...] = words.view(np.int8)[: signs.size].reshape(signs.shape) >> 7 | 1
        sums[:, start : start + flips] = (signs @ columns).T
    return sums


@cache
def _all_signs(n: int) -> FloatArray:
    """Half of all sign vectors of length n, shape (2ⁿ⁻¹, n); the other half are their negatives."""
    return 1 - 2 * np.indices((1,) + (2,) * (n - 1)).reshape(n, -1).T.astype(np.float64)


def _apart(pairs: Sequence[Pair[int]]) -> tuple[tuple[int, int], ...]:
    # On a pair's common items the order can differ from that of the board.
    return tuple(
        (pair.above, pair.below) if pair.difference > 0 else (pair.below, pair.above)
        for pair in pairs
        if pair.apart
    )


def _groups(n_models: int, pairs: Sequence[Pair[int]]) -> tuple[range, ...]:
    """Maximal runs of places without a pair that is told apart; `pairs` in order of places."""
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


def sign_p(heads: int, n: int, *, one_sided: bool = False) -> float:
    """p-value of `heads` in n ≥ 1 tosses of a fair coin; one-sided: of at least as many."""
    from scipy.special import betainc

    most = heads if one_sided else max(heads, n - heads)
    tail = float(betainc(most, n - most + 1, 0.5)) if most else 1.0
    return tail if one_sided else min(1.0, 2 * tail)


def sign_flip_p(differences: ArrayLike, *, seed: int = 0) -> float:
    """Two-sided p-value of a paired randomisation test of a mean difference of zero.

    Args:
        differences: shape (n,), one per item; NaN and 0 are left out.
        seed: seed of the sign flips, used if not all are tried.

    Returns:
        Share of the signs that give a sum at least as far from 0, in (0, 1]; 1 if no item differs.
    """
    from scipy.special import bdtr

    values = np.asarray(differences, dtype=np.float64).round(DECIMALS)
    # Sort, so that the order of items does not affect which signs they get.
    values = np.sort(values[~np.isnan(values) & (values != 0)])
    if not values.size:
        return 1.0
    if np.all(np.abs(values) == abs(values[0])):
        fewer = min(np.sum(values > 0), np.sum(values < 0))
        return float(min(1.0, 2 * bdtr(fewer, values.size, 0.5)))
    bound = abs(values.sum()) - _NEAR * np.abs(values).sum()
    sums = _sums(values[:, None], seed)
    # If not all signs are tried, the observation counts as another draw.
    more = values.size > _ALL_SIGNS
    return float((np.count_nonzero(np.abs(sums) >= bound) + more) / (sums.size + more))


def holm(p_values: ArrayLike) -> list[float]:
    """p-values adjusted for several tests (S. Holm 1979, Scandinavian Journal of Statistics 6).

    The i-th smallest of m is multiplied by m − i + 1 and is never below a smaller one; at most 1.

    Args:
        p_values: shape (m,); NaN does not count as a test and stays NaN.
    """
    p = np.asarray(p_values, dtype=np.float64)
    tested = np.flatnonzero(~np.isnan(p))
    adjusted = p.copy()
    ascending = tested[np.argsort(p[tested], kind="stable")]
    factors = np.arange(len(tested), 0, -1)
    adjusted[ascending] = np.minimum(np.maximum.accumulate(p[ascending] * factors), 1)
    return list(map(float, adjusted))
