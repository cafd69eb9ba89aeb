"""Pairwise tests: which models do scores tell apart, which tiers and which ranks are left?

It is not enough to test the neighbours of a leaderboard: where no two neighbours differ visibly,
the first and the last may. Tests are paired, item by item, and corrected for their number:

    scores → a mean per item → T of every pair → max T under random signs → apart → ranks left open

The correction is the step-down of the largest statistic (P. H. Westfall, S. S. Young 1993,
"Resampling-Based Multiple Testing"): one random sign for each item flips the differences of all
pairs at once, so pairs that share a model are not counted as if they were independent. That is
exact where the differences are symmetric, as those of ranks of equal models and of passes and fails
are. Other scores may be skewed: a mean is easily too large on the side away from the long tail,
whose items have not come yet. There the statistic is drawn in, and what may be too rare to have
come at all is no test's matter (`Untested`).

At most 5% of simulated boards of equal models have a pair that is told apart: 2, 8 and 30 models, 5
to 1,000 items, ties in none or 80% of them; scores skewed against each other from 20 items on, in
the mean over sizes (`benchmarks/claims/boards.py` and `skewed.py` measure all cells).
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

# Up to this many items all signs are tried; beyond it so many at random. A p-value of 0.05 then has
# a standard error of 0.002.
_ALL_SIGNS = 13
_FLIPS = 9999
# Signs that are drawn at once, and the fewest flips of them; of a multiple of 8 flips the bytes are
# whole words of the generator.
_SIGNS, _BATCH = 1 << 16, 40
# Of scores with holes, the sums of so many pairs are held at once: 80 MB.
_PAIRS = 1000
# How far skewness draws a statistic in: of simulated boards 3 left 5.1% with a false claim where
# 4 left 4.7%, and 4 cost another half point of power where scores are skewed alike.
_PULL = 3.5
# The statistics of one set of differences, added up in another order, differ in the last bits.
_NEAR = 1e-9


Untested = Literal["no common item", "rare failures"]
"""Why two models are not tested. "rare failures": their scores would tell them apart if all items
were like these; but an event that n items easily miss, whose rate is 1 − (1 − level)^(1/n) ≈ 3/n,
would turn the lead round where it costs 1, all that a score can be. Passes and fails and ranks of
each item are tested all the same: no item can cost more than another there."""


M = TypeVar("M", int, str)


@dataclass(frozen=True, slots=True)
class Pair(Generic[M]):
    """Two models, `above` before `below` in the order that was given: as columns, or by name.

    `difference` is that of their means over the `n_items` items with a score of both, `p` the
    two-sided p-value of this pair alone (`paired_p`), `p_adjusted` holds for all pairs together.
    `apart` is whether `p_adjusted` ≤ 1 − level. Where `untested` says why there is no test,
    `p_adjusted` is NaN and `apart` None; without a common item all numbers are NaN.
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
    """All pairs of models, the groups (tiers) that they leave, and the ranks.

    A group is a longest run of `order`, as places from 0, in which no two models are told apart.
    Groups may overlap: A and B, and B and C may be too close, while A and C are apart.

    `rank_lower` and `rank_upper` have a number for each place of `order`: 1 + the models that are
    significantly better, and N − those that are significantly worse. With probability `level` they
    hold the true ranks of all models at once (M. Mogstad, J. P. Romano, A. M. Shaikh, D. Wilhelm
    2024, "Inference for Ranks with Applications to Mobility across Neighbourhoods and Academic
    Achievement across Countries", Review of Economic Studies 91(1), doi:10.1093/restud/rdad006).
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

    With probability `level` no two models with equal true means are told apart (the module's first
    lines say by which test, and what was measured).

    Args:
        scores: shape (rows, N), higher is better, NaN = absent.
        order: columns to compare, best first.
        items: shape (rows,), the item of each row: its rows are averaged first. By default every
            row is an item of its own.
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
        together = np.maximum(p, _sign_flips(table, first, second, gaps, kept))
    rarest = 1 - (1 - level) ** (1 / np.maximum(n_items, 1))
    hidden = (together <= 1 - level) & (np.abs(means) <= rarest) & (not symmetric)
    adjusted = np.where((n_items > 0) & ~hidden, together, np.nan)
    return separated(order, columns, n_items, means, p, adjusted, hidden, level)


def separation_of_pairs(
    leads: Mapping[tuple[int, int], FloatArray], order: Sequence[int], *, level: float = 0.95
) -> Separation:
    """Test pairs by what was said of each of them alone, where only some were compared.

    With probability `level` no two equal models are told apart (Holm's method over `paired_p`).

    Args:
        leads: by pair of columns the first one's lead on each item, in [-1, 1].
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
    """Tests of pairs, `columns` in order of places, with the groups and the ranks they leave."""
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

    The exact sign-flip test where all signs can be tried or all sizes are equal (with pass or fail
    that is McNemar's exact test), else Student's t test.

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
    """Fewest items with which sign flips can show anything.

    If one model is better in all n items, they have p = 2 / 2ⁿ. In `separation` that holds for any
    number of pairs; Holm's method multiplies the smallest of `n_tests` p-values by `n_tests`.
    """
    n_items = 1
    while n_tests * 2.0 ** (1 - n_items) > 1 - level:
        n_items += 1
    return n_items


def items_to_tell_apart(
    n_items: int, p: float, n_models: int = 2, *, level: float = 0.95, power: float = 0.8
) -> tuple[float, float]:
    """Items that tell two models apart with this power, if they differ as they seem to; the fewest.

    The tests of `n_models` models find a difference where it is q + z standard errors, of Tukey's q
    and the normal quantile z. It is t of them now, by the pair's own `p` over `n_items` items, and
    at most t + q: that gives the fewest. There is no upper bound where the two are not told apart.

    Returns:
        Numbers of items; the first is infinite where nothing differs.
    """
    from scipy.special import stdtrit
    from scipy.stats import norm, studentized_range

    seen = abs(float(stdtrit(n_items - 1, p / 2)))
    critical = float(studentized_range.ppf(level, max(n_models, 2), np.inf)) / math.sqrt(2)
    wanted = critical + float(norm.ppf(power))
    likely = n_items * (wanted / seen) ** 2 if seen else math.inf
    return likely, n_items * (wanted / (seen + critical)) ** 2


def item_means(rows: FloatArray, items: ArrayLike | None) -> FloatArray:
    """Means of the rows of each item, (rows, N) → (items, N); NaN where a model has none."""
    n_items, item = item_numbers(items, len(rows))
    known = ~np.isnan(rows)
    return ratio(per_item(np.nan_to_num(rows), item, n_items), per_item(known, item, n_items))


def _symmetric(table: FloatArray) -> bool:
    """Whether equal models have symmetric differences: passes and fails, and ranks of each item.

    Ranks are known by their mean, which is the same in every item. Passes and fails may stand
    beside a baseline that has a half throughout.
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
    """What is kept of each pair's T, in (0, 1], where the long tail lies against the mean.

    Skewness g pulls Student's t of n differences out on the side away from the tail, by about
    |g| t² / √n (N. J. Johnson 1978, "Modified t Tests and Confidence Intervals for Asymmetrical
    Populations", JASA 73). That is undone as t (1 + u²)^(−1/16), u = 3.5 |g| t² / √n: hardly where
    g is chance, more where t is large, and still growing with t. On the tail's own side t is too
    small if anything, and stays; so it does where all differences are of one size.

    A pair's third moment is that of one model less the other's. Chance in it is largely what both
    have in common, and goes in the means over all opponents: the lesser of the two g counts.
    """
    n = np.maximum(np.count_nonzero(known, axis=0), 1)
    mean = gaps.sum(axis=0) / n
    rest = gaps - mean
    rest[~known] = 0
    power = rest * rest
    # Where all differences are the same, what is left of them is rounding.
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
    """Step-down of the largest T = |Σ d| / √(Σ d²) of a pair, under one random sign per item.

    Of what was seen of each pair `kept` counts. A pair that differs in k items has T ≤ √k whatever
    the signs, so that near-duplicates take nothing from the others.
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
    """p-values that hold for all tests together, by the largest statistic that is not rejected yet.

    Args:
        seen: shape (tests,), statistics, of which large ones speak against a hypothesis.
        drawn: gives for each of some tests, in that order, its statistic in each draw from where
            all hypotheses hold; draws of all tests go together.
        exact: whether the draws are all that there are; else what was seen counts as one more.
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
    """For each of the pairs the sums of its differences under the same signs, shape (draws,)."""
    if np.isnan(table).any():
        for start in range(0, len(pairs), _PAIRS):
            yield from _sums(gaps[:, pairs[start : start + _PAIRS]])
    else:
        totals = _sums(table)
        for pair in pairs:
            yield totals[first[pair]] - totals[second[pair]]


def _sums(columns: FloatArray, seed: int = 0) -> FloatArray:
    """Sums of columns, (items, n), under all signs of few items, else random ones: (n, draws)."""
    n = len(columns)
    if n <= _ALL_SIGNS:
        return (_all_signs(n) @ columns).T
    generator = np.random.default_rng(seed)
    flips = max(_SIGNS // n // 8 * 8, _BATCH)
    sums, batch = np.empty((columns.shape[1], _FLIPS)), np.empty((flips, n))
    for start in range(0, _FLIPS, flips):
        signs = batch[: _FLIPS - start]
        # The sign of a random byte is a fair coin, the same as `integers(0, 2)` makes of it.
        words = generator.bit_generator.random_raw(-(-signs.size // 8)).astype("<u8", copy=False)
        signs[...] = words.view(np.int8)[: signs.size].reshape(signs.shape) >> 7 | 1
        sums[:, start : start + flips] = (signs @ columns).T
    return sums


@cache
def _all_signs(n: int) -> FloatArray:
    """Half of all signs of n numbers, shape (2ⁿ⁻¹, n): the other half is minus these."""
    return 1 - 2 * np.indices((1,) + (2,) * (n - 1)).reshape(n, -1).T.astype(np.float64)


def _apart(pairs: Sequence[Pair[int]]) -> tuple[tuple[int, int], ...]:
    # Models are compared on their common items, where the order may be another.
    return tuple(
        (pair.above, pair.below) if pair.difference > 0 else (pair.below, pair.above)
        for pair in pairs
        if pair.apart
    )


def _groups(n_models: int, pairs: Sequence[Pair[int]]) -> tuple[range, ...]:
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


def sign_p(heads: int, n: int, *, one_sided: bool = False) -> float:
    """p-value of so many heads in n ≥ 1 tosses of a fair coin; one-sided: of no fewer."""
    from scipy.special import betainc

    most = heads if one_sided else max(heads, n - heads)
    tail = float(betainc(most, n - most + 1, 0.5)) if most else 1.0
    return tail if one_sided else min(1.0, 2 * tail)


def sign_flip_p(differences: ArrayLike, *, seed: int = 0) -> float:
    """Two-sided p-value of a paired randomisation test of a mean difference of zero.

    Args:
        differences: shape (n,), one per item; NaN and 0 are left out.
        seed: seed of the sign flips, where not all are tried.

    Returns:
        Share of the signs that give a sum at least as far from 0, in (0, 1]; 1 when no item
        differs.
    """
    from scipy.special import bdtr

    values = np.asarray(differences, dtype=np.float64).round(DECIMALS)
    # Sorted, so that the order of items does not decide which signs they get.
    values = np.sort(values[~np.isnan(values) & (values != 0)])
    if not values.size:
        return 1.0
    if np.all(np.abs(values) == abs(values[0])):
        fewer = min(np.sum(values > 0), np.sum(values < 0))
        return float(min(1.0, 2 * bdtr(fewer, values.size, 0.5)))
    bound = abs(values.sum()) - _NEAR * np.abs(values).sum()
    sums = _sums(values[:, None], seed)
    # Where not all signs are tried, what was seen counts as one more draw.
    more = values.size > _ALL_SIGNS
    return float((np.count_nonzero(np.abs(sums) >= bound) + more) / (sums.size + more))


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
