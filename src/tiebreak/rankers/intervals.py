"""Estimates with intervals: over items (bootstrap, jackknife) or of shares of events (Wilson).

A measure of a panel reduces every row (an item, or one epoch of it) to additive sums, and computes
its figure from their totals. A bootstrap draw of items (`ItemDraws`) is a weighted sum of rows.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.profile import FloatArray, IntArray, ratio
from tiebreak.rankers.uncertainty import Resampling, bootstrap_leaderboard, item_numbers, per_item
from tiebreak.reason import Reason


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval over items, by default expanded percentiles (`ItemBootstrap`).

    `n_items` counts the items that it is based on. An undefined value or bound is NaN, and `reason`
    says why; for a defined value `reason` is a caveat, or None if there is none.
    """

    value: float
    lower: float
    upper: float
    n_items: int
    reason: Reason | None = None


class ItemDraws:
    """Bootstrap draws of items, the same draws for every figure.

    Args:
        n_rows: number of rows.
        items: shape (rows,), the item of each row, if items have several rows (e.g. epochs); by
            default every row is an item of its own.
        how: level, draws and seed of the intervals.

    Raises:
        RankingError: no rows; `items` does not name one item per row; level is out of range.
    """

    def __init__(self, n_rows: int, items: ArrayLike | None, *, how: Resampling) -> None:
        self._n_items, self._item = item_numbers(items, n_rows)
        if not n_rows:
            raise RankingError("there is no item")
        if not 0 < how.level < 1:
            raise RankingError(f"level must lie between 0 and 1, got {how.level}")
        self.how = how

    def count(self, present: NDArray[np.bool_]) -> IntArray:
        """Number of items with at least one True in their rows: (rows, …) → (…)."""
        rows = per_item(present, self._item, self._n_items)
        counts: IntArray = np.sum(rows > 0, axis=0, dtype=np.int64)
        return counts

    def means(self, values: FloatArray, undefined: Reason) -> tuple[Estimate, ...]:
        """Means over rows of values of shape (rows, figures); NaN is left out."""
        defined = ~np.isnan(values)
        sums = np.hstack([np.nan_to_num(values), defined.astype(np.float64)])
        return self.figures(sums, lambda s: ratio(*np.hsplit(s, 2)), defined, undefined)

    def bounded(
        self,
        sums: FloatArray,
        figure: Callable[[FloatArray], FloatArray],
        present: NDArray[np.bool_],
        *,
        low: float,
        undefined: Reason,
    ) -> Estimate:
        """A figure between `low` and 1, with a jackknife t interval on the log-odds scale.

        Each item is left out in turn, and the spread of the resulting figures gives the standard
        error (B. Efron and C. Stein 1981, "The Jackknife Estimate of Variance", Annals of
        Statistics 9(3)). On this scale the figure is about normal, and no interval leaves the
        bounds.

        Args:
            sums: shape (rows, K), what is added up.
            figure: from totals, shape (n, K), to figures, shape (n,); NaN = undefined.
            present: shape (rows,), the rows that the figure rests on.
            low: the lowest possible value of the figure.
            undefined: the reason of a figure that is NaN.
        """
        from scipy.special import expit, logit

        totals = per_item(sums, self._item, self._n_items)
        totals = totals[per_item(present, self._item, self._n_items) > 0]
        n = len(totals)
        total = totals.sum(axis=0, keepdims=True)
        value = float(figure(total)[0]) if n else math.nan
        if math.isnan(value):
            return Estimate(math.nan, math.nan, math.nan, n, undefined)
        without = figure(total - totals)
        without = without[~np.isnan(without)]
        if len(without) < 2:
            return Estimate(value, math.nan, math.nan, n, Reason("one_item"))
        error = math.sqrt((n - 1) * float(np.var(without)))
        # At a bound the log-odds are infinite, so the interval has no width.
        if not low < value < 1:
            return Estimate(value, value, value, n)
        share = (value - low) / (1 - low)
        # The derivative of the log-odds of a share p is 1 / p (1 − p).
        reach = student_quantile(n, self.how.level) * error / (1 - low) / share / (1 - share)
        lower, upper = low + (1 - low) * expit(logit(share) + reach * np.array([-1, 1]))
        return Estimate(value, float(lower), float(upper), n)

    def figures(
        self,
        sums: FloatArray,
        figures: Callable[[FloatArray], FloatArray],
        present: NDArray[np.bool_],
        undefined: Reason,
    ) -> tuple[Estimate, ...]:
        """Estimate figures that are functions of sums over rows.

        Args:
            sums: shape (rows, K), what is added up.
            figures: from totals, shape (draws, K), to figures, shape (draws, F); NaN = undefined.
                It is called with the totals of all rows first.
            present: shape (rows, F), the rows that each figure rests on.
            undefined: the reason of a figure that is NaN.

        Raises:
            RankingError: level or draws are out of range.
        """
        totals = per_item(sums, self._item, self._n_items)
        board = bootstrap_leaderboard(
            lambda counts: figures(counts @ totals),
            self._n_items,
            present=self.count(present),
            how=self.how,
        )
        return tuple(
            Estimate(value, lower, upper, n_items, undefined)
            if math.isnan(value)
            else Estimate(value, lower, upper, n_items, self._reason(n_items, left_out))
            for value, lower, upper, n_items, left_out in zip(
                board.score.tolist(),
                board.lower.tolist(),
                board.upper.tolist(),
                board.n_items.tolist(),
                board.undefined.tolist(),
                strict=True,
            )
        )

    def _reason(self, n_items: int, undefined: int) -> Reason | None:
        if n_items < 2:
            return Reason("one_item")
        if undefined:
            return Reason("undefined_draws", n=undefined, draws=self.how.draws)
        return None


