"""Orders of fewer questions; scores by stars beside dates and scores elsewhere; causes of errors.

LLMEval-Fair, figures 5 and 2, finding 5 and figure 3.
"""

from collections.abc import Iterator
from typing import Any

from tiebreak.analysis.star_causes import ErrorCauses
from tiebreak.analysis.star_course import Elsewhere, StarCourse
from tiebreak.analysis.star_orders import StarOrders
from tiebreak.analysis.star_stability import StarStability
from tiebreak.rankers.intervals import Estimate
from tiebreak.report.cells import UNDEFINED, Cell, decimal, integer, number, percents, span, words
from tiebreak.report.json import json_ready
from tiebreak.report.sheet import (
    Column,
    Section,
    Sheet,
    Table,
    interval_heading,
    model_names,
    names,
    numbers,
)
from tiebreak.words import percent

ALL = "all models"


def course_sheets(report: StarStability) -> Iterator[Sheet]:
    """The parts that were asked for."""
    yield from map(_orders, report.orders)
    if report.elsewhere:
        yield _elsewhere(report)
    yield from map(_course, report.courses)
    if report.causes:
        yield _causes(report.causes)


def course_rows(report: StarStability) -> list[dict[str, Any]]:
    """Rows of dates; without any those of scores elsewhere, or else of causes."""
    rows: list[dict[str, Any]] = [
        {
            **{"benchmark": one.benchmark, "model": row.model, "series": row.series},
            **{"date": row.date.isoformat(), **_estimate(row.score)},
        }
        for one in report.courses
        for row in one.rows
    ]
    rows = rows or [
        {
            **{"benchmark": one.benchmark, "other": one.other, "n_models": len(one.models)},
            "figure": name,
            **{end: json_ready(getattr(figure, end)) for end in ("value", "lower", "upper")},
        }
        for one in report.elsewhere
        if one.agreement
        for name, figure in (
            ("spearman", one.agreement.spearman),
            ("kendall", one.agreement.kendall),
        )
    ]
    return rows or [
        {
            "model": row.model or ALL,
            "cause": cause,
            "n_labelled": row.n_labelled,
            **_estimate(share),
        }
        for row in (report.causes.rows if report.causes else ())
        for cause, share in zip(
            report.causes.causes if report.causes else (), row.shares, strict=True
        )
    ]


def _estimate(found: Estimate) -> dict[str, Any]:
    return {end: json_ready(getattr(found, end)) for end in ("value", "lower", "upper")}


def _orders(found: StarOrders) -> Sheet:
    """ρ of each way of ranking by size of the draws (LLMEval-Fair, figure 5)."""
    sizes = [point.n_clusters for point in found.curves[0].points] if found.curves else []
    rows = [
        (
            words(curve.method),
            *(
                Cell(
                    decimal(point.mean, 3),
                    json_ready(point.mean),
                    under=f"{decimal(point.lower, 2)} to {decimal(point.upper, 2)}",
                )
                for point in curve.points
            ),
        )
        for curve in found.curves
    ]
    undefined = [
        f"{curve.method}: ρ is undefined in {point.undefined} of {found.n_draws} draws of "
        f"{point.n_clusters:,}, which are left out"
        for curve in found.curves
        for point in curve.points
        if point.undefined
    ]
    columns = (names("Ranked by"), *(Column(f"{size:,}") for size in sizes))
    return Sheet(
        f"{found.benchmark} · stars · the order with fewer of {found.n_clusters:,} questions",
        sections=(
            Section.of(
                Table.of(columns, rows, "Order with fewer questions"),
                legend=[
                    "Spearman's ρ with the same way's order on all questions, mean over "
                    f"{found.n_draws} draws, the same for all ways; below it the middle 90% of "
                    "the draws",
                    "Draws are parts of the whole: ρ comes near 1 whatever the order is worth. "
                    "Elo plays its matches in one random order",
                ],
            ),
        ),
        notes=tuple(undefined),
    )


