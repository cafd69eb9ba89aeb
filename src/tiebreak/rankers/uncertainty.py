"""Bootstrap over items: how much a leaderboard would change with other items of the same kind.

Items are the units of the sample, so items are resampled (a cluster bootstrap): a draw contains all
rows of an item with all models. Resampling single matches or votes would treat answers to the same
question as independent and give intervals that are too narrow.

A draw is a row of counts: how often each item was drawn. A leaderboard is a function of these
counts, so any score that can weight items (means, Bradley–Terry, Elo, Kemeny) is resampled alike:

    counts → scores of N models → quantiles over the draws

Rank ranges are not computed from these draws model by model: ranges that hold for all models at
once come from tests of all pairs (`pairwise_tests.separation`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.profile import FloatArray, IntArray, ratio
from tiebreak.rankers.ranks import DECIMALS
from tiebreak.reason import Reason


@dataclass(frozen=True, slots=True)
class Resampling:
    """Settings of resampled intervals.

    `level` is the confidence level, in (0, 1). `draws` is the number of bootstrap draws, at least
    1. The same `seed` gives the same numbers.
    """

    level: float = 0.95
    draws: int = 2000
    seed: int = 0


Statistic = Callable[[FloatArray], FloatArray]
"""From counts, shape (draws, items), to scores, shape (draws, N); NaN = undefined in that draw."""

# Number of counts in memory at once, and of items drawn at once, so that they fit the cache.
_CHUNK = 1_000_000
_CACHED = 2**16

# Drawing and counting this many items takes as long as drawing the count of one kind.
_AS_LONG = 16


@dataclass(frozen=True, eq=False)
class ItemBootstrap:
    """Expanded percentile intervals of the models' scores; arrays of shape (N,).

    `score` is the score on all items. `lower` and `upper` are its interval, always within the range
    of the draws. `first_share` is the share of draws in which the model came first; draws with
    several first models are split equally, so the shares sum to 1. It is not the probability of
    being the best: one of two equal models has 95% or more in 10–17% of simulated boards. `n_items`
    counts the items in which the model is present, `undefined` the draws that gave it no score and
    are left out.

    All fields but `score` and the counts are NaN for a model that is present in fewer than two
    items or has no score in any draw; `reason` then says so (otherwise it is None).

    Intervals need about ten items that tell models apart, and about 200 for a model that passes
    nearly always; docs/statistics.md has the simulated coverage. Draws contain only observed
    scores: a model with the same score in every item has an interval of width 0, whatever its true
    mean (`wilson` is better for a rate).
    """

    score: FloatArray
    lower: FloatArray
    upper: FloatArray
    first_share: FloatArray
    n_items: IntArray
    undefined: IntArray
    level: float
    draws: int
    seed: int
    reason: Reason | None

    @property
    def mean(self) -> FloatArray:
        """The score under the name that suits `bootstrap_items`: the mean over present cells."""
        return self.score


def bootstrap_items(
    scores: ArrayLike, *, items: ArrayLike | None = None, how: Resampling = Resampling()
) -> ItemBootstrap:
    """Resample items with replacement and recompute every model's mean score.

    A draw in which a model is present in no item is left out of that model's interval.

    Args:
        scores: shape (rows, N), higher is better, NaN = absent.
        items: shape (rows,), the item of each row, if items have several rows (e.g. epochs); by
            default every row is an item of its own.
        how: level, draws and seed of the intervals.

    Raises:
        RankingError: shapes do not fit, scores are infinite, or level or draws are out of range.
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2:
        raise RankingError(f"scores must have shape (rows, models), got {table.shape}")
    n_items, item = item_numbers(items, len(table))
    if np.isinf(table).any():
        raise RankingError("scores must be finite, or NaN where a model is absent")
    sums = per_item(np.nan_to_num(table), item, n_items)
    cells = per_item(~np.isnan(table), item, n_items)
    # Items with the same numbers are interchangeable. On a saturated benchmark most items are
    # all-tied, so there are few kinds, and counting these instead of items is exact and faster.
    kinds, size = np.unique(np.hstack([sums, cells]), axis=0, return_counts=True)
    present = np.sum(cells > 0, axis=0)
    return _bootstrap(lambda counts: ratio(*np.hsplit(counts @ kinds, 2)), size, present, how=how)


def bootstrap_leaderboard(
    statistic: Statistic,
    n_items: int,
    *,
    present: ArrayLike | None = None,
    how: Resampling = Resampling(),
) -> ItemBootstrap:
    """Resample items and recompute a leaderboard given as a function of counts.

    For scores that are means over items use `bootstrap_items`, which is faster.

    Args:
        statistic: takes counts, shape (draws, n_items), how often each item was drawn, as floats;
            returns the scores, shape (draws, N), higher is better, NaN = undefined in that draw.
            It is called with all ones first, and then with the draws in batches.
        n_items: number of items.
        present: shape (N,), the number of items in which each model occurs; by default all.
        how: level, draws and seed of the intervals.

    Raises:
        RankingError: there is no item, level or draws are out of range, or `present` or the result
            of `statistic` has the wrong shape.
    """
    if n_items < 1:
        raise RankingError(f"n_items must be at least 1, got {n_items}")
    occurs = None if present is None else np.asarray(present, dtype=np.int64)
    ones = np.ones(n_items, dtype=np.int64)
    return _bootstrap(statistic, ones, occurs, how=how)


