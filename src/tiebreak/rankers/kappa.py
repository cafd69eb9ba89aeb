"""Cohen's κ from tables of two raters' labels, with intervals over items, and differences of κ.

A table counts how often the first rater gave label i and the second label j, so tables of items can
be added, and κ of thousands of tables is one array expression (J. Cohen 1960, doi:10.1177/
001316446002000104; weighted: J. Cohen 1968, doi:10.1037/h0026256):

    κ = 1 − Σ w·p / Σ w·e        p: shares, e: shares by chance from the margins, w: disagreement

Intervals leave out each item in turn (the jackknife), on the log-odds of (1 − κ) / 2. A judge that
hardly ever disagrees would have an interval of almost no width, so two labels are added that
disagree as often as by chance, in the manner of A. Agresti and B. A. Coull (1998), "Approximate Is
Better than 'Exact'", The American Statistician 52(2). The coverage is measured in
`benchmarks/claims/calibration.py`.
"""

import math
from dataclasses import replace
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.intervals import Estimate, paired_interval, student_quantile
from tiebreak.rankers.profile import FloatArray, ratio
from tiebreak.rankers.uncertainty import item_numbers, per_item
from tiebreak.reason import Reason

Weights = Literal["linear", "quadratic"]

CHANCE_LABELS: Final = 2.0
"""Number of labels added by chance: in all groups together for a mean, in each group for a gap."""

FEW_MINORITY: Final = 15.0
"""With fewer labels besides the most common one, agreement by chance is hardly known; with weights
twice as many are needed."""

_ONE_LABEL: Final = Reason("one_label")


def kappa_many(tables: ArrayLike, weights: Weights | None = None) -> FloatArray:
    """Cohen's κ of tables of shape (…, K, K): 1 is full agreement, 0 what chance gives.

    Args:
        tables: counts, not negative; they need not be whole numbers.
        weights: weight of a disagreement, as in `cohen_kappa`.

    Returns:
        Shape (…), in [-1, 1]; NaN if a table is empty or has only one label.

    Raises:
        RankingError: the tables are not square.
    """
    counts = np.asarray(tables, dtype=np.float64)
    if counts.ndim < 2 or counts.shape[-1] != counts.shape[-2]:
        raise RankingError(f"tables must have shape (…, K, K), got {counts.shape}")
    seen, chance = _disagreement(counts, _distances(counts.shape[-1], weights))
    return 1 - ratio(seen, chance)


def kappa_estimate(
    tables: FloatArray,
    *,
    items: ArrayLike | None = None,
    weights: Weights | None = None,
    level: float = 0.95,
) -> Estimate:
    """Estimate κ over all rows, with an interval over items.

    Args:
        tables: shape (rows, K, K), a table for each row.
        items: shape (rows,), the item of each row; by default every row is an item.
        weights: how a disagreement counts.
        level: confidence level, in (0, 1).

    Returns:
        NaN with a reason if κ is undefined; bounds are NaN below two items. `reason` also says if
        fewer than `FEW_MINORITY` labels of the first rater differ from its most common one: the
        interval then covers less than its level.
    """
    estimate = kappa_mean(tables[:, None], items=items, weights=weights, level=level)
    if not len(tables):
        return replace(estimate, reason=Reason("no_answer_of_both"))
    few = None if math.isnan(estimate.lower) else _few(tables.sum(axis=0), weights)
    return replace(estimate, reason=estimate.reason or few)


def label_bias(tables: FloatArray, *, items: ArrayLike, level: float = 0.95) -> Estimate:
    """Mean difference of the second rater's labels minus the first rater's, over tables.

    Args:
        tables: labels of the first rater (rows) and the second (columns), shape (n, K, K), sum 1.
        items: the item of each table, shape (n,); the interval is over items.
        level: confidence level, in (0, 1).

    Returns:
        The mean in steps of the scale, −(K − 1) to K − 1; bounds are NaN with one item.
    """
    labels = np.arange(tables.shape[-1])
    more = np.sum(tables * (labels - labels[:, None]), axis=(1, 2))
    value = float(more.mean())
    _, item = np.unique(np.asarray(items), return_inverse=True)
    sums, sizes = np.bincount(item, weights=more), np.bincount(item)
    if len(sizes) < 2:
        return Estimate(value, math.nan, math.nan, len(sizes), Reason("one_item"))
    # A ratio of sums over items, linearised; these are item means if all have equally many answers.
    linear = value + (sums - value * sizes) * len(sizes) / len(more)
    bounds = paired_interval(linear, level, most=tables.shape[-1] - 1)
    return Estimate(value, *bounds, len(sizes))


