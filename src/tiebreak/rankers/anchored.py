"""A judge's scores, corrected by people's labels of some items (prediction-powered inference).

    score = people's mean + λ · (judge's mean over all items − judge's mean over labelled items)

The bracket is 0 on average, so the score estimates people's mean for any judge: the judge's errors
are measured on the labelled items, and subtracted (A. N. Angelopoulos, S. Bates, C. Fannjiang, M.
I. Jordan, T. Zrnic 2023, "Prediction-powered inference", Science 382). A judge that agrees with
people reduces the variance. λ is estimated from the data (A. N. Angelopoulos, J. C. Duchi, T. Zrnic
2023, "PPI++", arXiv:2311.01453), here

    two weights     one for the part of an item that all models share, e.g. its difficulty, and one
                    for the differences between models, where most judges are worse
    cross-fitted    each fifth of the labelled items gets weights from the other four, so that the
                    score is unbiased for any number of them
    shrunk to 0     by the weight that noise would give (positive-part James–Stein), so that a
                    useless judge costs nothing

The labelled items must be a random sample of all items. To allow for disagreements too rare to
occur in the sample, `_UNSEEN` items are added in which the judge is useless.

Of eight estimators (people alone, λ = 1, one weight, the same cross-fitted, two weights, these
shrunk to 0 by once or twice the noise, shrinking towards the judge's board) this one had the
narrowest intervals among those that held their level and were never over 3% wider than people's
alone (`benchmarks/claims/anchored.py` has five of them).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.intervals import (
    Estimate,
    mean_in_bounds,
    paired_interval,
    student_quantile,
)
from tiebreak.rankers.profile import FloatArray

FEWEST_LABELLED = 6
"""Smallest number of labelled items: with fewer, no test of people's votes can be significant."""

_FOLDS = 5
_NOISE = 2.0  # multiple of the noise by which λ is shrunk
# Below this the part common to all models is rounding error, e.g. if each result is a win and a
# loss.
_NEAR = 1e-9
# With 0.1, intervals cover 97% if the judge always agrees with people, and 89 to 93% if it
# disagrees on 5% of 1,000 items of which 20 are labelled; with 0.25 they cover 98% and 93%.
_UNSEEN = 0.1


@dataclass(frozen=True, eq=False, slots=True)
class Anchored:
    """Scores of N models from people and a judge combined, in [0, 1].

    `scores` are the combined estimates, `people` those from people alone, `judge` the judge's
    means. `table`, shape (rows, N), has the scores as column means, for tests of all pairs.
    `weights` are the mean λ of the part common to all models and of their differences. With the
    judge, one labelled item is worth `gain` labelled items without it for models' differences;
    above 1 if the judge helps. `excess` is the judge's score minus people's on labelled items; its
    bounds hold for all models at once. `alone` is the covariance of `people`, shape (N, N), which
    falls with the number of labelled items. The covariance of `scores` is the sum of `by_labels`,
    which falls with that number too, and `by_items`, which does not.
    """

    scores: tuple[Estimate, ...]
    people: tuple[Estimate, ...]
    judge: FloatArray
    table: FloatArray
    weights: tuple[float, float]
    gain: float
    excess: tuple[Estimate, ...]
    alone: FloatArray
    by_labels: FloatArray
    by_items: FloatArray


