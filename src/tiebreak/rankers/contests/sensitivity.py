"""Sensitivity of expected wins to elimination, to a few changed scores, and to the items.

failure_sensitivity    cost of elimination for each model (§2.5, eq. 6 and 7)
perturb                effect of a few changed scores of a model on its rank (§4.2)
item_intervals         intervals over items: contests played on many drawn score tables
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, repeat
from typing import Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.rankers.contests.engine import BLOCK, CHUNK, draw_block, out_flag, schedule, states_of
from tiebreak.rankers.contests.expected_wins import (
    ROUNDING,
    CsdOptions,
    CsdResult,
    critical_value,
    csd,
    mean_and_covariance,
    prepare,
    result_of,
)
from tiebreak.rankers.contests.rounds import Rounds, round_means, strengths
from tiebreak.rankers.contests.study import Study, engine, spread, unit_sums
from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.profile import FloatArray, IntArray
from tiebreak.rankers.ranks import competition_ranks
from tiebreak.reason import Reason

# Contests per table: their noise is small in comparison with the spread over tables.
CONTESTS = 2 * CHUNK
# Largest number of bytes for the pair results of all tables in a block.
_PAIRS = 200_000_000


@dataclass(frozen=True, eq=False, slots=True)
class ItemIntervals:
    """Intervals of expected wins and ranks for the true scores; arrays of shape (M,).

    `lower` and `upper`: expected wins, 0 to K, for each model separately. `rank_lower` (the better)
    and `rank_upper` hold for all models together: they are 1 + the number of models surely ahead,
    and M − the number surely behind, by a test of all pairs at `level`. docs/statistics.md has the
    simulated coverage; if some models are nearly tied and others far weaker, 88% of the intervals
    hold. The choice of benchmarks is not included.
    """

    lower: FloatArray
    upper: FloatArray
    rank_lower: FloatArray
    rank_upper: FloatArray
    draws: int
    contests: int
    level: float


def item_intervals(
    tables: ArrayLike,
    rounds: Rounds | None = None,
    eliminate: int | Sequence[int] = 0,
    **options: Unpack[CsdOptions],
) -> ItemIntervals:
    """Compute intervals of expected wins and of ranks over items.

    Args:
        tables: shape (draws, M, B), draws of possible true scores, as from
            `tiebreak.analysis.contests.drawn_scores`. Observed scores plus noise are not suitable,
            because in them nearly tied models are further apart than in truth.
        rounds: as in `csd`.
        eliminate: as in `csd`.
        options: other arguments of `csd`; `iterations` and those about speed do not matter.

    Raises:
        RankingError: as `csd`, or there are fewer than two tables.
    """
    [wins] = drawn_wins(tables, rounds, [eliminate], **options)
    return intervals_of(wins, options.get("level", 0.95))


def intervals_of(wins: FloatArray, level: float) -> ItemIntervals:
    """Intervals from the wins with each drawn table, shape (draws, M)."""
    lower, upper = np.quantile(wins, [(1 - level) / 2, (1 + level) / 2], axis=0)
    best, worst = _joint_ranks(wins, level)
    return ItemIntervals(lower, upper, best, worst, len(wins), CONTESTS, level)


def drawn_wins(
    tables: ArrayLike,
    rounds: Rounds | None,
    eliminate: Sequence[int | Sequence[int]],
    **options: Unpack[CsdOptions],
) -> list[FloatArray]:
    """Mean wins over the contests of each table, shape (draws, M), for each entry of `eliminate`.

    Contests for all entries use the same random numbers.
    """
    drawn = np.asarray(tables, dtype=np.float64)
    if drawn.ndim != 3 or len(drawn) < 2:
        raise RankingError(f"tables must have shape (draws, models, benchmarks), got {drawn.shape}")
    missing = options.get("missing", "error")
    contests = len(drawn) * CONTESTS
    plain: CsdOptions = {**options, "iterations": contests, "control_variate": False}
    studies = [prepare(drawn[0], rounds, count, **plain) for count in eliminate]
    means = np.concatenate([round_means(table, rounds, missing) for table in drawn], axis=1)
    strength = strengths(means).reshape(len(drawn), -1, len(means))
    at_once = max(1, min(BLOCK // CONTESTS, _PAIRS // (strength[0].size * len(means))))
    parts = [strength[low : low + at_once] for low in range(0, len(drawn), at_once)]
    tasks = [(study, number, part) for study in studies for number, part in enumerate(parts)]
    work = strength.size * CONTESTS * len(studies)
    task = Reason("playing_other_items")
    wins = np.concatenate(spread(_wins, tasks, work, options.get("n_jobs"), task))
    return list(wins.reshape(len(studies), *strength[:, 0].shape))


def _wins(study: Study, number: int, strength: IntArray) -> FloatArray:
    """Mean wins of each table of a block, shape (tables, M); `strength` is (tables, K, M)."""
    n_tables, n_rounds, n_models = strength.shape
    contests, eliminate = n_tables * CONTESTS, study.eliminate
    draw = draw_block((number, 3), study.seed, contests, n_models, eliminate, study.weights)
    # Rounds of all tables are concatenated, and a contest plays those of its table.
    table = np.arange(contests)[:, None] // CONTESTS * n_rounds
    order = np.arange(n_rounds) if draw.orders is None else draw.orders
    played = strength[:, :, draw.numbering].reshape(-1, n_models)
    places = engine(study.compiled)[0](draw.words, played, eliminate, table + order)
    score = schedule(n_models, eliminate)[-1].score[None] & (out_flag(n_rounds) - 1)
    states = states_of(places, score)[0].reshape(n_tables, CONTESTS, n_models)
    wins = np.empty((n_tables, n_models))
    wins[:, draw.numbering] = states.mean(axis=1)
    return wins


def _joint_ranks(wins: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Rank ranges left open by a simultaneous test of which model of each pair is ahead.

    A model is surely ahead if the standardised mean difference exceeds the `level` quantile, over
    draws, of the largest standardised deviation from the mean over all pairs. The test is repeated
    among the remaining pairs until no pair is rejected (step-down: Romano & Wolf, JASA 100, 2005).
    So equal models are told apart in at most 1 − `level` of all boards, for any number of models.
    """
    n_models = wins.shape[1]
    first, second = np.triu_indices(n_models, 1)
    mean = wins.mean(axis=0)[first] - wins.mean(axis=0)[second]
    # Draw by draw, because all differences of a thousand models in all draws take gigabytes.
    squares = np.zeros(len(mean))
    for drawn in wins:
        squares += (drawn[first] - drawn[second] - mean) ** 2
    scale = np.sqrt(squares / len(wins))
    apart = np.abs(mean) > ROUNDING
    sure = apart & (scale <= ROUNDING)
    left = np.flatnonzero(scale > ROUNDING)
    while left.size:
        i, j, centre, unit = first[left], second[left], mean[left], scale[left]
        strayed = [np.max(np.abs(drawn[i] - drawn[j] - centre) / unit) for drawn in wins]
        new = np.abs(centre) / unit > np.quantile(strayed, level)
        if not new.any():
            break
        sure[left[new]] = True
        left = left[~new]
    better, worse = np.where(mean > 0, first, second)[sure], np.where(mean > 0, second, first)[sure]
    lower = 1.0 + np.bincount(worse, minlength=n_models)
    upper = float(n_models) - np.bincount(better, minlength=n_models)
    return np.asarray(lower), np.asarray(upper)


