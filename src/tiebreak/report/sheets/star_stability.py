"""Stability of stars: rounds and samples of questions, as table 9 of LLMEval-Fair; the rest after.

Dates, scores elsewhere and causes of errors have sheets of their own (`star_course`).
"""

import math
from collections.abc import Iterator
from itertools import chain
from typing import Any

from tiebreak.analysis.star_samples import DrawnScores, StarSamples
from tiebreak.analysis.star_stability import StarStability
from tiebreak.rankers.sampling import ExpectedVariance
from tiebreak.report.cells import UNDEFINED, Cell, decimal, number, share, words
from tiebreak.report.json import document
from tiebreak.report.sheet import Column, Section, Sheet, Table, model_names, names, numbers
from tiebreak.report.sheets.star_course import course_rows, course_sheets
from tiebreak.words import count


def sheets_of(report: StarStability) -> list[Sheet]:
    """A sheet for each part that was asked for, and each benchmark."""
    sheets = [*map(_samples_sheet, report.samples), *course_sheets(report)]
    return [sheets[0].plus(notes=report.notes), *sheets[1:]] if sheets else []


def data_of(report: StarStability) -> dict[str, Any]:
    """The fields of `StarStability` under "tiebreak/star-stability", version 1.

    The parts have the fields of `StarSamples`, `StarRound`, `SampleSize`, `SampledModel`,
    `ExpectedVariance`, `DrawnScores` and `Neighbours`, of `StarOrders`, `OrderCurve`, `OrderKept`,
    `Elsewhere`, `StarCourse`, `DatedScore`, and of `ErrorCauses`, `CauseRow` and `RaterPair`.
    """
    return document(
        "tiebreak/star-stability",
        1,
        samples=report.samples,
        orders=report.orders,
        elsewhere=report.elsewhere,
        courses=report.courses,
        causes=report.causes,
        level=report.level,
        notes=report.notes,
    )


def rows_of(report: StarStability) -> list[dict[str, Any]]:
    """One row per benchmark, model and sample: each round, each size of draws, and all.

    Without samples a row per model and date, or else per model and cause.
    """
    return list(chain.from_iterable(map(_rows, report.samples))) or course_rows(report)


def _rows(found: StarSamples) -> Iterator[dict[str, Any]]:
    for row in found.models:
        usual = {"benchmark": found.benchmark, "model": row.model, "reference": found.reference}
        for turn, relative in zip(found.rounds, row.rounds, strict=True):
            yield usual | _flat(turn.name, turn.n_items, relative)
        for size, one in zip(found.sizes, row.sizes, strict=True):
            flat = _flat(f"draws of {size.size}", size.n_items, one.mean)
            variances = {"variance": one.variance, "independent_variance": one.independent}
            yield usual | flat | {key: _known(value) for key, value in variances.items()}
        yield usual | _flat("all", found.n_items, row.whole)


def _flat(sample: str, n_items: float, relative: float) -> dict[str, Any]:
    return {
        **{"sample": sample, "n_items": n_items, "relative": _known(relative)},
        **{"variance": None, "independent_variance": None},
    }


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _samples_sheet(found: StarSamples) -> Sheet:
    n_rounds = count(len(found.rounds), "round")
    sections = [
        Section.of(_rounds_table(found), legend=_rounds_legend(found), lines=_kept(found)),
        Section.of(_sizes_table(found), legend=_sizes_legend(found), heading="Draws"),
        Section.of(_neighbours_table(found), legend=_NEIGHBOURS, heading="Order"),
    ]
    return Sheet(
        f"{found.benchmark} · stars · {n_rounds}, {count(found.n_items, 'question')}",
        (f"Scores in percent of {found.reference}'s (eq. 2)",),
        sections=tuple(section for section in sections if section.table),
        notes=found.notes,
    )


