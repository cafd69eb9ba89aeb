"""Saturation of a pool: what native scores can still tell, benchmark by benchmark."""

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.analysis.standing import mean
from tiebreak.candidates import CandidatePool
from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.intervals import Proportion, wilson
from tiebreak.rankers.pairwise_tests import items_needed
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.ranks import DECIMALS
from tiebreak.reason import Reason


@dataclass(frozen=True, eq=False, slots=True)
class Saturation:
    """What native scores of N models on one benchmark can tell.

    `agree` is the share of the items (those with at least two scores) in which all models that are
    present score alike: these tell no models apart. `means`, shape (N,), are over present cells.

    `detectable`, shape (N, N), is the difference of two means that shows in `separation`, the tests
    of all pairs, with probability `power` or so; `typical_detectable` is its median over the pairs
    of models for which it is defined. NaN on the diagonal, where there are too few items for any
    difference to show (`items_needed`), and where the difference is the same in every item: nothing
    can then be said about its spread.

    `n_constant_pairs` counts the latter. Their scores may still differ on items that were not seen:
    `unseen`, at confidence `level` for all these pairs together, is the most that the share of such
    items can be; NaN without such a pair. Where scores lie in [0, 1] and a pair never differed, its
    true means are at most `unseen` apart. `reason` says this, or is None.

    `order` are the columns with a mean, best first (equal means: by column).
    """

    agree: Proportion
    means: FloatArray
    detectable: FloatArray
    typical_detectable: float
    n_constant_pairs: int
    unseen: float
    order: tuple[int, ...]
    level: float
    power: float
    reason: Reason | None


@dataclass(frozen=True, slots=True)
class BenchmarkSaturation:
    """One benchmark of a pool; columns of `saturation` are `models`, by name."""

    benchmark: str
    models: tuple[str, ...]
    saturation: Saturation


def saturation(
    pool: CandidatePool, *, level: float = 0.95, power: float = 0.8
) -> tuple[BenchmarkSaturation, ...]:
    """How saturated each benchmark of a pool is, by its native scores.

    An item that was answered in several epochs counts once, with the mean of its scores; a score
    that the logs do not hold is left out.

    Args:
        pool: aligned candidates.
        level: confidence level, in (0, 1).
        power: probability, roughly, with which a detectable difference shows, in (0, 1).

    Returns:
        One result per benchmark, in the order of the pool. See `saturation_of`.

    Raises:
        RankingError: level or power are out of range.
    """
    return tuple(
        BenchmarkSaturation(
            benchmark,
            pool.models_of(benchmark),
            saturation_of(native_scores(pool, benchmark), level=level, power=power),
        )
        for benchmark in pool.benchmarks
    )


def native_scores(pool: CandidatePool, benchmark: str) -> NDArray[np.float64]:
    """Native scores, shape (items, models), means over epochs."""
    models = pool.models_of(benchmark)
    epochs: dict[str, list[list[float]]] = defaultdict(list)
    for item in pool.items_of(benchmark):
        row = pool.candidates[item.key]
        epochs[item.item_id].append([row[model].native_score for model in models])
    return np.array(
        [[mean(column) for column in zip(*rows, strict=True)] for rows in epochs.values()]
    )


