"""Agreement of two leaderboards, or of two raters.

    spearman, kendall_tau, pearson    of the ranks or scores of the common models
    top1                              whether both put the same model first
    resolution_gain                   how much further apart models are (not whether that is right)
    cohen_kappa                       agreement of two raters' labels beyond chance

An undefined figure is NaN with a reason: e.g. a side that ties all models has no order to compare.

`spearman_many`, `kendall_tau_many`, `pearson_many` and `top1_many` compute the same numbers for
thousands of pairs of leaderboards at once: a correlation is the cosine of two vectors, which hold
the centred numbers (Pearson), the ranks (Spearman), or the signs of all pairs of models (Kendall),
so three sums give all correlations. They take two arrays of shape (…, N), ranks or scores of the
same kind on both sides, NaN = absent. Leading axes are broadcast: (M, N) and (N,) compare M
leaderboards with one. The result has the leading axes, NaN where a figure is undefined.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.rankers.errors import RankingError, optional
from tiebreak.rankers.profile import FloatArray, ratio
from tiebreak.rankers.ranks import DECIMALS, spread
from tiebreak.reason import Reason

Label = str | int | float


@dataclass(frozen=True, slots=True)
class Agreement:
    """A measure of agreement, over the `n` models or ratings that both sides have.

    `value` is NaN if the measure is undefined, and `reason` then says why; otherwise it is None.
    """

    value: float
    n: int
    reason: Reason | None = None


def spearman(first: ArrayLike, second: ArrayLike) -> Agreement:
    """Spearman's rank correlation ρ: Pearson's correlation of the mean ranks (SEAL, table 1).

    Args:
        first: shape (N,), ranks or scores of N models, NaN = absent.
        second: shape (N,), the same kind of numbers: comparing ranks with scores reverses the sign.

    Returns:
        A value in [-1, 1] over the models that both have; NaN with a reason for fewer than two
        models, or if one side ties all. Differences below 1e-12 are ties.

    Raises:
        RankingError: the shapes differ, or a number is infinite.
    """
    from scipy.stats import spearmanr

    return _correlation(first, second, lambda a, b: spearmanr(a, b).statistic)


def kendall_tau(first: ArrayLike, second: ArrayLike) -> Agreement:
    """Kendall's τ-b: concordant − discordant pairs, corrected for ties; otherwise as `spearman`."""
    from scipy.stats import kendalltau

    return _correlation(first, second, lambda a, b: kendalltau(a, b, variant="b").statistic)


def pearson(first: ArrayLike, second: ArrayLike) -> Agreement:
    """Pearson's correlation of the models' scores; otherwise as `spearman`."""
    from scipy.stats import pearsonr

    return _correlation(first, second, lambda a, b: pearsonr(a, b).statistic)


def top1(first: ArrayLike, second: ArrayLike) -> Agreement:
    """Whether two leaderboards put the same model first (SEAL, table 4).

    If several models tie for the first place, the value is the probability that both leaderboards
    name the same model when each breaks its tie by a fair draw: |A ∩ B| / (|A| · |B|) for the sets
    A and B of first models. Without ties it is 1 or 0. A leaderboard that ties all N models agrees
    1/N with any other, as much as guessing does; the share of overlap would not show that.

    Args:
        first: shape (N,), ranks, 1 = best, NaN = absent. For scores: `top1(-scores, …)`.
        second: shape (N,), ranks.

    Returns:
        A value in [0, 1] over the models that both have; NaN with a reason if there are none.

    Raises:
        RankingError: the shapes differ, or a number is infinite.
    """
    a, b = _common(first, second)
    if not a.size:
        return Agreement(math.nan, 0, Reason("no_common_model"))
    winners_a, winners_b = a == a.min(), b == b.min()
    both = int(np.sum(winners_a & winners_b))
    return Agreement(both / int(winners_a.sum() * winners_b.sum()), a.size)


