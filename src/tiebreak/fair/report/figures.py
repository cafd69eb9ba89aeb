"""Figures of star scores: orders of fewer questions, by date, causes (LLMEval-Fair, 5, 2 and 3)."""

import math
from itertools import chain
from os import PathLike
from pathlib import Path

from tiebreak.fair.analysis.star_samples import StarOrders
from tiebreak.fair.analysis.star_stability import ErrorCauses, StarCourse, StarStability
from tiebreak.report import ReportError
from tiebreak.report.cells import decimal
from tiebreak.report.figures.canvas import (
    BLUE,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    Drawing,
    distinct,
    drawn_for,
    panel,
    short,
    slug,
    styled,
)
from tiebreak.report.figures.panels import (
    Label,
    draw_points,
    limits,
    name_points,
    point_panel,
    row_panel,
)
from tiebreak.report.plot import check_plot, write_all
from tiebreak.text import count, percent


def plot_star_stability(
    report: StarStability, path: str | PathLike[str], *, width: float | None = None
) -> list[Path]:
    """Draw the orders on fewer questions, scores by date and causes of errors that a report has.

    The first drawing is written to `path`, the others add their name to it, e.g. "-dates-fair".
    """
    check_plot(path)
    with drawn_for(width):
        causes = [causes_figure(report.causes)] if report.causes else []
        drawings = distinct(
            [*map(orders_figure, report.orders), *map(dates_figure, report.courses), *causes]
        )
    if not drawings:
        raise ReportError("Nothing to draw: --plot draws --elo, --dates and --causes")
    ends = ("", *(f"-{drawing.name}" for drawing in drawings[1:]))
    return write_all(zip(drawings, ends, strict=True), path, width)


_LINES = ((BLUE, "-", "o"), (GREEN, "--", "s"), (INK, "-.", "^"), (ORANGE, ":", "D"))


def orders_figure(orders: StarOrders) -> Drawing | None:
    """Plot ρ between the orders on a draw and on all questions by draw size, for each method.

    Returns None if no ρ is defined.
    """
    curves = {
        method: [point for point in points if not math.isnan(point.mean)]
        for method, points in orders.curves.items()
    }
    known = [*chain.from_iterable(curves.values())]
    if not known:
        return None
    title = f"{short(orders.benchmark, 60)} · the order with fewer questions"
    with styled():
        figure, axes = panel(
            (4.6, 3.2),
            title=title,
            left=0.75,
            right=1.5,
            below=[
                "questions",
                f"Spearman's ρ with the order on all {count(orders.n_clusters, 'question')}, mean "
                f"of {count(orders.n_draws, 'draw')}; bands: the middle 90% of the draws",
            ],
        )
        for (method, points), (colour, line, marker) in zip(curves.items(), _LINES, strict=False):
            sizes = [point.n_clusters for point in points]
            lower, upper = [p.lower for p in points], [p.upper for p in points]
            axes.fill_between(sizes, lower, upper, color=colour, alpha=0.1, linewidth=0)
            axes.plot(
                sizes, [p.mean for p in points], linestyle=line, marker=marker, markersize=4,
                color=colour, label=method,
            )  # fmt: skip
        axes.set_ylabel("ρ")
        axes.set_ylim(*limits([*(p.lower for p in known), 1.0], within=(-1, 1)))
        axes.grid()
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    first = {method: points[0] for method, points in orders.curves.items()}
    words = ", ".join(f"{method} {decimal(point.mean, 2)}" for method, point in first.items())
    n_first = next(iter(first.values())).n_clusters
    return Drawing(
        slug("orders", orders.benchmark),
        title,
        f"How well draws of questions keep the order of all: with "
        f"{count(n_first, 'question')} ρ is {words}.",
        figure,
    )


def dates_figure(course: StarCourse) -> Drawing | None:
    """Plot scores with intervals by date; a line joins the models of each series."""
    rows = [row for row in course.rows if not math.isnan(row.score.value)]
    if not rows:
        return None
    title = f"{short(course.benchmark, 60)} · scores by date"
    names = [f"{number} {short(row.model)}" for number, row in enumerate(rows, start=1)]
    with styled():
        figure, axes = point_panel(
            names,
            title=title,
            ylabel="share of all stars, 0 to 100",
            below=[
                "date",
                f"lines: series · bars: {course.level * 100:g}% intervals over questions",
            ],
        )
        # Divided by 366, so that the last day of a leap year does not reach the next year.
        days = [row.date.year + (row.date.timetuple().tm_yday - 1) / 366 for row in rows]
        for series in sorted({row.series for row in rows if row.series}):
            members = [k for k, row in enumerate(rows) if row.series == series]
            axes.plot(
                [days[k] for k in members], [rows[k].score.value for k in members],
                color=MUTED, linewidth=1, zorder=1,
            )  # fmt: skip
        for day, row in zip(days, rows, strict=True):
            axes.vlines(day, row.score.lower, row.score.upper, color=MUTED, linewidth=2, zorder=2)
            axes.plot(day, row.score.value, "o", color=BLUE, markersize=5.5, zorder=3)
        room = max(0.1, 0.12 * (max(days) - min(days)))
        axes.set_xlim(min(days) - room, max(days) + room)
        ends = [end for row in rows for end in (row.score.value, row.score.lower, row.score.upper)]
        axes.set_ylim(*limits(ends, step=5, within=(0, 100)))
        axes.ticklabel_format(useOffset=False)
        axes.locator_params(axis="x", nbins=6)
        points = [
            Label(str(number), day, row.score.value)
            for number, (day, row) in enumerate(zip(days, rows, strict=True), start=1)
        ]
        name_points(axes, names, points)
    best = max(rows, key=lambda row: row.score.value)
    return Drawing(
        slug("dates", course.benchmark),
        title,
        f"Scores by stars of {count(len(rows), 'model')} by date. The highest is "
        f"{decimal(best.score.value, 1)}, of {short(best.model)} ({best.date.isoformat()}).",
        figure,
    )


def causes_figure(causes: ErrorCauses) -> Drawing | None:
    """Plot the share of each cause among all labelled answers, with its interval."""
    shares = causes.rows[-1].shares
    if not shares:
        return None
    title = "Causes of errors"
    with styled():
        figure, axes = row_panel(
            [short(cause) for cause in causes.causes],
            title=title,
            words=[percent(share.value) for share in shares],
            head="share",
            below=[
                f"share of {count(causes.rows[-1].n_labelled, 'labelled answer')}",
                f"lines: {causes.level * 100:g}% intervals over questions, each alone",
            ],
        )
        rows = [(share.value, share.lower, share.upper) for share in shares]
        draw_points(axes, rows, also=[0.0], within=(0, 1))
    most, named = max(zip((s.value for s in shares), causes.causes, strict=True))
    return Drawing(
        "causes",
        title,
        f"Shares of {count(len(shares), 'cause')} of errors. The commonest is {short(named)}, "
        f"{percent(most)}.",
        figure,
    )