def anchor(
    people: ArrayLike,
    matched: ArrayLike,
    judge: ArrayLike,
    labelled: ArrayLike,
    *,
    grades: bool,
    level: float = 0.95,
) -> Anchored:
    """Correct a judge's scores by people's.

    Args:
        people: shape (items, N), finite; column means are people's scores, in [0, 1], and rows of
            unlabelled items add no information (as in tables of `pair_points` and `linked_scores`).
        matched: the same table from the judge's verdicts on exactly those answers or pairs.
        judge: the same table from all verdicts of the judge.
        labelled: shape (items,), whether people judged any answers of the item.
        grades: whether scores are means of grades, which vary less near 0 and 1, or come from
            pairs.
        level: confidence level of all intervals, in (0, 1).

    Raises:
        RankingError: shapes do not fit, or fewer than `FEWEST_LABELLED` items are labelled.
    """
    by_people, same, by_judge = (np.asarray(t, np.float64) for t in (people, matched, judge))
    chosen = np.asarray(labelled, np.bool_)
    if by_people.ndim != 2 or not by_people.shape == same.shape == by_judge.shape:
        shapes = [table.shape for table in (by_people, same, by_judge)]
        raise RankingError(f"expected three tables of one shape, got {shapes}")
    if chosen.shape != by_people.shape[:1]:
        raise RankingError(f"expected {len(by_people)} marks of labelled items, got {chosen.shape}")
    n_labelled = int(chosen.sum())
    if n_labelled < FEWEST_LABELLED:
        raise RankingError(
            f"people judged {n_labelled} items; it takes at least {FEWEST_LABELLED} to say anything"
        )
    rows, weights = by_people, []
    judged = np.zeros_like(by_people)
    fold = np.full(len(chosen), -1)
    fold[chosen] = np.arange(n_labelled) % _FOLDS
    parts = zip(_parts(by_people), _parts(same), _parts(by_judge), strict=True)
    for label, on_labelled, on_all in parts:
        less = on_labelled - on_all
        fitted = np.array(
            [_weight(label[fold != k], less[fold != k], n_labelled) for k in range(_FOLDS)]
        )
        weight = float(fitted[fold[chosen]].mean())
        of_row = np.where(chosen, fitted[fold], weight)[:, None]
        rows = rows - of_row * on_labelled + weight * on_all
        judged = judged + weight * on_all
        weights.append(weight)
    unseen = _UNSEEN / (n_labelled + _UNSEEN)
    covariance = (1 - unseen) * _covariance(rows, n_labelled)
    alone = _covariance(by_people, n_labelled)
    covariance += unseen * alone
    by_labels = (1 - unseen) * _covariance(rows - judged, n_labelled) + unseen * alone
    # Rows for the unseen items, with the spread of people's labels alone.
    more = math.sqrt(unseen) * _centred(by_people)[chosen]
    scale = (len(rows) + n_labelled) / len(rows)
    return Anchored(
        scores=_estimates(rows, covariance, chosen, grades, level),
        people=_estimates(by_people, alone, chosen, grades, level),
        judge=by_judge.mean(axis=0),
        table=scale * np.concatenate([_tested(rows, chosen), more]),
        weights=(weights[0], weights[1]),
        gain=_of_differences(alone) / max(_of_differences(covariance), 1e-300),
        excess=_excess(by_people, same, chosen, level),
        alone=alone,
        by_labels=by_labels,
        by_items=covariance - by_labels,
    )