def resolution_gain(scores: ArrayLike, native: ArrayLike) -> Agreement:
    """How many times further apart a method puts the models than the native metric does.

    The ratio of the mean absolute score gaps over all pairs of models (`spread`; SEAL, table 1).
    It does not say whether the order is right, and depends on the units of both scores.

    Args:
        scores: shape (N,), one score per model, NaN = absent.
        native: shape (N,), native scores.

    Returns:
        A value ≥ 0 over the models that have both; NaN with a reason for fewer than two models, or
        when all native scores are equal.

    Raises:
        RankingError: the shapes differ, or a number is infinite.
    """
    a, b = _common(scores, native)
    if a.size < 2:
        return Agreement(math.nan, a.size, Reason("few_common_models", n=a.size))
    native_spread = spread(b)
    if native_spread == 0:
        return Agreement(math.nan, a.size, Reason("infinite_gain"))
    return Agreement(spread(a) / native_spread, a.size)


def cohen_kappa(
    first: Sequence[Label | None],
    second: Sequence[Label | None],
    *,
    weights: Literal["linear", "quadratic"] | None = None,
    labels: Sequence[Label] | None = None,
) -> Agreement:
    """Cohen's κ of two raters: 1 is full agreement, 0 what chance gives. From scikit-learn.

    Args:
        first: labels by the first rater; None or NaN = not rated, which leaves the pair out.
        second: labels by the second rater, in the same order.
        weights: weight of a disagreement: 1 for all (None), or the distance ("linear") or squared
            distance ("quadratic") between the two labels' places in `labels`.
        labels: all possible labels, in order. Required with `weights`: scikit-learn would sort the
            labels that occur, and drop a step of the scale that nobody used.

    Returns:
        A value in [-1, 1]; NaN with a reason if no case has two ratings, or if both raters gave the
        same single label throughout (agreement by chance would then be 1).

    Raises:
        RankingError: lengths differ, `labels` are missing or repeat, or a rating is none of them.
        MissingPackageError: scikit-learn is not installed.
    """
    if len(first) != len(second):
        raise RankingError(f"{len(first)} ratings against {len(second)}")
    if labels is None and weights is not None:
        raise RankingError("weighted kappa needs labels, all possible ones in order")
    pairs = [
        pair
        for pair in zip(first, second, strict=True)
        if not any(label is None or label != label for label in pair)
    ]
    seen = tuple(dict.fromkeys(chain.from_iterable(pairs)))
    scale = seen if labels is None else tuple(labels)
    if len(set(scale)) < len(scale):
        raise RankingError(f"a label occurs twice in {scale}")
    strange = [label for label in seen if label not in scale]
    if strange:
        raise RankingError(f"{', '.join(map(repr, strange))} is none of the labels {scale}")
    if not pairs:
        return Agreement(math.nan, 0, Reason("no_case_of_both"))
    if len(seen) == 1:
        return Agreement(math.nan, len(pairs), Reason("one_label_throughout"))
    # Pass indices on the scale because scikit-learn requires labels of one type.
    place = {label: index for index, label in enumerate(scale)}
    x, y = ([place[pair[side]] for pair in pairs] for side in (0, 1))
    metrics = optional("sklearn.metrics", "Cohen's kappa needs scikit-learn", "scikit-learn")
    kappa = metrics.cohen_kappa_score(x, y, labels=range(len(scale)), weights=weights)
    return Agreement(float(kappa), len(pairs))


def _correlation(
    first: ArrayLike, second: ArrayLike, statistic: Callable[[FloatArray, FloatArray], Any]
) -> Agreement:
    a, b = _common(first, second)
    if a.size < 2:
        return Agreement(math.nan, a.size, Reason("few_common_models", n=a.size))
    for place, side in (("first", a), ("second", b)):
        if np.all(side == side[0]):
            return Agreement(math.nan, a.size, Reason("all_tied", side=place))
    return Agreement(float(statistic(a, b)), a.size)