Label = Literal["generalist", "specialist", "neither", "undecided"]

# Contests of the reference field for Λ; they are shared by all models and their error is included.
_EVEN_CONTESTS = 20_000


@dataclass(frozen=True, eq=False, slots=True)
class FailureSensitivity:
    """E[S] as a function of T, the number of models eliminated after each round.

    `contests` has the result for each T, and `items` the intervals over items at the first T, None
    without `tables`. Arrays have shape (M,). `slope` is Λ: the slope of the least-squares line
    through E[S](T), in wins per T (eq. 6). `delta` is E[S] at the last T minus E[S] at the first,
    in wins (eq. 7 for T from 0 to 2). The paper equates it with 2Λ, which holds for T = 0, 2 and T
    = 0, 1, 2, where the middle point has no weight; for other T it holds if E[S] is linear.

    `even_slope` is the lowest Λ among the better half of a field of the same size that all
    benchmarks order alike: the largest cost of elimination if no model is a specialist.
    `even_error` is its Monte Carlo error.

    `labels`: "generalist" and "specialist" are the paper's; "neither" is a model of the weaker
    half, "undecided" a model that could be on either side of a line within the error.
    """

    eliminate: tuple[int, ...]
    contests: tuple[CsdResult, ...]
    items: ItemIntervals | None
    slope: FloatArray
    slope_error: FloatArray
    delta: FloatArray
    delta_error: FloatArray
    even_slope: float
    even_error: float
    labels: tuple[Label, ...]

    @property
    def expected_wins(self) -> FloatArray:
        """E[S], shape (len(eliminate), M)."""
        return np.stack([contest.expected_wins for contest in self.contests])

    @property
    def standard_error(self) -> FloatArray:
        """Monte Carlo errors of `expected_wins`."""
        return np.stack([contest.standard_error for contest in self.contests])


