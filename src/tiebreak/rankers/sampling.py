"""What sampling error alone does to scores of several samples of questions.

Scores of two samples differ although nothing changed: other questions were drawn. A variance over
rounds is "negligible" only beside the one that the questions alone would give; table 9 of
LLMEval-Fair prints no such figure. Here it is made of each cluster's influence on each round's
score, so that rounds of unlike sizes, or with questions in common, are expected to vary so.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.profile import FloatArray, ratio


@dataclass(frozen=True, slots=True)
class ExpectedVariance:
    """Variance over rounds that sampling error alone gives; NaN where it is not known.

    `value` is its mean. Of rounds in which nothing but the questions changes the variance lies
    between `lower` and `upper` at the level that was asked for; with few rounds that is far apart.
    """

    value: float
    lower: float
    upper: float


UNKNOWN = ExpectedVariance(math.nan, math.nan, math.nan)


def relative_influence(score: ArrayLike, influence: ArrayLike, reference: int) -> FloatArray:
    """How far each cluster moves the shares of the reference's score (delta method).

    Args:
        score: shape (N,).
        influence: shape (clusters, N), of the scores (`LinkedScores.influence`).
        reference: column that scores are divided by.

    Returns:
        Shape (clusters, N); NaN where a score is, or all of it where the reference's is 0.
    """
    values, moves = np.asarray(score, np.float64), np.asarray(influence, np.float64)
    base = values[reference] if values[reference] > 0 else math.nan
    found: FloatArray = (moves - moves[:, [reference]] * values / base) / base
    return found


def expected_variance(covariance: ArrayLike, *, level: float = 0.95) -> ExpectedVariance:
    """The sample variance (n − 1) of scores with one mean and this covariance.

    It is a weighted sum of χ² variables, about one multiple of a χ² with the same mean and variance
    (F. E. Satterthwaite 1946, "An Approximate Distribution of Estimates of Variance Components",
    Biometrics Bulletin 2(6)); exactly that where rounds are independent and of one size.

    Args:
        covariance: shape (R, R), of the R rounds' scores; 0 between independent rounds.
        level: in (0, 1).

    Raises:
        RankingError: the shape is another, or level is out of range.
    """
    from scipy.stats import chi2

    spread = np.asarray(covariance, np.float64)
    if spread.ndim != 2 or spread.shape[0] != spread.shape[1]:
        raise RankingError(f"covariance must have shape (rounds, rounds), got {spread.shape}")
    if not 0 < level < 1:
        raise RankingError(f"level must lie between 0 and 1, got {level}")
    n = len(spread)
    if n < 2 or np.isnan(spread).any():
        return UNKNOWN
    centred = (spread - spread.mean(axis=0)) / (n - 1)
    mean, square = float(np.trace(centred)), float(np.sum(centred * centred.T))
    if not mean > 0 or not square > 0:
        return ExpectedVariance(0.0, 0.0, 0.0)
    freedom = mean**2 / square
    lower, upper = (
        mean * float(chi2.ppf(p, freedom)) / freedom for p in ((1 - level) / 2, (1 + level) / 2)
    )
    return ExpectedVariance(mean, lower, upper)


def variance_at(variance: ArrayLike, n: int, of_sample: ArrayLike) -> FloatArray:
    """The variance of an independent sample of some clusters, from that of all n at hand."""
    drawn = np.asarray(of_sample, np.float64)
    return ratio(np.asarray(variance, np.float64) * n, drawn)


def within_pool(variance: ArrayLike, n: int, drawn: ArrayLike) -> FloatArray:
    """The variance of draws without replacement, from that of independent samples of their size.

    Draws share their questions with the pool of n that they come from, and vary less by the share
    that was left out, 1 − drawn / n (W. G. Cochran 1977, "Sampling Techniques", §2.6).
    """
    found: FloatArray = np.asarray(variance, np.float64) * (1 - np.asarray(drawn, np.float64) / n)
    return found
