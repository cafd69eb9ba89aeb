"""Strengths with and without control of length or style, side by side."""

import math
from collections.abc import Iterator

from tiebreak.analysis.control import ControlView, Covariate
from tiebreak.analysis.strengths import StrengthRow
from tiebreak.report.cells import UNDEFINED, Cell, number, percents, rank, signed_bounds, words
from tiebreak.report.sheet import Column, Section, Table, interval_heading, model_names
from tiebreak.words import count, percent

_CONTROLLED = {"length": "At equal length", "style": "At equal style"}
_TWICE = {
    "length": "twice as long",
    "headings": "with twice as many headings",
    "lists": "with twice as many list entries",
    "bold": "with twice as much in bold",
}


def control_section(found: ControlView) -> Section:
    """Both views by the order of the controlled one, and what each difference does."""
    views = (found.uncontrolled, found.controlled)
    by_model = [{row.model: row for row in view.rows} for view in views]
    order = [row.model for row in (found.controlled.rows or found.uncontrolled.rows)]
    heading = interval_heading(found.controlled.level)
    columns = [
        column
        for title in ("Bradley–Terry", _CONTROLLED[found.control])
        for column in (
            Column(title, short=title.replace("–", "–\n")),
            Column(heading, left=True),
            Column("Rank", short="#"),
        )
    ]
    rows = [
        (words(model), *(cell for rows in by_model for cell in _strength(rows.get(model))))
        for model in order
    ]
    table = Table.of((model_names(), *columns), rows, f"Control for {found.control}")
    return Section.of(table if rows else None, legend=_legend(found), lines=_lines(found))


def _strength(row: StrengthRow | None) -> tuple[Cell, ...]:
    if row is None:
        return (Cell(UNDEFINED),) * 3
    return number(row.value, 2), signed_bounds(row.lower, row.upper), rank(row.rank)


def _legend(found: ControlView) -> Iterator[str]:
    if found.controlled.rows:
        yield (
            f"Control for {found.control}: Bradley–Terry with the difference between two answers, "
            f"{count(found.controlled.n_results, 'result')}, {found.controlled.draws:,} draws over "
            "items (95% intervals held the truth in 90–95% of simulated logs). It decides nothing; "
            "where better answers are longer it takes that from them"
        )


def _lines(found: ControlView) -> Iterator[str]:
    """What the differences do, and why there is something that is not shown."""
    shown = found.covariates if found.controlled.rows else ()
    yield from (_effect(one) for one in shown if one.n_differ)
    if same := [one.name for one in shown if not one.n_differ]:
        yield f"Answers that met do not differ in {', '.join(same)}"
    if found.controlled.reason:
        yield f"Control for {found.control}: {found.controlled.reason}"
    if found.n_left_out and found.controlled.n_results:
        yield (
            f"{count(found.n_left_out, 'result')} left out of both: the log does not say how their "
            "answers look"
        )


def _effect(one: Covariate) -> str:
    won, lower, upper = one.twice
    within = "" if math.isnan(lower) else f" ({percents(lower, upper)})"
    return (
        f"Of two answers by equal models the one {_TWICE[one.name]} wins {percent(won)}{within}; "
        f"they differ in {count(one.n_differ, 'result')}"
    )
