"""How a leaderboard, or the agreement of two, depends on the items and on the run.

    resample_agreement     ρ, τ and top-1 of two leaderboards, with intervals over items
    expected_spearman      the ρ that two leaderboards show on average if they agree in truth
    subsample_stability    leaderboards of subsamples against that of all items (SEAL, table 2)
    run_to_run             several runs of the same protocol against each other (SEAL, table 3)

`resample_agreement` and `subsample_stability` take a leaderboard as a `Statistic`, a function from
counts of items to scores: `mean_statistic` for a table of scores, `least_squares_statistic` for
matches. Two leaderboards over the same items get the same counts: a hard draw is hard for both.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.rankers.agreement import (
    Agreement,
    kendall_tau,
    kendall_tau_many,
    spearman,
    spearman_many,
    top1,
    top1_many,
)
from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.intervals import Estimate
from tiebreak.rankers.profile import FloatArray, ratio
from tiebreak.rankers.ranks import DECIMALS
from tiebreak.rankers.uncertainty import Resampling, Statistic, bootstrap_leaderboard
from tiebreak.reason import Reason


@dataclass(frozen=True, slots=True)
class ResampledAgreement:
    """Agreement of two leaderboards. `top1_share` is the mean of `top1` over the draws of items.

    If a correlation is defined on all items but not in some draws, these are left out, and `reason`
    counts them.
    """

    spearman: Estimate
    kendall: Estimate
    top1: Agreement
    top1_share: float
    level: float
    draws: int
    seed: int


@dataclass(frozen=True, eq=False, slots=True)
class Stability:
    """Agreement of subsamples' leaderboards with that of all items; `rhos`: shape (subsamples,).

    `mean` and `minimum` are over the subsamples in which ρ is defined; `reason` counts the others.
    `top1_recovery` is the mean of `top1` over the subsamples, in [0, 1].
    """

    rhos: FloatArray
    mean: float
    minimum: float
    top1_recovery: float
    n_drawn: int
    n_items: int
    reason: Reason | None = None


@dataclass(frozen=True, eq=False, slots=True)
class RunStability:
    """Agreement of pairs of runs; `rhos` has shape (pairs,): runs 0 and 1, 0 and 2, … 1 and 2, ….

    `mean` and `minimum` are over the pairs in which ρ is defined; `reason` counts the others.
    `top1_matches` of the `n_pairs` pairs agree on the first model; ties count as fractions.
    """

    rhos: FloatArray
    mean: float
    minimum: float
    top1_matches: float
    n_pairs: int
    n_runs: int
    reason: Reason | None = None


def resample_agreement(
    first: Statistic, second: Statistic, n_items: int, *, how: Resampling = Resampling(draws=1000)
) -> ResampledAgreement:
    """Agreement of two leaderboards over the same items, with intervals over items.

    The interval estimates the agreement over infinitely many items. Noise pulls a correlation
    towards 0, and drawing items adds noise to leaderboards that are noisy already, so that the
    percentile interval is too low: it covers only 0 to 25% if both leaderboards have the same true
    scores and models are close. The interval is therefore extended to include its mirror image, the
    basic interval (A. C. Davison and D. V. Hinkley 1997, "Bootstrap Methods and their Application",
    §5.2); docs/statistics.md has the coverage. The value itself is far too low if models are close:
    a low ρ with a wide interval means "too few items", not "disagreement".

    Args:
        first: takes counts, shape (draws, n_items); returns scores, shape (draws, N), higher is
            better, NaN = undefined.
        second: the same for the other leaderboard, with the same models as columns.
        n_items: number of items.
        how: level, draws and seed of the intervals.

    Raises:
        RankingError: no items, level or draws are out of range, or the statistics' shapes differ.
    """
    drawn: list[FloatArray] = []

    def figures(counts: FloatArray) -> FloatArray:
        a, b = first(counts), second(counts)
        values = [many(a, b) for many in (spearman_many, kendall_tau_many, top1_many)]
        drawn.append(np.stack(values, axis=1).round(DECIMALS))
        return drawn[-1]

    over_items = bootstrap_leaderboard(figures, n_items, how=how)
    ones = np.ones((1, n_items))
    a, b = first(ones)[0], second(ones)[0]

    def interval(figure: Agreement, column: int) -> Estimate:
        undefined = int(over_items.undefined[column])
        bounds = (over_items.score, over_items.lower, over_items.upper)
        value, lower, upper = hull(*(float(bound[column]) for bound in bounds))
        reason = figure.reason
        if n_items == 1:
            reason = reason or Reason("one_item")
        elif undefined:
            reason = reason or Reason("undefined_draws", n=undefined, draws=how.draws)
        return Estimate(value, lower, upper, n_items, reason)

    # The first call computed the score on all items, not a draw.
    shares = np.concatenate(drawn[1:])[:, 2]
    return ResampledAgreement(
        spearman=interval(spearman(a, b), 0),
        kendall=interval(kendall_tau(a, b), 1),
        top1=top1(-a, -b),
        top1_share=_mean(shares),
        level=how.level,
        draws=how.draws,
        seed=how.seed,
    )


def expected_spearman(first: ArrayLike, second: ArrayLike) -> float:
    """Spearman's ρ that two noisy leaderboards over the same items show if they agree in truth.

    If they agree, a model has the same true score on both leaderboards, and the means correlate by

        r = R + (1 − R) · c / √(v₁ v₂),    R = max(0, s₁² + s₂² − v₁ − v₂) / (s₁² + s₂²)

    where s² is the variance of the models' means, v the part of it caused by the sample of items, c
    the covariance of these parts (the same items are hard for both), all without the effects common
    to all models; R is the share of true variance. ρ of N models with normal scores that correlate
    by r is 6 / (π (N + 1)) · (asin r + (N − 2) asin(r / 2)) on average (P. A. P. Moran 1948, "Rank
    correlation and product-moment correlation", Biometrika 35). The formula uses the leaderboards'
    spreads and not their correlation, so that a disagreement does not lower the expected value.

    In simulations the error is about 0.15 with four models, 0.1 with eight and 0.05 with thirty
    (docs/statistics.md). With a second judge whose noise is twice the spread of the answers, the
    value is 0.02 to 0.06 too high.

    Args:
        first: shape (items, N), higher is better, NaN = absent.
        second: the same for the other leaderboard.

    Returns:
        In [-1, 1]; NaN with fewer than two items or models, or if all means are equal.
    """
    first_scores, other = (np.asarray(scores, dtype=np.float64) for scores in (first, second))
    n_items, n_models = first_scores.shape
    if n_items < 2 or n_models < 2:
        return math.nan
    (mean, noise), (others_mean, others_noise) = (
        _mean_and_noise(first_scores),
        _mean_and_noise(other),
    )
    spread = mean.var(ddof=1) + others_mean.var(ddof=1)
    if not spread > 0:
        return math.nan
    errors = n_items / (n_items - 1) / (n_models - 1)
    first_noise, second_noise = np.sum(noise**2) * errors, np.sum(others_noise**2) * errors
    both = np.sum(noise * others_noise) * errors
    truth = max(0.0, float((spread - first_noise - second_noise) / spread))
    shared = (
        float(both / np.sqrt(first_noise * second_noise))
        if first_noise > 0 and second_noise > 0
        else 0.0
    )
    r = min(1.0, max(-1.0, truth + (1 - truth) * shared))
    return float(6 / math.pi / (n_models + 1) * (math.asin(r) + (n_models - 2) * math.asin(r / 2)))


def _mean_and_noise(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Means of the models, shape (N,), and each item's contribution to them, shape (items, N).

    The part that is common to all models is subtracted, because it does not change their order.
    """
    present = ~np.isnan(scores)
    counts = present.sum(axis=0)
    mean = ratio(np.nansum(scores, axis=0), counts.astype(np.float64))
    added = np.where(present, scores - mean, 0) / np.maximum(counts, 1)
    return mean, added - added.mean(axis=1, keepdims=True)


def subsample_stability(
    statistic: Statistic, n_items: int, *, share: float = 0.5, seeds: Iterable[int] = range(30)
) -> Stability:
    """How well random subsamples recover the leaderboard of all items (SEAL, §3.4.1, table 2).

    A subsample's items are part of the whole, so the two agree more than two separate benchmarks of
    the subsample's size would.

    Args:
        statistic: as in `resample_agreement`.
        n_items: number of items.
        share: share of the items in each subsample, in (0, 1], rounded up to whole items.
        seeds: one subsample is drawn for each seed, without replacement.

    Raises:
        RankingError: no items, no seeds, or the share is out of range.
    """
    numbers = list(seeds)
    if n_items < 1 or not numbers or not 0 < share <= 1:
        raise RankingError(
            f"expected items, seeds, and a share in (0, 1], got {n_items}, {numbers}, {share}"
        )
    # Rounded first: in floating point 0.07 · 100 is a little above 7, and ceil would give 8.
    n_drawn = max(1, math.ceil(round(share * n_items, 9)))
    counts = np.zeros((1 + len(numbers), n_items))
    counts[0] = 1
    for row, seed in zip(counts[1:], numbers, strict=True):
        row[np.random.default_rng(seed).choice(n_items, n_drawn, replace=False)] = 1
    scores = statistic(counts)
    rhos = spearman_many(scores[1:], scores[0])
    undefined = int(np.isnan(rhos).sum())
    return Stability(
        rhos=rhos,
        mean=_mean(rhos),
        minimum=float(np.fmin.reduce(rhos)),
        top1_recovery=_mean(top1_many(scores[1:], scores[0])),
        n_drawn=n_drawn,
        n_items=n_items,
        reason=Reason("undefined_subsamples", n=undefined, of=len(rhos)) if undefined else None,
    )


def run_to_run(scores: ArrayLike) -> RunStability:
    """Agreement between all pairs of repeated runs (SEAL, §3.4.1, table 3).

    Args:
        scores: shape (runs, N), the leaderboard of each run, higher is better, NaN = absent.

    Raises:
        RankingError: fewer than two runs, `scores` is not two-dimensional, or a score is infinite.
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or len(table) < 2:
        raise RankingError(
            f"expected scores of two runs or more by models, got shape {table.shape}"
        )
    i, j = np.triu_indices(len(table), k=1)
    rhos = spearman_many(table[i], table[j])
    undefined = int(np.isnan(rhos).sum())
    return RunStability(
        rhos=rhos,
        mean=_mean(rhos),
        minimum=float(np.fmin.reduce(rhos)),
        top1_matches=float(np.nansum(top1_many(table[i], table[j]))),
        n_pairs=len(rhos),
        n_runs=len(table),
        reason=Reason("undefined_runs", n=undefined, of=len(rhos)) if undefined else None,
    )


def mean_statistic(scores: ArrayLike) -> Statistic:
    """Statistic of mean scores: a function of how often each item is drawn.

    Args:
        scores: shape (items, N), higher is better, NaN = absent (left out of the model's mean).

    Raises:
        RankingError: `scores` is not two-dimensional, or a score is infinite.
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2:
        raise RankingError(f"scores must have shape (items, models), got {table.shape}")
    if np.isinf(table).any():
        raise RankingError("scores must be finite, or NaN where a model is absent")
    sums, cells = np.nan_to_num(table), (~np.isnan(table)).astype(np.float64)

    return lambda counts: ratio(counts @ sums, counts @ cells)


def hull(value: float, lower: float, upper: float) -> tuple[float, float, float]:
    """Value and the bounds of the union of the percentile interval and its mirror image (basic).

    `value` is a correlation in [-1, 1] on all items, `lower` and `upper` its percentile bounds over
    draws of items; NaN stays NaN. The interval is mirrored on the scale sin(π x / 2), the
    correlation of normal scores for τ (Greiner's relation), because τ is compressed near 1.
    """
    if math.isnan(value):
        return math.nan, math.nan, math.nan

    def mirrored(bound: float) -> float:
        sine = 2 * math.sin(math.pi / 2 * value) - math.sin(math.pi / 2 * bound)
        return round(2 / math.pi * math.asin(max(-1.0, min(1.0, sine))), DECIMALS)

    return value, min(lower, mirrored(upper)), max(upper, mirrored(lower))


def _mean(values: FloatArray) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else math.nan
