"""How firm are expected wins: against elimination, a few spoilt scores, and other items?

failure_sensitivity    what elimination costs each model (§2.5, eq. 6 and 7)
perturb                what a few spoilt scores of one model do to its rank (§4.2)
item_intervals         how far other items would move them: many tables, each played in contests
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

# Contests that each table is played in: beside the spread of tables their noise is small.
CONTESTS = 2 * CHUNK
# Results of pairs in all tables of a block: at most so many bytes.
_PAIRS = 200_000_000


@dataclass(frozen=True, eq=False, slots=True)
class ItemIntervals:
    """What expected wins and ranks would be with the true scores; arrays of shape (M,).

    `lower` and `upper`: for each model on its own, expected wins from 0 to K. `rank_lower` (the
    better) and `rank_upper` hold for all models together: a rank is at least one more than the
    number of models that are surely ahead, and at most M less those surely behind, as a test of all
    pairs at `level` says. docs/statistics.md has their simulated coverage; where nearly tied models
    stand beside far weaker ones, 88% of the intervals hold. Other benchmarks are not in them.
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
    """Intervals of expected wins and of ranks over items.

    Args:
        tables: shape (draws, M, B), tables of what the true scores may be, as from
            `tiebreak.analysis.contests.drawn_scores`. Scores with noise added to them would not
            do: in these, nearly tied models are further apart than in truth.
        rounds: as in `csd`.
        eliminate: as in `csd`.
        options: the other arguments of `csd`; `iterations` and those on speed do not matter.

    Raises:
        RankingError: as `csd`, or there are not several tables.
    """
    [wins] = drawn_wins(tables, rounds, [eliminate], **options)
    return intervals_of(wins, options.get("level", 0.95))


def intervals_of(wins: FloatArray, level: float) -> ItemIntervals:
    """Intervals out of the wins with each drawn table, shape (draws, M)."""
    lower, upper = np.quantile(wins, [(1 - level) / 2, (1 + level) / 2], axis=0)
    best, worst = _joint_ranks(wins, level)
    return ItemIntervals(lower, upper, best, worst, len(wins), CONTESTS, level)