def _elsewhere(report: StarStability) -> Sheet:
    interval = Column(interval_heading(report.level), left=True)
    columns = (*(names("Benchmark"), names("Other"), Column("Models")),)
    rows = [[*_named(one), *_correlations(one)] for one in report.elsewhere]
    return Sheet(
        "Scores by stars and scores elsewhere",
        sections=(
            Section.of(
                Table.of(
                    (*columns, Column("ρ"), interval, Column("τ"), interval),
                    rows,
                    "Correlations",
                ),
                legend=[
                    "Spearman's ρ and Kendall's τ over the models that have both scores. "
                    "Intervals are over the questions judged by stars alone: the models are "
                    "taken as they are, and so are the others' scores; with few models ρ says "
                    "little about models that are not here"
                ],
            ),
        ),
    )


def _named(one: Elsewhere) -> tuple[Cell, ...]:
    return words(one.benchmark), words(one.other), integer(len(one.models))


def _correlations(one: Elsewhere) -> tuple[Cell, ...]:
    if one.agreement is None:
        return (Cell(UNDEFINED),) * 4
    figures = (one.agreement.spearman, one.agreement.kendall)
    return tuple(cell for found in figures for cell in (number(found.value, 2), span(found)))


def _course(found: StarCourse) -> Sheet:
    interval = Column(interval_heading(found.level), left=True)
    rows = [
        (
            *(Cell(row.date.isoformat(), row.date.isoformat()), words(row.series or UNDEFINED)),
            *(words(row.model), number(row.score.value, 2), _span(row.score)),
        )
        for row in found.rows
    ]
    columns = (names("Date"), names("Series"), model_names(), Column("Score"), interval)
    return Sheet(
        f"{found.benchmark} · stars by date",
        sections=(
            Section.of(
                Table.of(columns, rows, "Scores by date"),
                legend=[
                    "Share of all stars, 0 to 100 (eq. 1). Whether there is a ceiling is not tested"
                ],
            ),
        ),
        notes=found.notes,
    )


def _span(found: Estimate) -> Cell:
    if found.lower != found.lower:
        return Cell(UNDEFINED)
    return Cell(f"{decimal(found.lower, 1)}–{decimal(found.upper, 1)}", found.lower)


def _causes(found: ErrorCauses) -> Sheet:
    columns = (model_names(), *numbers("Labelled", "Below 3 ★"), *map(Column, found.causes))
    rows = [
        (
            *(words(row.model or ALL), integer(row.n_labelled), integer(row.n_below)),
            *map(_share, row.shares),
        )
        for row in found.rows
    ]
    raters = [
        (
            words(one.first),
            words(one.second),
            integer(one.n),
            number(one.kappa.value, 2),
            span(one.kappa),
        )
        for one in found.raters
    ]
    interval = interval_heading(found.level)
    return Sheet(
        "Causes of errors",
        (f"labels: {found.source}",),
        sections=(
            Section.of(
                Table.of(columns, rows, "Causes", rules=[len(rows) - 1]),
                legend=[
                    f"Share of labelled answers, below it the {interval}, for this cell alone. "
                    "Of several raters of an answer each has an equal part. Shares are of "
                    "what was labelled: draw answers at random to label, or they say nothing "
                    "of the others"
                ],
            ),
            Section.of(
                Table.of(
                    (
                        *(names("Rater"), names("Rater")),
                        *numbers("Answers", "κ"),
                        Column(interval, left=True),
                    ),
                    raters,
                    "Raters",
                ),
                legend=["Cohen's κ: 1 is full agreement, 0 what chance gives"] if raters else [],
            ),
        ),
        notes=(
            *found.notes,
            *(
                f"κ of {one.first} and {one.second}: {one.kappa.reason}"
                for one in found.raters
                if one.kappa.reason
            ),
        ),
    )


def _share(found: Estimate) -> Cell:
    shown = percent(found.value) if found.value == found.value else UNDEFINED
    known = found.lower == found.lower
    return Cell(
        shown,
        found.value if known else None,
        under=percents(found.lower, found.upper) if known else "",
    )