def saturation_of(native: ArrayLike, *, level: float = 0.95, power: float = 0.8) -> Saturation:
    """How saturated a benchmark is for some models.

    The detectable difference is that of a paired two-sided t test at level α = (1 − level) / m for
    each of the m pairs of models: `separation` asks that much of them at most, so the
    difference δ of two models that shows in it with probability `power` solves

        δ = (t_{1−α/2} + t_{power}) · √((s² + q · (δ · d − δ²)) / n)

    with n − 1 degrees of freedom. s is the standard deviation, over the n common items, of the two
    models' difference. A lead comes about on items that had tied: the share q of them, at d each,
    the mean size of a difference, so that it adds to the spread (with few ties this is the formula
    of E. Miller 2024, "Adding Error Bars to Evals", arXiv:2411.00640). And enough items must differ
    for an exact test to show anything: δ is at least the one at which `items_needed` items do, with
    probability `power`.

    Power measured in that column for two models that are δ apart, among N that pass 97% of the
    items (N = 2: 2,000 worlds a cell, N = 8: 300; items pass independently, or models share their
    difficulty). Testing 28 pairs together asks for less than α the nearer the ceiling is:

        items                  20       50      164     1000
        N = 2           .74   .79  .73   .83  .73  .82  .79  .83
        N = 8           .97  1.00  .95   .99  .89  .96  .85  .91

    At level α with 60 to 90% it is .71 to .95, with graded scores .73 to .92. The difference itself
    is an estimate: with 50 items and a pass rate of 97% its standard deviation is a tenth of it.

    A constant difference tells nothing of sd, but it bounds the share of other items by
    1 − α^(1/n), about 3/n (the rule of three: J. A. Hanley and A. Lippman-Hand 1983,
    doi:10.1001/jama.1983.03330370053031), n being the items of the pair that has the fewest. Where
    only some pairs are constant these are the luckiest of m, and α is divided by m.

    Args:
        native: shape (items, N), one row per item (average epochs first), higher is better, NaN =
            absent.
        level: confidence level, in (0, 1).
        power: probability of detection, in (0, 1).

    Raises:
        RankingError: `native` is not two-dimensional, has no column or an infinite score, or level
            or power are out of range.
    """
    scores = _checked(native, level, power)
    rows = scores[np.sum(~np.isnan(scores), axis=1) >= 2]
    same = np.nanmax(rows, axis=1) == np.nanmin(rows, axis=1) if rows.size else np.empty(0)
    counts = np.sum(~np.isnan(scores), axis=0)
    totals = np.nansum(scores, axis=0)
    means = np.divide(totals, counts, out=np.full(len(counts), np.nan), where=counts > 0)
    order = [i for i in np.argsort(-means.round(DECIMALS), kind="stable").tolist() if counts[i]]
    detectable, constant = _detectable(scores, level, power)
    pairs = np.triu_indices(len(counts), k=1)
    defined = detectable[pairs][~np.isnan(detectable[pairs])]
    unmoved = constant[pairs][constant[pairs] > 0]
    n_pairs = unmoved.size + defined.size
    alpha = (1 - level) / (n_pairs if defined.size else 1)
    unseen = 1 - alpha ** (1 / float(unmoved.min())) if unmoved.size else math.nan
    return Saturation(
        agree=wilson(int(same.sum()), len(rows), level=level),
        means=means,
        detectable=detectable,
        typical_detectable=float(np.median(defined)) if defined.size else math.nan,
        n_constant_pairs=unmoved.size,
        unseen=unseen,
        order=tuple(order),
        level=level,
        power=power,
        reason=_reason(unmoved.size, len(pairs[0]), unseen, level),
    )


def _checked(native: ArrayLike, level: float, power: float) -> FloatArray:
    scores = np.asarray(native, dtype=np.float64)
    if scores.ndim != 2:
        raise RankingError(f"native must have shape (items, models), got {scores.shape}")
    if not scores.shape[1]:
        raise RankingError("there is no model")
    if np.isinf(scores).any():
        raise RankingError("scores must be finite, or NaN where a model is absent")
    if not (0 < level < 1 and 0 < power < 1):
        raise RankingError(f"level and power must lie between 0 and 1, got {level} and {power}")
    return scores.round(DECIMALS)


def _detectable(scores: FloatArray, level: float, power: float) -> tuple[FloatArray, FloatArray]:
    """Detectable difference of every pair, and the number of its items where it is constant."""
    n_models = scores.shape[1]
    gaps = {(i, j): scores[:, i] - scores[:, j] for i, j in combinations(range(n_models), 2)}
    gaps = {pair: common for pair, gap in gaps.items() if (common := gap[~np.isnan(gap)]).size}
    detectable = np.full((n_models, n_models), np.nan)
    constant = np.zeros((n_models, n_models))
    for (i, j), gap in gaps.items():
        if np.ptp(gap) < 10.0**-DECIMALS:
            constant[i, j] = constant[j, i] = gap.size
        else:
            detectable[i, j] = detectable[j, i] = _lead(gap, len(gaps), level, power)
    return detectable, constant


def _lead(gap: FloatArray, n_pairs: int, level: float, power: float) -> float:
    """The mean difference that would show, from differences that are not all the same."""
    from scipy.special import betaincinv, stdtrit

    n, tied = gap.size, float(np.mean(gap == 0))
    size = float(np.abs(gap[gap != 0]).mean())
    least = items_needed(n_pairs, level)
    if least > n:
        return math.nan
    # P(at least `least` of n items differ) = power.
    enough = size * float(betaincinv(least, n - least + 1, power))
    factor = float(np.sum(stdtrit(n - 1, [1 - (1 - level) / n_pairs / 2, power]))) ** 2 / n
    # The positive root of a·δ² − b·δ − c = 0.
    a, b, c = 1 + tied * factor, tied * factor * size, factor * float(gap.var(ddof=1))
    return max(enough, (b + math.sqrt(b * b + 4 * a * c)) / (2 * a))


def _reason(n_constant: int, n_pairs: int, unseen: float, level: float) -> Reason | None:
    if not n_pairs:
        return Reason("one_model")
    if not n_constant:
        return None
    return Reason("constant_pairs", n=n_constant, of=n_pairs, level=level, unseen=unseen)
