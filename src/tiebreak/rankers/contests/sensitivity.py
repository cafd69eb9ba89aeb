"""How firm are expected wins: against elimination, and against a few spoilt scores?

failure_sensitivity    what elimination costs each model (§2.5, eq. 6 and 7)
perturb                what a few spoilt scores of one model do to its rank (§4.2)
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, repeat
from typing import Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
from tiebreak.rankers.contests.rounds import Rounds
from tiebreak.rankers.contests.study import Study, unit_sums
from tiebreak.rankers.contests.uncertainty import ItemIntervals, drawn_wins, intervals_of
from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.ranks import competition_ranks

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
        return np.stack([each.expected_wins for each in self.contests])

    @property
    def standard_error(self) -> FloatArray:
        """Monte Carlo errors of `expected_wins`."""
        return np.stack([each.standard_error for each in self.contests])


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
    beside = order[half - 1 : half + 1]
    line = values[beside].mean()
    # Values beside the line move with it; the larger of their errors bounds the line's.
    bound = critical_value(level, 2 * len(values), units) * (errors + errors[beside].max())
    sure = np.abs(values - line) > bound
    return np.where(sure, np.sign(values - line), 0).astype(np.int8)


def _drawn_side(values: FloatArray, level: float) -> NDArray[np.int8]:
    """As `_side`, by draws, shape (draws, M): on which side of its line `level` of them are."""
    half = values.shape[1] // 2
    beside = -np.sort(-values, axis=1)[:, half - 1 : half + 1]
    above = np.mean(values > beside.mean(axis=1, keepdims=True), axis=0)
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