def failure_sensitivity(
    scores: ArrayLike,
    rounds: Rounds | None = None,
    eliminate: Sequence[int] = (0, 1, 2),
    tables: ArrayLike | None = None,
    **options: Unpack[CsdOptions],
) -> FailureSensitivity:
    """Compute expected wins for several T, with the loss per T and a label for each model.

    All T use the same random numbers, contest by contest, so that differences have smaller errors
    than the values. The errors of Λ and Δ take this into account.

    The paper says that a robust generalist has Λ ≈ 0 and an aggressive specialist Λ ≪ 0, both at a
    high E[S] without elimination, and plots these two (figure 4), but gives no thresholds. Ours are
    the medians, which need no scale or constant: in the better half of the models by E[S] at the
    first T, a model whose Λ is in the upper half of all models is a generalist (it loses less than
    the typical model) and a model in the lower half is a specialist (it loses more, although it is
    better). The line between two halves is midway between the models next to it; the middle one of
    an odd number of models belongs to the lower half. A model gets a label if its E[S] and its Λ
    are both on their side of the line by more than the error of the difference, which is at most
    the sum of the model's and the line's errors, at confidence `level` with Bonferroni's correction
    over all comparisons; with `tables` they must also be on that side in a share `level` of these.

    Elimination also removes opponents. If K·T is not small in comparison with M, contests end
    early, and the models that win most lose most wins: Λ then reflects winning, not failing in some
    rounds. So a specialist must also lose more than `even_slope`. A model that wins everything
    never does, because its wins depend only on the groups' sizes, which are always the same.

    `eliminate` has the T to compare, ascending, at least two; each applies to all rounds. `tables`
    are draws of possible true scores, as in `item_intervals`, or None. Other arguments as in `csd`.

    Raises:
        RankingError: as `csd`; or `eliminate` does not ascend or has fewer than two values.
    """
    counts = tuple(int(t) for t in eliminate)
    if len(counts) < 2 or any(low >= high for low, high in pairwise(counts)):
        raise RankingError(f"eliminate must be two or more ascending numbers, got {eliminate}")
    studies = [prepare(scores, rounds, t, **options) for t in counts]
    # Also play the same contests in a field that all benchmarks order alike.
    even = [_alike(study) for study in studies]
    played = unit_sums([*studies, *even], options.get("n_jobs"))
    sums, even_sums = played[: len(counts)], played[len(counts) :]
    sizes, level = studies[0].sizes, options.get("level", 0.95)
    contests = tuple(map(result_of, studies, sums, repeat(level)))
    # Λ = Σ (n·T − ΣT)·E[S](T) / (n·ΣT² − (ΣT)²), in whole numbers.
    n, total = len(counts), sum(counts)
    weights = [n * t - total for t in counts]
    divisor = n * sum(t * t for t in counts) - total * total
    slope, slope_error = mean_and_error(np.tensordot(weights, sums, 1), sizes, divisor)
    delta, delta_error = mean_and_error(sums[-1] - sums[0], sizes)
    base, base_error = contests[0].expected_wins, contests[0].standard_error
    slopes, errors = mean_and_error(np.tensordot(weights, even_sums, 1), even[0].sizes, divisor)
    lowest = int(np.argmin(slopes[: len(base) // 2]))
    even_slope, even_error = float(slopes[lowest]), float(errors[lowest])
    high = _side(base, base_error, len(sizes), level)
    steep = _side(slope, slope_error, len(sizes), level)
    bound = critical_value(level, 2 * len(base), len(sizes)) * (slope_error + even_error)
    weak = even_slope - slope > bound + ROUNDING
    items = None
    if tables is not None:
        drawn = drawn_wins(tables, rounds, counts, **options)
        slopes = np.tensordot(weights, drawn, 1) / divisor
        high = np.where(high == _drawn_side(drawn[0], level), high, 0)
        steep = np.where(steep == _drawn_side(slopes, level), steep, 0)
        weak &= np.mean(slopes < even_slope, axis=0) >= level
        items = intervals_of(drawn[0], level)
    steep = np.where((steep < 0) & ~weak, 0, steep)
    return FailureSensitivity(
        eliminate=counts,
        contests=contests,
        items=items,
        slope=slope,
        slope_error=slope_error,
        delta=delta,
        delta_error=delta_error,
        even_slope=even_slope,
        even_error=even_error,
        labels=_labels(high, steep),
    )


def largest_elimination(n_models: int, n_rounds: int) -> int | None:
    """Largest T that leaves the better half of the field alone; None if every T does.

    Only eliminations before the last round matter: at most T·(K − 1) models are eliminated. Up to
    half of the field, these are the lowest models. Beyond, elimination reaches the models that it
    is meant to distinguish, whatever their type, and contests run out of opponents.
    """
    return n_models // (2 * (n_rounds - 1)) if n_rounds > 1 else None


def _alike(study: Study) -> Study:
    """The same contests in a field that all benchmarks order alike, the first model the best."""
    n_rounds, n_models = study.strength.shape
    strength = np.tile(np.arange(n_models)[::-1], (n_rounds, 1))
    contests = min(study.iterations, _EVEN_CONTESTS)
    return replace(study, strength=strength, iterations=contests, weights=None, control=None)


def mean_and_error(
    sums: NDArray[np.int64], sizes: NDArray[np.int64], divisor: int = 1
) -> tuple[FloatArray, FloatArray]:
    """Means and their standard errors, each of shape (M,)."""
    mean, covariance = mean_and_covariance(sums, sizes, divisor)
    return mean, np.sqrt(np.diagonal(covariance))


def _side(values: FloatArray, errors: FloatArray, units: int, level: float) -> NDArray[np.int8]:
    """Side of the line between halves: 1 = upper, −1 = lower, 0 = too close to tell."""
    half = len(values) // 2
    order = np.argsort(-values, kind="stable")
    neighbours = order[half - 1 : half + 1]
    line = values[neighbours].mean()
    # The line is the mean of its two neighbours, so the larger of their errors bounds its error.
    bound = critical_value(level, 2 * len(values), units) * (errors + errors[neighbours].max())
    sure = np.abs(values - line) > bound
    return np.where(sure, np.sign(values - line), 0).astype(np.int8)


def _drawn_side(values: FloatArray, level: float) -> NDArray[np.int8]:
    """Like `_side`, for draws of shape (draws, M): the side on which a share `level` of them is."""
    half = values.shape[1] // 2
    neighbours = -np.sort(-values, axis=1)[:, half - 1 : half + 1]
    above = np.mean(values > neighbours.mean(axis=1, keepdims=True), axis=0)
    return np.asarray(np.sign((above >= level) - 1.0 * (above <= 1 - level)), dtype=np.int8)


def _labels(base: NDArray[np.int8], slope: NDArray[np.int8]) -> tuple[Label, ...]:
    names: dict[tuple[int, int], Label] = {(1, 1): "generalist", (1, -1): "specialist"}
    return tuple(
        "neither" if high < 0 else names.get((int(high), int(steep)), "undecided")
        for high, steep in zip(base, slope, strict=True)
    )


@dataclass(frozen=True, eq=False, slots=True)
class Perturbation:
    """All models before and after a change of scores, by CSD and by plain mean score.

    `values` are the new scores of `model` in `benchmarks`. `mean_before` and `mean_after`, shape
    (M,): mean score over the benchmarks used in the rounds, with equal weights. The rank properties
    are those of `model`, 1 = best.
    """

    model: int
    benchmarks: tuple[int, ...]
    values: tuple[float, ...]
    before: CsdResult
    after: CsdResult
    mean_before: FloatArray
    mean_after: FloatArray

    @property
    def expected_wins(self) -> tuple[float, float]:
        """Expected wins of the model, before and after."""
        before, after = self.before.expected_wins, self.after.expected_wins
        return float(before[self.model]), float(after[self.model])

    @property
    def csd_ranks(self) -> tuple[int, int]:
        """Competition rank of the model by CSD, before and after."""
        return int(self.before.rank[self.model]), int(self.after.rank[self.model])

    @property
    def mean_ranks(self) -> tuple[int, int]:
        """Competition rank of the model by plain mean score, before and after."""
        before, after = competition_ranks(self.mean_before), competition_ranks(self.mean_after)
        return int(before[self.model]), int(after[self.model])


def perturb(
    scores: ArrayLike,
    model: int,
    benchmarks: Sequence[int],
    value: float | Sequence[float] = 0.0,
    rounds: Rounds | None = None,
    eliminate: int | Sequence[int] = 0,
    before: CsdResult | None = None,
    **options: Unpack[CsdOptions],
) -> Perturbation:
    """Change a model's scores in some benchmarks, and compare the ranks before and after (§4.2).

    Both contests use the same random numbers.

    `model` is a row, `benchmarks` at least one column; `value` is one score for all of them or one
    each; the paper's example is 0, a failed API. `before` is the result of `csd` for the same
    arguments, if known. Other arguments as in `csd`.

    Raises:
        RankingError: as `csd`; or there is no such model or benchmark, or `value` is not finite or
            has the wrong number of scores.
    """
    before = before or csd(scores, rounds, eliminate, **options)
    table = np.array(scores, dtype=np.float64)
    columns = tuple(int(column) for column in benchmarks)
    if not 0 <= model < len(table):
        raise RankingError(f"there is no model {model}, only 0 … {len(table) - 1}")
    if not columns or min(columns) < 0 or max(columns) >= table.shape[1]:
        raise RankingError(f"benchmarks must be some of 0 … {table.shape[1] - 1}, got {columns}")
    values = np.asarray(value, dtype=np.float64)
    if values.shape not in ((), (len(columns),)) or not np.isfinite(values).all():
        raise RankingError(f"value must be finite, one score or one a benchmark, got {value}")
    spoilt = table.copy()
    spoilt[model, list(columns)] = values
    used = sorted({column for names in rounds for column in names}) if rounds else slice(None)
    return Perturbation(
        model=model,
        benchmarks=columns,
        values=tuple(np.broadcast_to(values, len(columns)).tolist()),
        before=before,
        after=csd(spoilt, rounds, eliminate, **options),
        mean_before=np.nanmean(table[:, used], axis=1),
        mean_after=np.nanmean(spoilt[:, used], axis=1),
    )
