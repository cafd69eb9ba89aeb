"""The star board: absolute, relative and subject scores of models judged by stars.

LLMEval-Fair, §2.3.2 and tables 1, 2 and 8. All logs of one benchmark that were judged by stars are
one board: the models may have answered the same questions (`paired`), partly the same ones
(`linked`), or different ones (`unlinked`). Equation 2 compares scores "on the same question set";
if the sets differ, the board says so and its tests allow for it (`rankers.linked`).

Several benchmarks, or styles of prompting one, are compared side by side (table 2). If the same
questions were asked in several, their differences and their mean are paired by question.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tiebreak.analysis.constant_answers import ConstantAnswers, constant_answers
from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.finding import Finding, shortened
from tiebreak.analysis.judge.canaries import canaries_of
from tiebreak.analysis.judge.figures import Juror, judge_figures, jurors_of
from tiebreak.analysis.judge.raters import Raters, raters_of
from tiebreak.analysis.leaderboard import judges_of
from tiebreak.analysis.receipt import Receipt, receipt_of
from tiebreak.analysis.remarks import media_note, unscored_warning
from tiebreak.analysis.standing import Placed, best_first, mean, whole
from tiebreak.analysis.star_table import Design, StarTable, scored, star_parts, star_table, tests_of
from tiebreak.analysis.trust import trust_of
from tiebreak.analysis.verdict import BoardVerdict, board_verdict
from tiebreak.candidates.settings import Different, different
from tiebreak.paths import Paths
from tiebreak.rankers import competition_ranks
from tiebreak.rankers.intervals import Estimate, mean_in_bounds, paired_interval
from tiebreak.rankers.linked import LinkedScores, linked_scores, relative_scores
from tiebreak.rankers.pairwise_tests import Pair, Separation
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.ranking_logs.log import RankingLog
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.reason import Reason, Remark
from tiebreak.scorers.rules import RULES
from tiebreak.text import count


@dataclass(frozen=True, slots=True)
class StyleRow:
    """One model over benchmarks, in the order of the report's boards; scores are 0 to 100.

    `mean` is the unweighted mean of the `scores`; `differences` are each other benchmark's score
    minus that of the first, in points.
    """

    model: str
    mean: Estimate
    scores: tuple[float, ...]
    differences: tuple[Estimate, ...]


MAX_STARS = 3
BARE_STARS = 2
MAX_SCORE = 100.0
_SUBJECT = 10.0


@dataclass(frozen=True, slots=True)
class StarRow(Placed):
    """One model on a star board.

    `score` ranks the models, 0 to 100. It equals `absolute`, the percentage of the possible stars
    that the answers got (eq. 1), corrected in a linked design by the items that models share.
    `lower`, `upper` and `error` (standard error) belong to `score`. `relative` is the score as a
    percentage of the reference's (eq. 2); `subjects` are absolute scores by part of the benchmark,
    0 to 10, in the order of `StarBoard.subjects`. `n_items` answers were asked for; `n_unscored` of
    them have no usable verdict and are left out. `mean_stars` is 0 to 3, and `shares` are the
    shares of answers with 0, 1, 2 and 3 stars (a jury's mean is rounded). `rank_lower` and
    `rank_upper` cover the true ranks of all models at once with the board's level.
    """

    NAME = "score"

    rank_lower: int | None
    rank_upper: int | None
    error: float
    absolute: float
    relative: Estimate
    subjects: tuple[Estimate, ...]
    n_items: int
    n_unscored: int
    mean_stars: float
    shares: tuple[float, ...]

    @property
    def score(self) -> float:
        """The score, 0 to 100."""
        return self.value


@dataclass(frozen=True, slots=True)
class StarPair(Pair[str]):
    """Two models of a star board; `n_items` counts the rows that both were asked.

    `difference` is the difference of their scores, in points of 100, `error` its standard error;
    `lower` and `upper` bound it for this pair alone.
    """

    error: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class StarBoard:
    """The board of one benchmark judged by stars, over all its logs.

    `design` says how far the models' items overlap, `anchors` is the number of rows that all
    models were asked; there are `n_items` items. `reference` is the model of which relative scores
    are shares; unless it was `chosen` beforehand it is the first of this board, and intervals are
    relative to the truly best model. `correlation` is that of two models' scores in one item, NaN
    if they share none. `verdict` is based on `pairs`. `constants` are the constant answers scored
    by the items' keys. `logs` are the paths of logs, `judges` gave the stars; `jury` has each judge
    of several, and `raters` the people who voted and their agreement, None without votes.
    """

    benchmark: str
    verdict: BoardVerdict
    design: Design
    n_items: int
    anchors: int
    correlation: float
    reference: str
    chosen: bool
    subjects: tuple[str, ...]
    rows: tuple[StarRow, ...]
    pairs: tuple[StarPair, ...]
    constants: ConstantAnswers
    judges: tuple[str, ...]
    jury: tuple[Juror, ...]
    raters: Raters | None
    logs: tuple[str, ...]
    level: float
    draws: int
    seed: int
    receipt: Receipt
    settings_differ: Different
    warnings: tuple[Reason, ...]
    notes: tuple[Remark, ...]

    @property
    def constant_score(self) -> float:
        """The absolute score of the best constant answers without an explanation.

        A right answer alone gets 2 of 3 stars, a wrong one none (LLMEval-Fair, figure 11).
        """
        return MAX_SCORE * BARE_STARS / MAX_STARS * self.constants.share


@dataclass(frozen=True, slots=True, repr=False)
class StarReport(Finding):
    """The star boards of some logs, sorted by benchmark.

    `styles` are the models that were judged on every one of several boards, best mean first.
    """

    boards: tuple[StarBoard, ...]
    styles: tuple[StyleRow, ...]

    def __str__(self) -> str:
        names = shortened([board.benchmark for board in self.boards])
        models = len({row.model for board in self.boards for row in board.rows})
        return f"{names}: {count(models, 'model')} judged by stars"


def star_report(
    paths: Paths, *, reference: str | None = None, how: Resampling = Resampling()
) -> StarReport:
    """The star boards of all logs judged by stars in some files and folders.

    `reference` is the model of which relative scores are shares, None for the best of each board.
    Draws and seed of `how` are for intervals relative to the best model.

    Raises:
        RankingLogError: a path holds no ranking log.
        AnalysisError: no log was judged by stars, or no board has the reference.
        ValueError: level or draws are out of range.
    """
    report = star_report_of(
        read_ranking_logs(paths, with_votes=False), reference=reference, how=how
    )
    if report is None:
        raise no_stars()
    return report


def star_report_of(
    logs: Iterable[RankingLog], *, reference: str | None = None, how: Resampling = Resampling()
) -> StarReport | None:
    """As `star_report`, for logs that were read already; None if none was judged by stars.

    Raises:
        AnalysisError: `reference` is given, and no board has that model.
    """
    parts = star_parts(logs)
    tables = {name: star_table(of_benchmark) for name, of_benchmark in parts.items()}
    tables = {name: table for name, table in tables.items() if table.models}
    if not tables:
        return None
    check_reference(reference, {model for table in tables.values() for model in table.models})
    remarks = (
        note for of_benchmark in parts.values() for part in of_benchmark for note in part.notes
    )
    notes = tuple(dict.fromkeys(remarks))
    scores = {name: scored(table) for name, table in tables.items()}
    boards = [
        star_board(name, table, scores[name], reference if reference in table.models else None, how)
        for name, table in tables.items()
    ]
    # Notes of logs are about files, not benchmarks: show them once, on the first board.
    boards[0] = replace(boards[0], notes=(*boards[0].notes, *notes))
    return StarReport(tuple(boards), styles_of(tables, scores, how))


def no_stars() -> AnalysisError:
    """The error for logs of which none was judged by stars."""
    return AnalysisError(
        "No log was judged by stars. Judge answers by stars: inspect eval tiebreak/stars -T "
        "candidates=LOGS --model-role judge=MODEL"
    )


def check_reference(reference: str | None, known: Collection[str]) -> None:
    """Raise AnalysisError for a reference that is not among the known models."""
    if reference is not None and reference not in known:
        raise AnalysisError(
            f"--reference: no answer of {reference!r} was judged by stars; there are: "
            f"{', '.join(sorted(known))}"
        )


def star_board(
    name: str, table: StarTable, scores: LinkedScores, reference: str | None, how: Resampling
) -> StarBoard:
    """The board of one benchmark from its scores; `reference` is one of its models or None."""
    ranks = competition_ranks(scores.score)
    order = best_first(ranks, table.models)
    tests = tests_of(scores, table, order, how)
    judge, jury = judge_figures(table.items, how=how), jurors_of(table.items, how=how)
    raters = raters_of(table.items, table.seconds, how=how) if table.seconds else None
    unscored = unscored_warning(table.items, "stars")
    canaries = canaries_of(table.canaries, how=how)
    trust = trust_of(
        judge,
        RULES["stars"],
        unscored=unscored,
        jury=jury,
        canaries=canaries,
        people=raters is not None,
    )
    base = table.models.index(reference) if reference else None
    planted = [canary.ballots for canary in table.canaries if canary.ballots]
    receipt = receipt_of([*table.items, *planted])
    return StarBoard(
        benchmark=name,
        verdict=board_verdict(
            tests, table.models, table.native, table.clusters, trust=trust, n_items=table.n_items
        ),
        design=table.design,
        n_items=table.n_items,
        anchors=table.anchors,
        correlation=scores.correlation,
        reference=reference or (table.models[order[0]] if order else ""),
        chosen=reference is not None,
        subjects=_subjects(table),
        rows=tuple(_rows(table, scores, tests, ranks, base, how)),
        pairs=tuple(_pairs(table, scores, tests)),
        constants=constant_answers(Counter(table.keys)),
        judges=judges_of(table.items),
        jury=jury,
        raters=raters,
        logs=table.logs,
        level=how.level,
        draws=how.draws,
        seed=how.seed,
        receipt=receipt,
        settings_differ=different(table.settings),
        warnings=tuple(filter(None, [unscored, _judges_warning(table)])),
        notes=(*table.notes, *media_note(table.items)),
    )


def _rows(
    table: StarTable,
    scores: LinkedScores,
    tests: Separation,
    ranks: Sequence[float] | NDArray[np.float64],
    base: int | None,
    how: Resampling,
) -> Iterable[StarRow]:
    place = {column: number for number, column in enumerate(tests.order)}
    n = int(np.sum(np.any(scores.influence != 0, axis=1)))
    shares = relative_scores(
        scores.score, scores.covariance, n, reference=base, pseudo=scores.pseudo, how=how
    )
    subjects = _subject_scores(table, how.level)
    for column in (*tests.order, *(c for c in range(len(table.models)) if c not in place)):
        error, clusters = float(scores.error[column]), int(scores.n_clusters[column])
        value = mean_in_bounds(float(scores.score[column]), error, clusters, level=how.level)
        stars = MAX_STARS * table.scores[:, column]
        known = np.rint(stars[~np.isnan(stars)])
        at = place.get(column)
        asked = int(table.asked[:, column].sum())
        yield StarRow(
            rank=whole(ranks[column]),
            model=table.models[column],
            value=MAX_SCORE * value.value,
            lower=MAX_SCORE * value.lower,
            upper=MAX_SCORE * value.upper,
            rank_lower=None if at is None else tests.rank_lower[at],
            rank_upper=None if at is None else tests.rank_upper[at],
            error=MAX_SCORE * error,
            absolute=MAX_SCORE * float(scores.own[column]),
            relative=times(shares[column], MAX_SCORE),
            subjects=tuple(subject[column] for subject in subjects),
            n_items=asked,
            n_unscored=asked - known.size,
            mean_stars=MAX_STARS * float(scores.own[column]),
            shares=tuple(
                float(np.mean(known == k)) if known.size else math.nan for k in range(MAX_STARS + 1)
            ),
        )


def _subjects(table: StarTable) -> tuple[str, ...]:
    return tuple(sorted({subject for subject in table.subjects if subject}))


def _subject_scores(table: StarTable, level: float) -> list[tuple[Estimate, ...]]:
    """The models' absolute scores in each subject, 0 to 10, from the items of that subject."""
    named = np.array(table.subjects)
    scores = []
    for subject in _subjects(table):
        rows = np.flatnonzero(named == subject)
        clusters = [table.clusters[row] for row in rows]
        linked = linked_scores(table.scores[rows], clusters, link=False)
        scores.append(
            tuple(
                times(mean_in_bounds(float(mean), float(error), int(n), level=level), _SUBJECT)
                for mean, error, n in zip(linked.own, linked.error, linked.n_clusters, strict=True)
            )
        )
    return scores


def _pairs(table: StarTable, scores: LinkedScores, tests: Separation) -> Iterable[StarPair]:
    covariance, pseudo, shared = scores.covariance, scores.pseudo, table.shared
    for pair in tests.pairs:
        above, below = pair.above, pair.below
        variance = (
            covariance[above, above] + covariance[below, below] - 2 * covariance[above, below]
        )
        lower, upper = paired_interval(pseudo[:, above] - pseudo[:, below], tests.level)
        yield StarPair(
            above=table.models[above],
            below=table.models[below],
            n_items=int(shared[above, below]),
            difference=MAX_SCORE * float(np.clip(pair.difference, -1, 1)),
            p=pair.p,
            p_adjusted=pair.p_adjusted,
            apart=pair.apart,
            untested=pair.untested,
            error=MAX_SCORE * math.sqrt(max(variance, 0.0)) if variance == variance else math.nan,
            lower=MAX_SCORE * lower,
            upper=MAX_SCORE * upper,
        )


def _judges_warning(table: StarTable) -> Reason | None:
    by_judge: dict[tuple[str, ...], set[str]] = {}
    for item in table.items:
        judges = tuple(sorted({call.model for call in item.calls if call.kind == "score"}))
        if judges:
            by_judge.setdefault(judges, set()).update(item.models)
    if len({frozenset(models) for models in by_judge.values()}) < 2:
        return None
    judged = [
        Reason("judged_by", judges=judges, models=shortened(sorted(models)))
        for judges, models in sorted(by_judge.items())
    ]
    return Reason("different_judges", judged=judged)


def times(estimate: Estimate, factor: float) -> Estimate:
    """The estimate with its bounds multiplied by `factor`, to change its unit."""
    return replace(
        estimate,
        value=factor * estimate.value,
        lower=factor * estimate.lower,
        upper=factor * estimate.upper,
    )


def styles_of(
    tables: Mapping[str, StarTable], scores: Mapping[str, LinkedScores], how: Resampling
) -> tuple[StyleRow, ...]:
    """Models over several benchmarks, best mean first; empty unless all share some model."""
    names = tuple(tables)
    shared = set.intersection(*(set(table.models) for table in tables.values()))
    if len(names) < 2 or not shared:
        return ()
    clusters = sorted({cluster for table in tables.values() for cluster in table.clusters})
    number = {cluster: at for at, cluster in enumerate(clusters)}
    rows = [
        _row(model, [_moves(tables[n], scores[n], model, number) for n in names], how.level)
        for model in sorted(shared)
    ]
    return tuple(sorted(rows, key=lambda row: -row.mean.value))


def _moves(
    table: StarTable, scores: LinkedScores, model: str, number: Mapping[str, int]
) -> tuple[float, FloatArray]:
    """A model's score on one benchmark, and the influence of each cluster of all benchmarks."""
    column = table.models.index(model)
    moves = np.zeros(len(number))
    # Rows of `influence` are in the order of `per_item`, which sorts clusters by name.
    moves[[number[cluster] for cluster in sorted(set(table.clusters))]] = scores.influence[
        :, column
    ]
    return float(np.clip(scores.score[column], 0, 1)), moves


def _row(model: str, benchmarks: Sequence[tuple[float, FloatArray]], level: float) -> StyleRow:
    scores = [score for score, _ in benchmarks]
    moves = np.mean([moved for _, moved in benchmarks], axis=0)
    n = int(np.sum(np.any([moved != 0 for _, moved in benchmarks], axis=0)))
    error = float(np.sqrt(np.sum(moves**2) * n / (n - 1))) if n > 1 else float("nan")
    average = mean(scores) if not np.isnan(scores).any() else float("nan")
    first, before = benchmarks[0]
    return StyleRow(
        model=model,
        mean=times(mean_in_bounds(average, error, n, level=level), MAX_SCORE),
        scores=tuple(MAX_SCORE * score for score in scores),
        differences=tuple(
            _difference(first, before, *benchmark, level) for benchmark in benchmarks[1:]
        ),
    )


def _difference(
    first: float, before: FloatArray, score: float, after: FloatArray, level: float
) -> Estimate:
    moved = (before != 0) | (after != 0)
    gaps = (score - first) + moved.sum() * (after - before)[moved]
    if np.isnan(gaps).any():
        return Estimate(float("nan"), float("nan"), float("nan"), 0, Reason("no_scored_item"))
    lower, upper = paired_interval(gaps, level)
    return times(Estimate(score - first, lower, upper, int(moved.sum())), MAX_SCORE)