def drawn_wins(
    tables: ArrayLike,
    rounds: Rounds | None,
    eliminate: Sequence[int | Sequence[int]],
    **options: Unpack[CsdOptions],
) -> list[FloatArray]:
    """Mean wins in the contests of each table, shape (draws, M), for each of `eliminate`.

    All of `eliminate` share the random numbers of their contests.
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
    """Mean wins of each table, shape (tables, M), in a block; `strength` is (tables, K, M)."""
    n_tables, n_rounds, n_models = strength.shape
    contests, eliminate = n_tables * CONTESTS, study.eliminate
    draw = draw_block((number, 3), study.seed, contests, n_models, eliminate, study.weights)
    # Rounds of all tables one after another; a contest plays those of its table.
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
    """Ranks that pairs leave open of which one is surely ahead, all pairs at once.

    Surely means by more, in units of the difference's own spread, than differences stray from
    their means in `level` of the draws, the one that strays most; then again among the pairs that
    are left, until none is sure (step-down: Romano & Wolf, JASA 100, 2005). So equal models are
    told apart in no more than 1 − `level` of all boards, however many they are.
    """
    n_models = wins.shape[1]
    first, second = np.triu_indices(n_models, 1)
    mean = wins.mean(axis=0)[first] - wins.mean(axis=0)[second]
    # Draw by draw: of a thousand models all differences of all draws are gigabytes.
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

# Contests of the field that Λ is held against: the same for all models, and its error is counted.
_EVEN_CONTESTS = 20_000


@dataclass(frozen=True, eq=False, slots=True)
class FailureSensitivity:
    """E[S] as a function of T, the number of models that are removed after each round.

    `contests` has the contest at each T, and `items` the intervals over items at the first one,
    None where `tables` were not given. The arrays have shape (M,). `slope` is Λ: the least-squares
    line through E[S](T), in wins per T (eq. 6). `delta` is E[S] at the last T less E[S] at the
    first, in wins (eq. 7 for T from 0 to 2). The paper equates it with 2Λ, which holds for T = 0, 2
    and for T = 0, 1, 2: a line through equally spaced points weighs only their mirror pairs. With
    other T it holds where E[S] is linear.

    `even_slope` is the lowest Λ of the better half of as many models where all benchmarks order
    them alike: what elimination costs at most where no model is a specialist. `even_error` is its
    Monte Carlo error.

    `labels`: "generalist" and "specialist" are the paper's; "neither" is a model of the weaker
    half, "undecided" one that the error could put on either side of a line.
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
    """Expected wins for several T, with the loss per T and a label.

    All T share the random numbers, contest by contest, so that differences between them have less
    error than each of them. The errors of Λ and Δ take this into account.

    The paper says that a robust generalist has Λ ≈ 0 and an aggressive specialist Λ ≪ 0, both at a
    high E[S] without elimination, and plots just these two (figure 4), but draws no line. Ours are
    the medians, which need no scale and no constant: in the better half of the models by E[S] at
    the first T, a model whose Λ is in the upper half of all models' is a generalist (it loses less
    than the typical model) and one in the lower half is a specialist (it loses more, although it is
    better). The line between two halves is midway between the models next to it; of an odd number
    of models the middle one belongs to the lower half. A label is given when base and Λ are both
    on their side of the line by more than the error of the difference, which is at most the sum of
    the model's and the line's, at confidence `level` with Bonferroni's correction over all
    comparisons; with `tables` they must be on that side in `level` of these as well.

    Elimination takes opponents away, too. When K·T is not small beside M, contests end early, and
    those who win most lose most: Λ then shows who wins, not who fails somewhere. So a specialist
    must also lose more than `even_slope`. A model that wins everything never does: its luck is a
    matter of the sizes of the groups alone, which are the same in every field.

    `eliminate` are the T to compare, ascending, at least two; each holds for all rounds. `tables`
    say what the true scores may be, as in `item_intervals`; None: unknown. The others are as in
    `csd`.

    Raises:
        RankingError: as `csd`; or `eliminate` does not ascend or has less than two values.
    """
    counts = tuple(int(t) for t in eliminate)
    if len(counts) < 2 or any(low >= high for low, high in pairwise(counts)):
        raise RankingError(f"eliminate must be two or more ascending numbers, got {eliminate}")
    studies = [prepare(scores, rounds, t, **options) for t in counts]
    # Beside them the same with models that all benchmarks order alike.
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
    """The largest T that leaves the better half of the field alone; None where any does.

    Only eliminations before the last round matter: at most T·(K − 1) models go out. While these
    are no more than half of the field, elimination strikes the lowest. Beyond, it has to reach
    those whom it is to tell apart, whatever they are like, and contests run out of opponents.
    """
    return n_models // (2 * (n_rounds - 1)) if n_rounds > 1 else None


def _alike(study: Study) -> Study:
    """The same contests where all benchmarks order the models alike: the first is the best."""
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
    """1 = upper half, −1 = lower half, 0 = too close to the line to tell."""
    half = len(values) // 2
    order = np.argsort(-values, kind="stable")
    neighbours = order[half - 1 : half + 1]
    line = values[neighbours].mean()
    # Values beside the line move with it; the larger of their errors bounds the line's.
    bound = critical_value(level, 2 * len(values), units) * (errors + errors[neighbours].max())
    sure = np.abs(values - line) > bound
    return np.where(sure, np.sign(values - line), 0).astype(np.int8)


def _drawn_side(values: FloatArray, level: float) -> NDArray[np.int8]:
    """As `_side`, by draws, shape (draws, M): on which side of its line `level` of them are."""
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
    """All models before and after, by CSD and by plain mean score.

    `values` are the scores that `model` gets in `benchmarks`.
    `mean_before` and `mean_after`, shape (M,): mean score over the benchmarks that the rounds use,
    each with the same weight. The rank properties are those of `model`, 1 = best.
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
    """Give one model other scores in some benchmarks, and compare the ranks (§4.2).

    Both contests use the same random numbers.

    The model (a row) gets `value` in some columns, at least one, or a value for each; the paper's
    example is 0, a failed API. `before` is what `csd` returned for the same arguments, if it was
    called. The others are as in `csd`.

    Raises:
        RankingError: as `csd`; or no such model or benchmark, or `value` is not finite
            or has not one score for each benchmark.
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
