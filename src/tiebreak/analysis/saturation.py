"""Saturation of a pool: what native scores can still tell, benchmark by benchmark."""

import math
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.analysis.standing import mean
from tiebreak.candidates import CandidatePool
from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.intervals import Proportion, wilson
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.ranks import DECIMALS


@dataclass(frozen=True, eq=False, slots=True)
class Saturation:
    """What native scores of N models on one benchmark can tell.

    `agree` is the share of the items (those with at least two scores) in which all models that are
    present score alike: these tell no models apart. `means`, shape (N,), are over present cells.

    `detectable`, shape (N, N), is the difference of two means that this benchmark detects with
    probability `power`, see `saturation`; `typical_detectable` is its median over the pairs of
    models for which it is defined. NaN on the diagonal, with fewer than two common items, and
    where the difference is the same in every item: nothing can then be said about its spread.

    `n_constant_pairs` counts the latter. Their scores may still differ on items that were not seen:
    `unseen`, at confidence `level` for all these pairs together, is the most that the share of such
    items can be; NaN without such a pair. Where scores lie in [0, 1] and a pair never differed, its
    true means are at most `unseen` apart. `reason` puts this in words, or is None.

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
    reason: str | None


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
        power: probability with which a detectable difference is detected, in (0, 1).

    Returns:
        One result per benchmark, in the order of the pool. See `tiebreak.analysis.saturation`.

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

    The detectable difference is that of a paired two-sided z test at level α = 1 − level,

        (z_{1−α/2} + z_{power}) · sd / √n,

    where sd is the standard deviation, over the n common items, of the two models' difference
    (E. Miller 2024, "Adding Error Bars to Evals", arXiv:2411.00640). It holds for large samples
    and for one pair that was chosen beforehand. With pass or fail it is too hopeful where fewer
    than six items would differ: six are the least that can show anything (p = 2 / 2⁶).

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
    counts = np.sum(~np.isnan(scores), axis=0)
    totals = np.nansum(scores, axis=0)
    means = np.divide(totals, counts, out=np.full(len(counts), np.nan), where=counts > 0)
    order = [i for i in np.argsort(-means.round(DECIMALS), kind="stable").tolist() if counts[i]]
    detectable, constant = _detectable(scores, level, power)
    pairs = np.triu_indices(len(counts), k=1)
    defined = detectable[pairs][~np.isnan(detectable[pairs])]
    unmoved = constant[pairs][constant[pairs] > 0]
    every = unmoved.size + defined.size
    alpha = (1 - level) / (every if defined.size else 1)
    unseen = 1 - alpha ** (1 / float(unmoved.min())) if unmoved.size else math.nan
    return Saturation(
        agree=_agree(scores, level),
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


def _agree(scores: FloatArray, level: float) -> Proportion:
    """Share of the items with at least two scores in which all scores are equal."""
    rows = scores[np.sum(~np.isnan(scores), axis=1) >= 2]
    same = np.nanmax(rows, axis=1) == np.nanmin(rows, axis=1) if rows.size else np.empty(0)
    return wilson(int(same.sum()), len(rows), level=level)


def _detectable(scores: FloatArray, level: float, power: float) -> tuple[FloatArray, FloatArray]:
    """Detectable difference of every pair, and the number of its items where it is constant."""
    from scipy.special import ndtri

    n_models = scores.shape[1]
    factor = ndtri((1 + level) / 2) + ndtri(power)
    detectable = np.full((n_models, n_models), np.nan)
    constant = np.zeros((n_models, n_models))
    for i in range(n_models):
        for j in range(i + 1, n_models):
            gap = scores[:, i] - scores[:, j]
            gap = gap[~np.isnan(gap)]
            if gap.size and np.ptp(gap) < 10.0**-DECIMALS:
                constant[i, j] = constant[j, i] = gap.size
            elif gap.size > 1:
                detectable[i, j] = detectable[j, i] = factor * gap.std(ddof=1) / gap.size**0.5
    return detectable, constant


def _reason(n_constant: int, n_pairs: int, unseen: float, level: float) -> str | None:
    if not n_pairs:
        return "a comparison takes two models"
    if not n_constant:
        return None
    return (
        f"{n_constant} of {n_pairs} pairs of models differ by the same amount in every item, so "
        f"there is no spread to reckon with: at {level:.0%} confidence they do otherwise on at "
        f"most {unseen:.1%} of such items"
    )