def _parts(table: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Split a table into each item's mean over models, and the deviations from it."""
    common = np.broadcast_to(table.mean(axis=1, keepdims=True), table.shape)
    return common, table - common


def _weight(label: FloatArray, less: FloatArray, n_labelled: int) -> float:
    """λ in [0, 1] that minimises the variance of `label` − λ · `less`, shrunk towards 0.

    `less`, shape (items, N), is the judge on labelled answers minus the judge on all answers.
    """
    label, less = _centred(label), _centred(less)
    square = float(np.sum(less**2))
    weight = min(max(float(np.sum(label * less)) / max(square, _NEAR), 0.0), 1.0)
    if square < _NEAR or not weight:
        return 0.0
    rest = float(np.sum((label - weight * less) ** 2))
    return weight * max(0.0, 1 - _NOISE * rest / (weight**2 * square * max(n_labelled - 2, 1)))


def _tested(rows: FloatArray, chosen: NDArray[np.bool_]) -> FloatArray:
    """Rows for sign-flip tests: the mean of the unlabelled rows is moved to the labelled rows.

    Tests flip the signs of rows, and a mean repeated in the unlabelled rows would count as that
    many more items. The weights are fitted to the labels, so the variance of n labelled rows is too
    small, by a factor of 1 + 4 / n as measured with 20 and 40 votes.
    """
    n, rest = int(chosen.sum()), rows[~chosen]
    common = rest.sum(axis=0) / max(len(rest), 1)
    tested: FloatArray = rows - common
    judged = rows[chosen] + common * len(rest) / n
    mean = judged.mean(axis=0)
    tested[chosen] = mean + math.sqrt(1 + 4 / n) * (judged - mean)
    return tested


def _centred(table: FloatArray) -> FloatArray:
    centred: FloatArray = table - table.mean(axis=0)
    return centred


def _covariance(rows: FloatArray, n_labelled: int) -> FloatArray:
    """Covariance of the column means, with `n_labelled` − 1 degrees of freedom."""
    centred = _centred(rows) / len(rows)
    covariance: FloatArray = centred.T @ centred * (n_labelled / (n_labelled - 1))
    return covariance


def _of_differences(covariance: FloatArray) -> float:
    """Mean variance of the difference of two models over all pairs."""
    n = len(covariance)
    return 2 * float(np.trace(covariance) - covariance.sum() / n) / max(n - 1, 1)


def _estimates(
    rows: FloatArray, covariance: FloatArray, chosen: NDArray[np.bool_], grades: bool, level: float
) -> tuple[Estimate, ...]:
    """Means with intervals, with Satterthwaite's degrees of freedom."""
    n_labelled, error = int(chosen.sum()), np.sqrt(np.diag(covariance))
    of_labelled = np.sum((_centred(rows)[chosen] / len(rows)) ** 2, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        free = (n_labelled - 1) * (error**2 / of_labelled) ** 2
    free = np.minimum(np.nan_to_num(free, nan=np.inf, posinf=np.inf), len(rows) - 1)
    interval = mean_in_bounds if grades else _interval
    return tuple(
        interval(float(mean), float(sd), 1 + round(n), level=level)
        for mean, sd, n in zip(rows.mean(axis=0), error, free, strict=True)
    )


def _interval(mean: float, error: float, n: int, *, level: float) -> Estimate:
    """Student's t interval, clipped to [0, 1]."""
    reach = student_quantile(n, level) * error
    value, lower, upper = np.clip([mean, mean - reach, mean + reach], 0, 1).tolist()
    return Estimate(value, lower, upper, n)


def _excess(
    people: FloatArray, matched: FloatArray, chosen: NDArray[np.bool_], level: float
) -> tuple[Estimate, ...]:
    """The judge's scores minus people's on labelled items; bounds hold for all N (Bonferroni).

    The values of labelled items are their contributions to the difference of the two means.
    """
    gap, n = (matched - people) / len(people), people.shape[1]
    of_item = gap[chosen] * chosen.sum() + gap[~chosen].sum(axis=0)
    return tuple(
        Estimate(float(gaps.mean()), *paired_interval(gaps, 1 - (1 - level) / n), int(chosen.sum()))
        for gaps in of_item.T
    )


def labels_needed(
    board: Anchored,
    pair: Sequence[int],
    *,
    n_models: int = 2,
    level: float = 0.95,
    power: float = 0.8,
) -> tuple[Estimate, Estimate]:
    """Labelled items needed to tell two models apart: with the judge, and by people alone.

    A test of `n_models` models finds a difference d with this power if its standard error is at
    most d / (q + z), with Tukey's q and the normal quantile z. d and the variances are the board's;
    part of the variance falls with labels. Bounds follow from the interval of d. The number with
    the judge is at most that by people alone, which replaces it above the board's items.

    Returns:
        Numbers of items, at least `FEWEST_LABELLED`; infinite if there is no difference.
    """
    from scipy.stats import norm, studentized_range

    n_labelled = board.excess[0].n_items
    n_items = len(board.table) - n_labelled
    difference = abs(board.scores[pair[0]].value - board.scores[pair[1]].value)
    parts = (board.alone, board.by_labels, board.by_items)
    alone, by_labels, by_items = (_of_differences(part[np.ix_(pair, pair)]) for part in parts)
    reach = student_quantile(n_labelled, level) * math.sqrt(max(by_labels + by_items, 0.0))
    critical = studentized_range.ppf(level, max(n_models, 2), np.inf) / math.sqrt(2)
    wanted = float(critical + norm.ppf(power))

    def enough(variance: float, error: float) -> float:
        return max(n_labelled * variance / error, FEWEST_LABELLED) if error > 0 else math.inf

    def needed(gap: float) -> tuple[float, float]:
        square = (max(gap, 0.0) / wanted) ** 2
        together, people = enough(by_labels, square - by_items), enough(alone, square)
        return min(together if square and together <= n_items else math.inf, people), people

    gaps = (difference, difference + reach, difference - reach)
    numbers = np.array([needed(gap) for gap in gaps]).T.tolist()
    together, people = (Estimate(value, lower, upper, n_items) for value, lower, upper in numbers)
    return together, people
