"""Scores of models that answered the same items, partly the same items, or different ones.

A score is a mean over a model's own items (LLMEval-Fair, eq. 1). The difference of two scores is
more precise the more items both models answered, because an item is hard or easy for both:

    paired      all models have the same items: differences are paired, item by item
    linked      some items are shared (anchors), others are not (fresh): anchors show whose fresh
                items were easier, and scores are corrected accordingly
    unlinked    no item is shared: scores are independent samples

The correction is generalised least squares: items have random difficulties, scores of two models in
an item correlate by ρ (estimated, one number for all pairs), and each model has its own variance.
Wrong weights cost precision but do not bias standard errors, which come from the clusters
themselves (a sandwich estimator), so that variants of a question count once. Of four estimators
(plain means, anchors alone, the best weights of anchors and fresh items for each pair, least
squares) the last two had the smallest errors in simulation, and of these only least squares gives
every model a single score.

Tests, tiers and intervals use `pseudo`: rows for clusters whose column means are the scores and
whose spread is their uncertainty, as if all models had all clusters.

Scores of two samples differ even if nothing changed, because different questions were drawn. A
variance over rounds is "negligible" only in comparison with the variance due to the questions alone
(`expected_variance`; table 9 of LLMEval-Fair does not print it). That is computed from each
cluster's influence on each round's score, so it allows for rounds of different sizes and common
questions.

A relative score is a model's as a share of a reference's (eq. 2). Against a model named beforehand
the share has the interval of a ratio, with one more differing item added: near the ceiling few
items differ, and standard errors alone are too small (at scores of 95 to 99 of 100 and 50 items,
intervals held in 85% of worlds). Against "the best" this interval is wrong: the model that comes
out best was partly lucky, so shares of its score are too small on average. Here "the best" is the
model that is truly best, and the intervals hold whichever that is (J. C. Hsu 1984, "Constrained
Simultaneous Confidence Intervals for Multiple Comparisons with the Best", Annals of Statistics
12(3)): the lower bound is the least over all models that may be the best, the upper bound the least
that all comparisons allow, at most 1.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.intervals import Estimate, student_quantile
from tiebreak.rankers.profile import FloatArray, IntArray, ratio
from tiebreak.rankers.uncertainty import Resampling, item_numbers, per_item
from tiebreak.reason import Reason

# Scores in an item never correlate perfectly; with ρ = 1 fresh items would have no weight.
_MOST = 0.95
# Cells of a table for all pairs, and rows to keep: with 1,000 clusters t is almost normal.
_CELLS = 2_000_000
_LEAST = 1000
_SEED = 0


@dataclass(frozen=True, eq=False)
class LinkedScores:
    """Scores of N models, and each cluster's influence on them.

    `score` is corrected by shared items if `corrected`; `own` is the plain mean over the model's
    scored rows; both have shape (N,), NaN for a model without a scored row. `influence`, shape
    (clusters, N), is each cluster's contribution to the error of each score; columns sum to 0.
    `n_rows` and `n_clusters`, shape (N,), count the rows and clusters with a score of the model.
    `correlation` is that of two models' scores in an item, NaN if no two models share an item.
    """

    score: FloatArray
    own: FloatArray
    influence: FloatArray
    n_rows: IntArray
    n_clusters: IntArray
    correlation: float
    corrected: bool

    @cached_property
    def covariance(self) -> FloatArray:
        """Covariance of the scores, shape (N, N); NaN for models in fewer than two clusters."""
        n = len(self.influence)
        covariance: FloatArray = self.influence.T @ self.influence * (n / max(n - 1, 1))
        few = self.n_clusters < 2
        covariance[few, :] = covariance[:, few] = np.nan
        return covariance

    @property
    def error(self) -> FloatArray:
        """Standard errors of the scores, shape (N,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def table(self) -> FloatArray:
        """Scores by cluster, shape (clusters, N), as if all models had all clusters.

        If all models have all items and each cluster is one item, these are the observed scores.
        """
        return self.score + len(self.influence) * self.influence

    @property
    def pseudo(self) -> FloatArray:
        """Like `table`, for tests of all pairs; a row may hold several clusters.

        If tests of all pairs would need too large a table, clusters are merged at random into
        fewer, larger ones, which are still independent of each other.
        """
        rows, n_models = self.influence, self.influence.shape[1]
        most = max(_LEAST, _CELLS // max(1, n_models * (n_models - 1) // 2))
        if len(rows) <= most:
            return self.table
        lot = np.random.default_rng(_SEED).permutation(len(rows)) % most
        joined: FloatArray = self.score + most * per_item(rows, lot, most)
        return joined


def linked_scores(
    scores: ArrayLike, clusters: ArrayLike | None = None, *, link: bool = True
) -> LinkedScores:
    """Mean scores of models over items that need not be the same.

    Args:
        scores: shape (rows, N), finite, a row for each item, NaN where a model has no score.
        clusters: shape (rows,), the cluster of each row; items of a cluster are not independent
            evidence. By default every row is its own cluster.
        link: whether to correct scores by shared items. False suits models that all had the same
            items with some scores missing by accident, whose plain means are already paired.

    Raises:
        RankingError: `clusters` does not fit.
    """
    table = np.asarray(scores, dtype=np.float64)
    n_clusters, cluster = item_numbers(clusters, len(table))
    known = ~np.isnan(table)
    n_rows = known.sum(axis=0)
    plain = ratio(np.nansum(table, axis=0), n_rows)
    rest = np.where(known, table - plain, 0.0)
    rho, sd = _correlation(rest, known), np.sqrt(ratio((rest**2).sum(axis=0), n_rows))
    corrected = bool(link and rho > 0 and (n_rows > 0).all() and (sd > 0).all())
    score, of_row = plain, np.where(known, rest / np.maximum(n_rows, 1), 0.0)
    if corrected:
        score, of_row = _least_squares(rest, known, sd, min(rho, _MOST))
        score = plain + score
    return LinkedScores(
        score=score,
        own=plain,
        influence=per_item(of_row, cluster, n_clusters),
        n_rows=n_rows,
        n_clusters=np.sum(per_item(known, cluster, n_clusters) > 0, axis=0),
        correlation=rho,
        corrected=corrected,
    )


def _correlation(rest: FloatArray, known: NDArray[np.bool_]) -> float:
    """Correlation of two models' scores in an item, pooled over pairs; NaN if none is shared."""
    present = known.astype(np.float64)
    shared = present.T @ present
    products = rest.T @ rest
    # Variances over the items that a pair shares.
    squares = (rest**2).T @ present
    upper = np.triu_indices(len(shared), k=1)
    if not shared[upper].sum():
        return float("nan")
    scale = np.sqrt(squares * squares.T)[upper]
    return float(ratio(products[upper].sum(), scale.sum()))


def _least_squares(
    rest: FloatArray, known: NDArray[np.bool_], sd: FloatArray, rho: float
) -> tuple[FloatArray, FloatArray]:
    """Corrections of the scores, shape (N,), and each row's influence on them, shape (rows, N).

    The inverse of the correlation matrix of k equally correlated scores is (I − c·11ᵀ) / (1 − ρ) in
    units of their standard deviations, with c = ρ / (1 + (k − 1) ρ).
    """
    scaled = known / sd
    share = rho / (1 + (known.sum(axis=1, keepdims=True) - 1) * rho)

    def weighed(values: FloatArray) -> FloatArray:
        """Rows times the inverse of their matrix, up to the factor 1 / (1 − ρ)."""
        z = np.where(known, values, 0.0) / sd
        product: FloatArray = scaled * (z - share * z.sum(axis=1, keepdims=True))
        return product

    precision = np.diag((scaled**2).sum(axis=0)) - scaled.T @ (share * scaled)
    correction = np.linalg.solve(precision, weighed(rest).sum(axis=0))
    of_row = np.linalg.solve(precision, weighed(rest - correction).T).T
    return correction, of_row


def relative_influence(score: ArrayLike, influence: ArrayLike, reference: int) -> FloatArray:
    """Each cluster's influence on the shares of the reference's score (delta method).

    Args:
        score: shape (N,).
        influence: shape (clusters, N), influence on the scores (`LinkedScores.influence`).
        reference: column that scores are divided by.

    Returns:
        Shape (clusters, N); NaN where a score is NaN, and everywhere if the reference's score is 0.
    """
    values, moves = np.asarray(score, np.float64), np.asarray(influence, np.float64)
    base = values[reference] if values[reference] > 0 else math.nan
    return (moves - moves[:, [reference]] * values / base) / base


def expected_variance(covariance: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Expected sample variance (divisor n − 1) of scores with equal means and this covariance.

    The sample variance is a weighted sum of χ² variables, approximated by a multiple of a χ² with
    the same mean and variance (F. E. Satterthwaite 1946, "An Approximate Distribution of Estimates
    of Variance Components", Biometrics Bulletin 2(6)); the approximation is exact if rounds are
    independent and of the same size.

    Args:
        covariance: shape (R, R), covariance of the R rounds' scores; 0 between independent rounds.
        level: in (0, 1).

    Returns:
        The mean of the sample variance. If only the questions change between rounds, the sample
        variance is within the bounds with probability `level`; few rounds give wide bounds. NaN
        below two.
    """
    from scipy.stats import chi2

    spread = np.asarray(covariance, np.float64)
    n = len(spread)
    if n < 2 or np.isnan(spread).any():
        return Estimate(math.nan, math.nan, math.nan, n)
    centred = (spread - spread.mean(axis=0)) / (n - 1)
    mean, square = float(np.trace(centred)), float(np.sum(centred * centred.T))
    if not mean > 0 or not square > 0:
        return Estimate(0.0, 0.0, 0.0, n)
    freedom = mean**2 / square
    lower, upper = (
        mean * float(chi2.ppf(p, freedom)) / freedom for p in ((1 - level) / 2, (1 + level) / 2)
    )
    return Estimate(mean, lower, upper, n)


def variance_at(variance: ArrayLike, n: int, of_sample: ArrayLike) -> FloatArray:
    """Variance of a mean over an independent sample of `of_sample` clusters, from that over n."""
    drawn = np.asarray(of_sample, np.float64)
    return ratio(np.asarray(variance, np.float64) * n, drawn)


def within_pool(variance: ArrayLike, n: int, drawn: ArrayLike) -> FloatArray:
    """Variance of draws without replacement, from that of independent samples of the same size.

    Draws come from the same pool of n questions, so their variance is multiplied by 1 − drawn / n,
    the share left out (W. G. Cochran 1977, "Sampling Techniques", §2.6).
    """
    return np.asarray(variance, np.float64) * (1 - np.asarray(drawn, np.float64) / n)


def relative_scores(
    score: ArrayLike,
    covariance: ArrayLike,
    n: int,
    *,
    reference: int | None = None,
    pseudo: FloatArray | None = None,
    how: Resampling = Resampling(),
) -> tuple[Estimate, ...]:
    """Estimate each score as a share of the reference's, with intervals.

    Ratios are computed on the log scale, errors by the delta method, and quantiles are Student's;
    quantiles for all comparisons together are simulated (`how.draws`, `how.seed`).

    Args:
        score: shape (N,), at least 0; NaN if a model has no score.
        covariance: shape (N, N), covariance of the scores; NaN if a model has no score.
        n: number of clusters that the scores are based on.
        reference: column that every score is divided by; None: the truly best model, whichever.
        pseudo: shape (clusters, N), with the scores as column means, for the size of differences in
            an item; None: not known.
        how: level of the intervals, draws and seed.

    Returns:
        N estimates; a value is at most 1 against the best. NaN if the model's or the reference's
        score is missing, or the reference's is 0.

    Raises:
        RankingError: `reference` is not a column; level is out of range.
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
        # Variance of a difference of logarithms: both variances minus twice their covariance.
        variance = np.diag(relative)
        errors = np.sqrt(np.maximum(variance[:, None] + variance[None] - 2 * relative, 0))
        more = 0 if pseudo is None else _effect_of_item(pseudo, base) / values
    if reference is None:
        lower, upper = _against_all(logs, relative, errors, n, how)
    else:
        half = student_quantile(max(n, 2), how.level) * np.hypot(errors[:, base], more)
        gap = logs - logs[base]
        lower, upper = gap - half, gap + half
    return tuple(
        _estimate(float(share), float(low), float(high), n)
        for share, low, high in zip(shares, np.exp(lower), np.exp(upper), strict=True)
    )


def _effect_of_item(pseudo: FloatArray, base: int) -> FloatArray:
    """Effect of one more item on each model's difference from `base`, shape (N,).

    The item differs by the root mean square of the differences that are not 0, as in
    `paired_interval`, or by 1 if all are 0.
    """
    gaps = pseudo - pseudo[:, [base]]
    differ = np.sum(np.abs(gaps) > 1e-9, axis=0)
    size: FloatArray = np.where(differ, np.sqrt(np.sum(gaps**2, axis=0) / np.maximum(differ, 1)), 1)
    size[base] = 0
    return size / len(gaps)


def _against_all(
    logs: FloatArray, relative: FloatArray, errors: FloatArray, n: int, how: Resampling
) -> tuple[FloatArray, FloatArray]:
    """Bounds, shape (N,) each, of each model's smallest log ratio to any model; at most 0."""
    lower, upper = (np.full(len(logs), math.nan) for _ in range(2))
    known = np.flatnonzero(np.isfinite(logs) & np.isfinite(np.diag(relative)))
    if not known.size:
        return lower, upper
    gaps = logs[known, None] - logs[None, known]
    errors = errors[np.ix_(known, known)]
    alone = student_quantile(max(n, 2), how.level)
    lower[known] = np.min(gaps - alone * errors, axis=1)
    together = _quantiles(relative[np.ix_(known, known)], errors, how)
    # Widen to Student's t: the draws are normal, because they treat the errors as known.
    together *= alone / student_quantile(10**9, how.level)
    upper[known] = np.minimum(np.min(gaps + together[:, None] * errors, axis=1), 0)
    return np.minimum(lower, upper), upper


def _quantiles(relative: FloatArray, errors: FloatArray, how: Resampling) -> FloatArray:
    """For each model, the quantile of its largest standardised error against another model."""
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


def _estimate(share: float, lower: float, upper: float, n: int) -> Estimate:
    if math.isnan(share):
        return _none(Reason("no_scored_item"), n)
    if n < 2 or math.isnan(lower):
        return Estimate(share, math.nan, math.nan, n, Reason("one_item_in_all"))
    return Estimate(share, lower, upper, n)


def _none(reason: Reason, n: int) -> Estimate:
    return Estimate(math.nan, math.nan, math.nan, n, reason)