def _common(first: ArrayLike, second: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """The numbers of the models that both have, rounded to `DECIMALS`."""
    a, b = finite(first), finite(second)
    if a.ndim != 1 or a.shape != b.shape:
        raise RankingError(f"expected two arrays of one length, got {a.shape} and {b.shape}")
    present = ~(np.isnan(a) | np.isnan(b))
    return a[present], b[present]


def finite(numbers: ArrayLike) -> FloatArray:
    """Numbers as an array rounded to `DECIMALS`; raises RankingError if one is infinite."""
    values = np.asarray(numbers, dtype=np.float64)
    if np.isinf(values).any():
        raise RankingError("ranks and scores must be finite, or NaN where a model is absent")
    return values.round(DECIMALS)


def pearson_many(first: ArrayLike, second: ArrayLike) -> FloatArray:
    """Pearson's correlation, in [-1, 1]."""
    return _cosine(*map(_centred, _paired(first, second)))


def spearman_many(first: ArrayLike, second: ArrayLike) -> FloatArray:
    """Spearman's ρ, in [-1, 1]."""
    return _cosine(*map(_places, _paired(first, second)))


def kendall_tau_many(first: ArrayLike, second: ArrayLike) -> FloatArray:
    """Kendall's τ-b, in [-1, 1]. Memory: about 10 · N² bytes a pair of leaderboards."""
    return _cosine(*map(_pair_signs, _paired(first, second)))


def top1_many(first: ArrayLike, second: ArrayLike) -> FloatArray:
    """`top1`, in [0, 1], but of scores: higher is better. NaN without a model in common."""
    a, b = (_leaders(values) for values in _paired(first, second))
    pairs = a.sum(axis=-1) * b.sum(axis=-1)
    both = np.sum(a & b, axis=-1)
    return ratio(both, pairs)


def _paired(first: ArrayLike, second: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Both arrays, broadcast and rounded, with NaN where either is NaN."""
    a, b = finite(first), finite(second)
    if not a.ndim or not b.ndim or a.shape[-1] != b.shape[-1]:
        raise RankingError(f"expected two arrays of shape (…, N), got {a.shape} and {b.shape}")
    try:
        absent = np.isnan(a) | np.isnan(b)
    except ValueError as error:
        raise RankingError(f"shapes {a.shape} and {b.shape} do not go together") from error
    return np.where(absent, np.nan, a), np.where(absent, np.nan, b)


def _cosine(x: NDArray[np.float64 | np.int8], y: NDArray[np.float64 | np.int8]) -> FloatArray:
    """Cosines of vectors along the last axis; NaN where a vector is zero."""
    product, square_x, square_y = (
        np.sum(a * b, axis=-1, dtype=np.float64) for a, b in ((x, y), (x, x), (y, y))
    )
    return np.clip(ratio(product, np.sqrt(square_x * square_y)), -1, 1)


def _centred(values: FloatArray) -> FloatArray:
    """Differences from the mean of the defined numbers; 0 for NaN."""
    present = ~np.isnan(values)
    held = np.where(present, values, 0.0)
    n = np.maximum(present.sum(axis=-1, keepdims=True), 1)
    # Equal numbers must give exactly 0, without the rounding error of their mean.
    centred: FloatArray = np.where(present, held - held.sum(axis=-1, keepdims=True) / n, 0.0)
    return centred.round(DECIMALS)


def _places(values: FloatArray) -> FloatArray:
    """Number of models below minus number above: twice the centred mean rank, in whole numbers."""
    row, other = values[..., :, None], values[..., None, :]
    places: FloatArray = np.sum(row > other, axis=-1) - np.sum(row < other, axis=-1, dtype=float)
    return places


def _pair_signs(values: FloatArray) -> NDArray[np.int8]:
    """Sign of the difference of every pair of models, shape (…, N(N − 1)/2); 0 with a NaN."""
    i, j = np.triu_indices(values.shape[-1], k=1)
    a, b = values[..., i], values[..., j]
    return (a > b).astype(np.int8) - (a < b).astype(np.int8)


def _leaders(values: FloatArray) -> NDArray[np.bool_]:
    best = np.max(values, axis=-1, keepdims=True, initial=-np.inf, where=~np.isnan(values))
    leaders: NDArray[np.bool_] = values == best
    return leaders