def share_over_items(
    hits: ArrayLike,
    counts: ArrayLike,
    items: ArrayLike | None = None,
    *,
    level: float = 0.95,
    undefined: Reason,
) -> Estimate:
    """Share of events that are hits, over all rows, with a Wilson interval.

    Events of an item are not independent, so n is the effective number of events, defined by the
    variance over items being p(1 − p) / n, and the quantile is Student's (E. L. Korn and B. I.
    Graubard 1998, "Confidence Intervals for Proportions with Small Expected Number of Positive
    Counts Estimated from Survey Data", Survey Methodology 24(2)). Near 0 and 1, and over few items,
    this interval holds its level and a bootstrap does not: draws contain only observed events.

    Args:
        hits: shape (rows,), number of hits in each row.
        counts: number of events in each row, shape (rows,), or one number for all rows.
        items: shape (rows,), the item of each row; by default every row is an item.
        level: confidence level, in (0, 1).
        undefined: the reason if there are no events.
    """
    events = np.stack(np.broadcast_arrays(np.asarray(hits, np.float64), counts), axis=1)
    n_items, item = item_numbers(items, len(events))
    sums = per_item(events, item, n_items)
    hit, counted = sums[sums[:, 1] > 0].T
    n, total = len(counted), counted.sum()
    if not n:
        return Estimate(math.nan, math.nan, math.nan, 0, undefined)
    share = float(hit.sum() / total)
    if n < 2:
        return Estimate(share, math.nan, math.nan, n, Reason("one_item"))
    # If all events are hits, or none is, nothing varies over items; count one event per item.
    effective = total / design_effect(hit, counted) if 0 < share < 1 else n
    return Estimate(share, *_score_bounds(share, effective, student_quantile(n, level)), n)


