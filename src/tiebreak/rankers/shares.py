"""Two shares of independent samples, whose events may come in clusters."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.intervals import design_effect, student_quantile
from tiebreak.rankers.profile import FloatArray


@dataclass(frozen=True, slots=True)
class ShareGap:
    """The first share minus the second, with its interval and the p-value of no difference.

    All are NaN where one of the samples is empty, bounds and p below two clusters in one of them.
    """

    difference: float
    lower: float
    upper: float
    p: float


def share_gap(
    hits: ArrayLike, n: ArrayLike, other_hits: ArrayLike, other_n: ArrayLike, *, level: float = 0.95
) -> ShareGap:
    """Compare two shares over clusters.

    Each sample counts as its effective number of events (`design_effect`). The interval adds one
    event of each kind to either sample (A. Agresti and B. Caffo 2000, "Simple and Effective
    Confidence Intervals for Proportions and Differences of Proportions Result from Adding Two
    Successes and Two Failures", The American Statistician 54(4)); the test is the score test, with
    the variance that both samples give together. Quantiles are Student's, by the clusters.

    Of `n` events, shape (clusters,), `hits` are of the kind that is counted in the first sample;
    the others are those of the second.

    Raises:
        RankingError: shapes differ, or level is out of range.
    """
    from scipy.special import stdtr

    (rate, effective, k), (other_rate, other_effective, other_k) = (
        _sample(*(np.asarray(part, dtype=np.float64) for part in both))
        for both in ((hits, n), (other_hits, other_n))
    )
    difference = rate - other_rate
    clusters = k + other_k - 1
    if math.isnan(difference) or min(k, other_k) < 2:
        return ShareGap(difference, math.nan, math.nan, math.nan)
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
    return ShareGap(difference, max(-1.0, lower), min(1.0, upper), p)


def _sample(hits: FloatArray, n: FloatArray) -> tuple[float, float, int]:
    """Share, effective number of events, and clusters."""
    if hits.shape != n.shape or hits.ndim != 1:
        raise RankingError(f"hits and n must have one shape, got {hits.shape} and {n.shape}")
    total = float(n.sum())
    if not total:
        return math.nan, math.nan, 0
    return float(hits.sum()) / total, total / design_effect(hits, n), int(np.sum(n > 0))