def _rounds_table(found: StarSamples) -> Table:
    columns = [Column(f"{turn.name.capitalize()} ({turn.n_items:,})") for turn in found.rounds]
    several = len(found.rounds) > 1
    more = [*numbers("Mean", "Variance", "Expected"), Column("By chance", left=True)]
    rows = []
    for row in found.models:
        cells = [words(row.model), *(number(one, 2) for one in row.rounds)]
        if several:
            variances = (row.variance, row.expected.value)
            cells += [number(row.mean, 2), *(number(one, 2) for one in variances)]
            cells.append(_by_chance(row.expected))
        rows.append([*cells, number(row.whole, 2)])
    return Table.of(
        (model_names(), *columns, *(more if several else []), Column("All")),
        rows,
        "Relative scores by round",
    )


def _by_chance(expected: ExpectedVariance) -> Cell:
    if math.isnan(expected.lower):
        return Cell(UNDEFINED)
    return Cell(f"{decimal(expected.lower, 2)}–{decimal(expected.upper, 2)}", expected.lower)


def _rounds_legend(found: StarSamples) -> Iterator[str]:
    yield "All: all questions together, each once"
    if len(found.rounds) > 1:
        level = f"{found.level * 100:g}%"
        yield (
            "Variance: over the rounds (n − 1). Expected: what other questions alone do to it. By "
            f"chance: where it lies in {level} of studies in which nothing else changes; a "
            "variance within it is sampling error, and larger samples make it smaller"
        )


def _kept(found: StarSamples) -> Iterator[str]:
    for turn in found.rounds:
        if len(found.rounds) > 1 and turn.pairs:
            order = (
                "the order of all questions"
                if turn.kept == turn.pairs
                else f"{turn.kept} of {turn.pairs} neighbours in the order of all questions"
            )
            yield f"{turn.name.capitalize()}: {order}"


def _sizes_table(found: StarSamples) -> Table:
    columns = [Column(f"{size.size:,}") for size in found.sizes]
    rows = [[words(row.model), *map(_drawn, row.sizes)] for row in found.models if row.sizes]
    same = [words("Same order"), *(share(size.same_order) for size in found.sizes)]
    return Table.of(
        (model_names(), *columns),
        [*rows, *([same] if rows else [])],
        "Draws by size",
        rules=[len(rows)],
    )


def _drawn(one: DrawnScores) -> Cell:
    """The mean, and below it the variance over draws and that of independent samples."""
    under = f"{decimal(one.variance, 2)} · {decimal(one.independent, 2)}"
    return Cell(decimal(one.mean, 2), _known(one.mean), under=under)


def _sizes_legend(found: StarSamples) -> Iterator[str]:
    yield (
        f"Mean over {count(found.n_draws, 'draw')} without replacement from the questions at hand; "
        "below it their variance · that of independent samples of this size"
    )
    yield (
        "Draws are parts of one pool and no rounds of their own: they vary less by the share of "
        "the pool that they hold. Same order: share of draws in which no neighbours change places"
    )


_NEIGHBOURS = (
    "Neighbours on the board of all questions, and where they stood the other way round: in how "
    "many rounds, in what share of draws. Apart: whether tests of all pairs tell them apart on all "
    "questions",
)


def _neighbours_table(found: StarSamples) -> Table:
    several = len(found.rounds) > 1
    sizes = [Column(f"Draws of {size.size:,}") for size in found.sizes]
    columns = (
        *(model_names("Above"), model_names("Below"), Column("Difference"), names("Apart")),
        *([Column("Rounds")] if several else []),
        *sizes,
    )
    apart = {True: "yes", False: "no", None: UNDEFINED}
    rows = [
        (
            *(words(pair.above), words(pair.below), number(pair.difference, 2)),
            words(apart[pair.apart]),
            *([Cell(f"{pair.rounds} of {pair.n_rounds}", pair.rounds)] if several else []),
            *map(share, pair.sizes),
        )
        for pair in found.neighbours
        if several or pair.sizes
    ]
    return Table.of(columns, rows, "Neighbours")