def mean_in_bounds(mean: float, error: float, n: int, *, level: float = 0.95) -> Estimate:
    """Interval of a mean of numbers in [0, 1], from its standard error over n clusters.

    This is Wilson's interval with Student's quantile for p(1 − p) / error² events, the number whose
    rate would have this error, or for n events if nothing varies. If scores have partial losses, as
    stars do, that number is above n; then a quarter of a whole item is added to the losses, because
    few losses hardly show how large losses are. The interval stays within [0, 1] and holds if
    nearly all numbers are 1: for stars with a mean of .97 or .99 over 10 to 300 items in 93 to 98%
    of worlds.

    Args:
        mean: NaN if there are no numbers. An estimate outside [0, 1] is clipped.
        error: standard error; NaN with fewer than two clusters.
        n: number of clusters.
        level: confidence level, in (0, 1).
    """
    if math.isnan(mean):
        return Estimate(math.nan, math.nan, math.nan, n, Reason("no_scored_item"))
    inside = min(max(mean, 0.0), 1.0)
    if n < 2 or math.isnan(error):
        return Estimate(inside, math.nan, math.nan, n, Reason("one_item"))
    spread = inside * (1 - inside)
    effective = spread / error**2 if error > 0 and spread > 0 else n
    if effective > n:
        losses = n * min(inside, 1 - inside)
        effective = (losses + 0.25) / (losses / effective + 0.25 / n)
    return Estimate(inside, *_score_bounds(inside, effective, student_quantile(n, level)), n)


def _score_bounds(share: float, n: float, t: float) -> tuple[float, float]:
    """Wilson's bounds of a share of n events, with quantile t."""
    middle = share + t**2 / (2 * n)
    half = t * math.sqrt(share * (1 - share) / n + t**2 / (4 * n**2))
    lower, upper = (float((middle + sign * half) / (1 + t**2 / n)) for sign in (-1, 1))
    # Rounding errors at 0 and 1 could exclude the share itself.
    return max(min(lower, share), 0.0), min(max(upper, share), 1.0)


def student_quantile(n: int, level: float) -> float:
    """Quantile of Student's t for a two-sided interval from n items.

    Raises:
        RankingError: level is out of range.
    """
    from scipy.special import stdtrit

    if not 0 < level < 1:
        raise RankingError(f"level must lie between 0 and 1, got {level}")
    return float(stdtrit(n - 1, (1 + level) / 2))


def wilson(successes: int, n: int, *, level: float = 0.95, effect: float = 1.0) -> Estimate:
    """A rate in [0, 1] with its Wilson score interval; all NaN when n is 0.

    Source: E. B. Wilson 1927, doi:10.1080/01621459.1927.10502953. The interval treats events as
    independent, each as an item; clustered events count as n / effect independent ones (see
    `design_effect`).

    Args:
        successes: number of events that are counted.
        n: number of events.
        level: confidence level, in (0, 1).
        effect: variance of the rate divided by that for independent events, at least 1.

    Raises:
        ValueError: `successes` is not in 0 … n, or `level` is not in (0, 1).
    """
    if not 0 <= successes <= n:
        raise ValueError(f"successes must lie between 0 and n, got {successes} of {n}")
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")
    if n == 0:
        return Estimate(math.nan, math.nan, math.nan, 0)
    z2 = NormalDist().inv_cdf((1 + level) / 2) ** 2 * effect / n
    rate = successes / n
    middle = (rate + z2 / 2) / (1 + z2)
    half = math.sqrt(z2 * (rate * (1 - rate) + z2 / 4)) / (1 + z2)
    # Rounding errors at 0 and 1 could exclude the observed rate.
    lower = 0.0 if successes == 0 else max(0.0, middle - half)
    upper = 1.0 if successes == n else min(1.0, middle + half)
    return Estimate(rate, lower, upper, n)


def design_effect(successes: ArrayLike, n: ArrayLike) -> float:
    """Factor by which clustering in items raises the variance of a rate of events.

    The variance of a ratio of sums over items divided by that of a binomial rate (L. Kish 1965,
    "Survey Sampling", §5.4 and §6.2), at least 1; 1 if nothing varies or there is one item.

    Args:
        successes: shape (items,), number of events that are counted.
        n: shape (items,), number of all events.
    """
    hits, events = (np.asarray(numbers, dtype=np.float64) for numbers in (successes, n))
    rate = hits.sum() / events.sum() if events.sum() else 0.0
    if len(hits) < 2 or rate in (0.0, 1.0):
        return 1.0
    over_items = len(hits) / (len(hits) - 1) * np.sum((hits - rate * events) ** 2)
    return max(1.0, float(over_items / (events.sum() * rate * (1 - rate))))