def kappa_gap(
    first: FloatArray,
    second: FloatArray,
    *,
    items: ArrayLike | None = None,
    weights: Weights | None = None,
    level: float = 0.95,
) -> tuple[Estimate, float, int]:
    """Compare two raters' agreement with the same third rater, paired by item.

    The figure is the mean over groups of κ against the same labels (LLMEval-Fair, table 10: over
    models), with a jackknife over items and Student's t.

    `first` and `second`, shape (rows, groups, K, K), are each rater's tables on the same answers; a
    table is 0 if the row has no answer in the group. Other arguments as in `kappa_estimate`.

    Returns:
        The first rater's mean κ minus the second's, over groups in which both are defined; the
        two-sided p-value of no difference, NaN if undefined; and the number of groups.
    """
    from scipy.special import stdtr

    n_items, item = item_numbers(items, len(first))
    distances = _distances(first.shape[-1], weights)
    both = [per_item(tables, item, n_items) for tables in (first, second)]
    totals = [tables.sum(axis=0) for tables in both]
    kappas = [kappa_many(total, weights) for total in totals]
    known = ~np.isnan(kappas[0] + kappas[1])
    n_groups = int(known.sum())
    if not n_groups or n_items < 2:
        reason = _ONE_LABEL if n_items > 1 else Reason("one_item_to_test")
        return Estimate(math.nan, math.nan, math.nan, n_items, reason), math.nan, n_groups
    difference = float(np.mean(kappas[0][known] - kappas[1][known]))
    without, extra = np.zeros(n_items), 0.0
    for sign, tables, total in zip((-1, 1), both, totals, strict=True):
        left_out, _, variance = _without(tables[:, known], total[known], distances, CHANCE_LABELS)
        without += sign * left_out
        extra += variance
    error = math.sqrt(_jackknife(without) + extra)
    reach = student_quantile(n_items, level) * error
    lower, upper = max(difference - reach, -2.0), min(difference + reach, 2.0)
    p = float(2 * stdtr(n_items - 1, -abs(difference) / error))
    return Estimate(difference, lower, upper, n_items), p, n_groups


def kappa_mean(
    tables: FloatArray,
    *,
    items: ArrayLike | None = None,
    weights: Weights | None = None,
    level: float = 0.95,
) -> Estimate:
    """Estimate the mean of κ over the groups in which it is defined, with an interval over items.

    `tables` have shape (rows, groups, K, K); a table is 0 if the row has no answer in the group.
    Other arguments as in `kappa_estimate`.
    """
    n_items, item = item_numbers(items, len(tables))
    distances = _distances(tables.shape[-1], weights)
    of_items = per_item(tables, item, n_items)
    total = of_items.sum(axis=0)
    kappas = kappa_many(total, weights)
    known = ~np.isnan(kappas)
    if not known.any():
        return Estimate(math.nan, math.nan, math.nan, n_items, _ONE_LABEL)
    value = float(kappas[known].mean())
    if n_items < 2:
        return Estimate(value, math.nan, math.nan, n_items, Reason("one_item"))
    labels = CHANCE_LABELS / known.sum()
    means, middle, extra = _without(of_items[:, known], total[known], distances, labels)
    with np.errstate(divide="ignore"):
        odds = np.log(means / (2 - means))
    slope = 2 / (middle * (2 - middle))
    error = math.sqrt(_jackknife(odds) + extra * slope**2)
    reach, log_odds = student_quantile(n_items, level) * error, math.log(middle / (2 - middle))
    lower, upper = (-math.tanh((log_odds + sign * reach) / 2) for sign in (1, -1))
    return Estimate(value, min(lower, value), max(upper, value), n_items)


def _distances(n_labels: int, weights: Weights | None) -> FloatArray:
    """Disagreement of each pair of labels, 0 to 1, shape (K, K)."""
    places = np.arange(n_labels, dtype=np.float64)
    gap = np.abs(places[:, None] - places) / max(1, n_labels - 1)
    if weights is None:
        return (gap > 0).astype(np.float64)
    return gap**2 if weights == "quadratic" else gap


def _disagreement(tables: FloatArray, distances: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean observed disagreement, and mean disagreement by chance; NaN without a label.

    A table with a single label has 0 disagreement, also by chance.
    """
    n = tables.sum(axis=(-2, -1))
    seen = np.sum(tables * distances, axis=(-2, -1))
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    chance = np.sum(rows @ distances * columns, axis=-1)
    # Subtracting an item's sums can leave a rounding error of 1e-17 where chance is exactly 0.
    chance = np.where(chance > 1e-9, chance, 0.0)
    return ratio(seen, n), ratio(chance, n * n)


def _without(
    tables: FloatArray, total: FloatArray, distances: FloatArray, labels: float
) -> tuple[FloatArray, float, float]:
    """Group means of `_smoothed` without each item, shape (items,), and with all; extra variance.

    The extra variance is that of the mean due to the labels added by chance.
    """
    left_out, _ = _smoothed(total - tables, distances, labels)
    centre, more = _smoothed(total, distances, labels)
    # A group is undefined without its only item; it then keeps its value.
    means: FloatArray = np.where(np.isnan(left_out), centre, left_out).mean(axis=1)
    return means, float(centre.mean()), float(np.sum(more * centre**2)) / len(total) ** 2


def _smoothed(
    tables: FloatArray, distances: FloatArray, labels: float
) -> tuple[FloatArray, FloatArray]:
    """1 − κ with `labels` added by chance, and the variance that they add to its logarithm."""
    n = tables.sum(axis=(-2, -1))
    seen, chance = _disagreement(tables, distances)
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    square = ratio(np.sum(rows @ distances**2 * columns, axis=-1), n * n)
    total = n * seen + labels * chance
    return (ratio(total, (n + labels) * chance), ratio(labels * square, total * total))


def _jackknife(without: FloatArray) -> float:
    """Jackknife variance from a figure's values without each item; only finite values count."""
    defined = without[np.isfinite(without)]
    return (len(defined) - 1) * float(np.var(defined)) if len(defined) else 0.0


def _few(total: FloatArray, weights: Weights | None) -> Reason | None:
    people = total.sum(axis=-1)
    rest = float(people.sum() - people.max())
    if rest >= FEW_MINORITY * (1 if weights is None else 2):
        return None
    return Reason("few_other_labels", n=rest)