def _bootstrap(
    statistic: Statistic, size: IntArray, n_items: IntArray | None, *, how: Resampling
) -> ItemBootstrap:
    """Resample items of which `size[k]` are of kind k; counts are per kind."""
    draws = how.draws
    if not 0 < how.level < 1:
        raise RankingError(f"level must lie between 0 and 1, got {how.level}")
    if draws < 1:
        raise RankingError(f"draws must be at least 1, got {draws}")
    score = _checked(statistic(size.astype(np.float64)[None]), 1, None)[0]
    if n_items is None:
        n_items = np.full(len(score), size.sum())
    if n_items.shape != score.shape:
        raise RankingError(f"present must have shape {score.shape}, got {n_items.shape}")
    drawn = np.full((draws, len(score)), np.nan)
    start = 0
    for counts in _counts(size, draws, how.seed):
        drawn[start : start + len(counts)] = _checked(statistic(counts), len(counts), len(score))
        start += len(counts)
    # A single item does not show how much items vary.
    drawn[:, n_items < 2] = np.nan
    tails = expanded_tail(n_items, how.level)
    lower, upper = _quantiles(drawn, tails)
    undefined = np.sum(np.isnan(drawn), axis=0)
    return ItemBootstrap(
        score=score,
        lower=lower,
        upper=upper,
        first_share=np.where(undefined < draws, _first_share(drawn), np.nan),
        n_items=n_items,
        undefined=undefined,
        level=how.level,
        draws=draws,
        seed=how.seed,
        reason=_reason(n_items, undefined, draws),
    )


def expanded_tail(n_items: ArrayLike, level: float) -> FloatArray:
    """Tail probability with which a percentile interval over n items has its nominal coverage.

    Bootstrap means spread too little (their variance divides by n, not n − 1), and their quantiles
    assume a known spread. The expanded percentile interval uses quantiles further out, which for a
    mean of normal scores match the t interval (T. Hesterberg 2015, "What Teachers Should Know About
    the Bootstrap", The American Statistician 69(4), doi:10.1080/00031305.2015.1089789):

        α′ / 2 = Φ(√(n / (n − 1)) · t_{α/2, n−1})

    Args:
        n_items: any shape, number of items.
        level: confidence level 1 − α.

    Returns:
        The same shape, in (0, (1 − level) / 2); NaN below two items.
    """
    from scipy.special import ndtr, stdtrit

    n = np.asarray(n_items, dtype=np.float64)
    n = np.where(n > 1, n, np.nan)
    return ndtr(np.sqrt(n / (n - 1)) * stdtrit(n - 1, (1 - level) / 2))


def _counts(size: IntArray, draws: int, seed: int) -> Iterator[FloatArray]:
    """Yield how often each kind of item is drawn (a multinomial), in batches of draws."""
    n_items, n_kinds = int(size.sum()), len(size)
    if n_items == 0:
        return
    generator = np.random.default_rng(seed)
    kind = np.repeat(np.arange(n_kinds), size)
    step, at_once = max(1, _CHUNK // n_kinds), max(1, _CACHED // n_items)
    for start in range(0, draws, step):
        counts = np.empty((min(step, draws - start), n_kinds))
        for first in range(0, len(counts), at_once):
            batch = counts[first : first + at_once]
            if n_kinds * _AS_LONG < n_items:
                batch[:] = generator.multinomial(n_items, size / n_items, size=len(batch))
                continue
            drawn = generator.integers(n_items, size=(len(batch), n_items))
            if n_kinds < n_items:
                drawn = kind[drawn]
            # Each draw gets its own range of numbers, so that a single call counts all draws.
            drawn += n_kinds * np.arange(len(batch))[:, None]
            batch[:] = np.bincount(drawn.ravel(), minlength=batch.size).reshape(batch.shape)
        yield counts


def _checked(scores: FloatArray, draws: int, n_models: int | None) -> FloatArray:
    if scores.ndim != 2 or len(scores) != draws or n_models not in (None, scores.shape[1]):
        raise RankingError(
            f"the statistic must return shape ({draws}, {n_models or 'models'}), got {scores.shape}"
        )
    return scores


def item_numbers(items: ArrayLike | None, n_rows: int) -> tuple[int, NDArray[np.intp]]:
    """Number of items, and the item number of each row; `items` None = every row is an item."""
    labels = np.arange(n_rows) if items is None else np.asarray(items)
    if labels.shape != (n_rows,):
        raise RankingError(f"items must have shape ({n_rows},), got {labels.shape}")
    names, item = np.unique(labels, return_inverse=True)
    return len(names), item


def per_item(
    rows: FloatArray | NDArray[np.bool_], item: NDArray[np.intp], n_items: int
) -> FloatArray:
    """Sums of the rows of each item: (rows, …) → (items, …)."""
    totals = np.zeros((n_items, *rows.shape[1:]))
    np.add.at(totals, item, np.asarray(rows, dtype=np.float64))
    return totals


def _first_share(scores: FloatArray) -> FloatArray:
    """Share of draws in which each model comes first, shape (N,); `scores` is (draws, N)."""
    rounded = np.where(np.isnan(scores), -np.inf, scores.round(DECIMALS))
    best = rounded.max(axis=1, keepdims=True, initial=-np.inf)
    first = (rounded == best)[~np.isinf(best[:, 0])]
    if not len(first):
        return np.full(scores.shape[1], np.nan)
    share: FloatArray = np.mean(first / first.sum(axis=1, keepdims=True), axis=0)
    return share


def _quantiles(values: FloatArray, tails: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lower and upper tail quantile of each column over its defined draws; NaN if it has none."""
    bounds = np.full((2, values.shape[1]), np.nan)
    for column, tail in enumerate(tails):
        defined = values[~np.isnan(values[:, column]), column]
        if defined.size:
            bounds[:, column] = np.quantile(defined, (tail, 1 - tail))
    return bounds[0], bounds[1]


def _reason(n_items: IntArray, undefined: IntArray, draws: int) -> Reason | None:
    if np.any(n_items < 2):
        return Reason("one_item")
    if np.any(undefined == draws):
        return Reason("undefined_throughout")
    return None