def paired_interval(
    differences: ArrayLike, level: float = 0.95, *, most: float = 1.0
) -> tuple[float, float]:
    """Interval of the mean of paired differences.

    This is Student's t with two items added, half of them on each side, at the size of a typical
    difference (the root mean square of those that are not 0; 1 if all are 0). It therefore holds if
    few items differ, and has a width even if differences never vary. For pass or fail it is the
    interval of A. Agresti and Y. Min (2005), "Simple improved confidence intervals for comparing
    matched proportions", Statistics in Medicine 24, with t for the normal quantile.

    A 95% interval held in 94 to 100% of simulated worlds with 5 to 100 items; Student's t alone in
    as few as 65%.

    Args:
        differences: shape (n,), one per item, without NaN.
        level: confidence level, in (0, 1).
        most: the largest possible true difference; 1 for scores in [0, 1].

    Returns:
        Lower and upper bound, within [−most, most] and including the mean; NaN below two items.
    """
    from scipy.special import stdtrit

    d = np.asarray(differences, dtype=np.float64)
    if d.size < 2:
        return math.nan, math.nan
    differs = d[d != 0]
    square = float(np.mean(differs**2)) if differs.size else 1.0
    n = d.size + 2
    centre = d.sum() / n
    variance = (np.sum(d**2) + square) / n - centre**2
    half = float(-stdtrit(n - 1, (1 - level) / 2) * math.sqrt(variance / n))
    mean = float(d.mean())  # at low levels a shrunken interval can exclude the mean
    bounds = min(float(centre) - half, mean), max(float(centre) + half, mean)
    return max(bounds[0], -most), min(bounds[1], most)


def share_gap(
    hits: ArrayLike, n: ArrayLike, other_hits: ArrayLike, other_n: ArrayLike, *, level: float = 0.95
) -> tuple[Estimate, float]:
    """Estimate and test the difference of two shares over clusters.

    Each sample counts with its effective number of events (`design_effect`). The interval adds one
    event of each kind to both samples (A. Agresti and B. Caffo 2000, "Simple and Effective
    Confidence Intervals for Proportions and Differences of Proportions Result from Adding Two
    Successes and Two Failures", The American Statistician 54(4)); the test is the score test, with
    the pooled variance of both samples. Quantiles are Student's, by the number of clusters.

    `hits` of the `n` events, both of shape (clusters,), are counted in the first sample,
    `other_hits` of `other_n` in the second.

    Returns:
        The first share minus the second, over the clusters of both, and the p-value of no
        difference. All are NaN if a sample is empty, bounds and p if one has a single cluster.

    Raises:
        RankingError: level is out of range.
    """
    from scipy.special import stdtr

    (rate, effective, k), (other_rate, other_effective, other_k) = (
        _sample(*(np.asarray(part, dtype=np.float64) for part in both))
        for both in ((hits, n), (other_hits, other_n))
    )
    difference = rate - other_rate
    clusters = k + other_k - 1
    if math.isnan(difference) or min(k, other_k) < 2:
        return Estimate(difference, math.nan, math.nan, k + other_k), math.nan
    more, other_more = effective + 2, other_effective + 2
    near = (rate * effective + 1) / more
    other_near = (other_rate * other_effective + 1) / other_more
    spread = math.sqrt(near * (1 - near) / more + other_near * (1 - other_near) / other_more)
    reach = student_quantile(clusters, level) * spread
    both = effective + other_effective
    pooled = (rate * effective + other_rate * other_effective) / both
    error = math.sqrt(pooled * (1 - pooled) * (1 / effective + 1 / other_effective))
    p = float(2 * stdtr(clusters - 1, -abs(difference) / error)) if error else 1.0
    centre = near - other_near
    lower, upper = min(centre - reach, difference), max(centre + reach, difference)
    return Estimate(difference, max(-1.0, lower), min(1.0, upper), k + other_k), p


def _sample(hits: FloatArray, n: FloatArray) -> tuple[float, float, int]:
    """Share, effective number of events, and clusters."""
    total = float(n.sum())
    if not total:
        return math.nan, math.nan, 0
    return float(hits.sum()) / total, total / design_effect(hits, n), int(np.sum(n > 0))
