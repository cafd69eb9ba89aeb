"""Relative scores: each model's score as a share of a reference's (LLMEval-Fair, eq. 2).

Against a model that was named beforehand the share has the interval of a ratio, as if one item more
differed: near the ceiling few items do, and their errors alone are too small (95 to 99 of 100 at
50 items: intervals held in 85% of worlds). Against "the best" it has not: who comes out best was
partly lucky, so shares of its score are too small on average, and the interval of a named model
would leave that out. Here "the best" is whoever is truly best,
and the intervals hold whoever that is (J. C. Hsu 1984, "Constrained Simultaneous Confidence
Intervals for Multiple Comparisons with the Best", Annals of Statistics 12(3)): the lower bound is
the least over all models that may be the best, the upper bound the least that all comparisons
allow, at most 1.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.intervals import Estimate
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.reason import Reason


def relative_scores(
    score: ArrayLike,
    covariance: ArrayLike,
    n: int,
    *,
    reference: int | None = None,
    pseudo: FloatArray | None = None,
    how: Resampling = Resampling(),
) -> tuple[Estimate, ...]:
    """Each score as a share of the reference's, with intervals.

    Ratios are taken on the log scale, errors by the delta method, quantiles are Student's; those of
    all comparisons together are drawn (`how.draws`, `how.seed`).

    Args:
        score: shape (N,), at least 0; NaN where a model has none.
        covariance: shape (N, N), of the scores; NaN where a model has none.
        n: number of clusters behind them.
        reference: column that every score is divided by; None: the best, whoever truly is.
        pseudo: shape (clusters, N), with the scores as means: how items differ; None: not known.
        how: level of the intervals, draws and seed.

    Returns:
        N estimates; a value is at most 1 against the best. NaN where a score or the reference's is
        missing, or the reference's is 0.

    Raises:
        RankingError: `reference` is no column.
    """
    values, spread = (np.asarray(numbers, dtype=np.float64) for numbers in (score, covariance))
    if reference is not None and not 0 <= reference < len(values):
        raise RankingError(f"there is no model {reference} among {len(values)}")
    if not np.any(values > 0):
        return tuple(_none(Reason("no_positive_score"), n) for _ in values)
    base = int(np.nanargmax(values)) if reference is None else reference
    if not values[base] > 0:
        return tuple(_none(Reason("no_positive_reference"), n) for _ in values)
    shares = values / values[base]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(values)
        relative = spread / np.outer(values, values)
        # Two logarithms' difference varies by both variances, less twice what they share.
        variance = np.diag(relative)
        errors = np.sqrt(np.maximum(variance[:, None] + variance[None] - 2 * relative, 0))
        more = 0 if pseudo is None else _one_more(pseudo, base) / values
    if reference is None:
        lower, upper = _against_all(logs, relative, errors, n, how)
    else:
        half = _student(n, (1 + how.level) / 2) * np.hypot(errors[:, base], more)
        gap = logs - logs[base]
        lower, upper = gap - half, gap + half
    return tuple(
        _estimate(float(share), float(low), float(high), n)
        for share, low, high in zip(shares, np.exp(lower), np.exp(upper), strict=True)
    )


def _one_more(pseudo: FloatArray, base: int) -> FloatArray:
    """What one item more moves each difference from a model, (N,), if it differs as others do.

    It has the size of the differences that are not 0, as in `paired_interval`; 1 without any.
    """
    gaps = pseudo - pseudo[:, [base]]
    differ = np.sum(np.abs(gaps) > 1e-9, axis=0)
    size: FloatArray = np.where(differ, np.sqrt(np.sum(gaps**2, axis=0) / np.maximum(differ, 1)), 1)
    size[base] = 0
    return size / len(gaps)


def _against_all(
    logs: FloatArray, relative: FloatArray, errors: FloatArray, n: int, how: Resampling
) -> tuple[FloatArray, FloatArray]:
    """Bounds of each model's least log ratio to any model, shape (N,) each; at most 0."""
    lower, upper = (np.full(len(logs), math.nan) for _ in range(2))
    known = np.flatnonzero(np.isfinite(logs) & np.isfinite(np.diag(relative)))
    if not known.size:
        return lower, upper
    gaps = logs[known, None] - logs[None, known]
    errors = errors[np.ix_(known, known)]
    alone = _student(n, (1 + how.level) / 2)
    lower[known] = np.min(gaps - alone * errors, axis=1)
    together = _quantiles(relative[np.ix_(known, known)], errors, how)
    # Student's tails are longer than those of the draws, which take the errors as known.
    together *= alone / _student(10**9, (1 + how.level) / 2)
    upper[known] = np.minimum(np.min(gaps + together[:, None] * errors, axis=1), 0)
    return np.minimum(lower, upper), upper


def _quantiles(relative: FloatArray, errors: FloatArray, how: Resampling) -> FloatArray:
    """For each model, what its largest error against another one stays below, in errors."""
    generator = np.random.default_rng(how.seed)
    values, vectors = np.linalg.eigh(relative)
    root = vectors * np.sqrt(np.maximum(values, 0))
    drawn = generator.standard_normal((how.draws, len(root))) @ root.T
    quantiles = np.zeros(len(root))
    for model in range(len(root)):
        apart = errors[model] > 0
        if apart.any():
            far = (drawn[:, apart] - drawn[:, [model]]) / errors[model, apart]
            quantiles[model] = np.quantile(far.max(axis=1), (1 + how.level) / 2)
    return quantiles


def _student(n: int, probability: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(max(n - 1, 1), probability))


def _estimate(share: float, lower: float, upper: float, n: int) -> Estimate:
    if math.isnan(share):
        return _none(Reason("no_scored_item"), n)
    if n < 2 or math.isnan(lower):
        return Estimate(share, math.nan, math.nan, n, Reason("one_item_in_all"))
    return Estimate(share, lower, upper, n)


def _none(reason: Reason, n: int) -> Estimate:
    return Estimate(math.nan, math.nan, math.nan, n, reason)
