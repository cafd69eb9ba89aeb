"""Figures of a CSD contest: expected wins, the cost of elimination, the effect of changed scores.

Source: Liu et al., "LLM Swiss Round", figures 3, 4 and 5.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

import numpy as np

from tiebreak.analysis.contests import ContestReport
from tiebreak.analysis.standing import whole
from tiebreak.rankers.contests.sensitivity import FailureSensitivity
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.ranks import competition_ranks
from tiebreak.report.cells import decimal, ranks, scores
from tiebreak.report.figures.canvas import (
    BLUE,
    MUTED,
    ORANGE,
    PALE,
    PAPER,
    SMALL,
    Drawing,
    names_on_paper,
    panel,
    short,
    styled,
    widest,
)
from tiebreak.report.figures.panels import (
    SIDE_LINE,
    Label,
    draw_points,
    label_side,
    limits,
    name_points,
    point_panel,
    row_panel,
)
from tiebreak.text import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# Marker and colour of each label.
_MARKS: Final = {
    "generalist": ("o", BLUE),
    "specialist": ("^", ORANGE),
    "undecided": ("D", MUTED),
    "neither": (".", MUTED),
}
_FORMS: Final = {"generalist": "●", "specialist": "▲", "undecided": "◆", "neither": "•"}


def contest_figures(report: ContestReport) -> list[Drawing | None]:
    """All figures of a contest; None for those that were not asked for."""
    changes = [perturbation_figure(report, number) for number in range(len(report.spoilt))]
    return [wins_figure(report), sensitivity_figure(report), *changes]


def sensitivity_figure(report: ContestReport) -> Drawing | None:
    """Expected wins at the lowest T against failure sensitivity Λ, wins per T (figure 4).

    None if only one T was asked for.
    """
    sensitivity = report.sensitivity
    if sensitivity is None:
        return None
    base, slope = sensitivity.expected_wins[0], sensitivity.slope
    z = NormalDist().inv_cdf(0.5 + sensitivity.contests[0].level / 2)  # two-sided
    order = np.argsort(-base, kind="stable")
    places = [int(rank) for rank in competition_ranks(base)[order]]
    names = [f"{n}. {short(report.models[k])}" for n, k in zip(places, order, strict=True)]
    title = "CSD · what elimination costs"
    with styled():
        figure, axes = point_panel(
            names,
            title=title,
            ylabel="failure sensitivity Λ, wins per T",
            below=[
                f"expected wins E[S] at T = {sensitivity.eliminate[0]}",
                _key(sensitivity.labels),
                "number: place by E[S]",
                f"lines: {sensitivity.contests[0].level * 100:g}%, the simulation's error alone",
            ],
        )
        for model in order:
            marker, colour = _MARKS[sensitivity.labels[model]]
            x, y = float(base[model]), float(slope[model])
            dx, dy = (
                z * float(sensitivity.standard_error[0, model]),
                z * float(sensitivity.slope_error[model]),
            )
            if not math.isnan(dx):
                axes.plot([x - dx, x + dx], [y, y], color=MUTED, linewidth=1, zorder=2)
            if not math.isnan(dy):
                axes.plot([x, x], [y - dy, y + dy], color=MUTED, linewidth=1, zorder=2)
            axes.plot(x, y, marker, color=colour, markersize=6, zorder=3)
        axes.margins(0.08)
        axes.locator_params(nbins=7)
        labels = [
            Label(str(place), float(base[model]), float(slope[model]))
            for model, place in zip(order, places, strict=True)
        ]
        name_points(axes, names, labels)
    return Drawing("csd-sensitivity", title, _sensitivity_words(report.models, sensitivity), figure)


def wins_figure(report: ContestReport) -> Drawing | None:
    """Expected wins of every model for each T, with lines between tiers (figures 1, 3 and 6).

    For a single T, with their interval and ranks. None without a model.
    """
    if not report.models:
        return None
    result = report.result
    rounds = count(len(report.rounds), "round")
    if report.benchmark is not None:
        rounds = f"{short(report.benchmark)} in {count(len(report.rounds), 'tier')} of difficulty"
    title = f"CSD, {rounds} · expected wins of {count(len(report.models), 'model')}"
    with styled():
        sensitivity = report.sensitivity
        figure = (
            _rows(report, title) if sensitivity is None else _over_t(report, sensitivity, title)
        )
    best, last = int(np.argmax(result.expected_wins)), int(np.argmin(result.expected_wins))
    words = (
        f"Expected wins of {count(len(report.models), 'model')} in "
        f"{count(len(report.rounds), 'round')}: {short(report.models[best])} has the most, "
        f"{decimal(float(result.expected_wins[best]), 2)}, {short(report.models[last])} the "
        f"fewest, {decimal(float(result.expected_wins[last]), 2)}."
    )
    if report.tiers is not None and (n := int(report.tiers.max())) > 1:
        sizes = np.bincount(report.tiers)[1:]
        words += f" {n} tiers of {', '.join(map(str, sizes))} models."
    if sensitivity is not None:
        most = int(np.argmax(np.abs(sensitivity.delta)))
        words += (
            f" From T = {sensitivity.eliminate[0]} to {sensitivity.eliminate[-1]} "
            f"{short(report.models[most])} changes most, by "
            f"{decimal(float(sensitivity.delta[most]), 2)} wins."
        )
    return Drawing("csd-wins", title, words, figure)


def _rows(report: ContestReport, title: str) -> "Figure":
    result, items = report.result, report.items
    error = NormalDist().inv_cdf(0.5 + result.level / 2) * result.standard_error
    over = result if items is None else items
    most, wins = len(report.rounds), result.expected_wins
    lower = np.clip(wins - error, 0, most) if items is None else items.lower
    upper = np.clip(wins + error, 0, most) if items is None else items.upper
    percent = f"{result.level * 100:g}%"
    open_ = map(ranks, map(whole, over.rank_lower), map(whole, over.rank_upper))
    figure, axes, order = _row_panel(
        report,
        title,
        list(open_),
        "ranks",
        f"line and ranks: {percent}, "
        + ("the simulation's error alone" if items is None else "over items; all ranks at once"),
    )
    draw_points(axes, np.column_stack([wins, lower, upper])[order].tolist(), step=0.5)
    return figure


def _over_t(report: ContestReport, sensitivity: FailureSensitivity, title: str) -> "Figure":
    """A row per model with a point for every T; a higher T has a smaller point."""
    first, *rest = sensitivity.eliminate
    wins, last = sensitivity.expected_wins, sensitivity.eliminate[-1]
    figure, axes, order = _row_panel(
        report,
        title,
        # Adding 0 turns the -0.0 that rounding can leave into 0.0.
        [f"{value + 0:+.2f}" for value in sensitivity.delta.round(2).tolist()],
        f"Δ to T = {last}",
        f"T = {first}: {_key(sensitivity.labels)}",
        f"○ T = {', '.join(map(str, rest))}{': the higher T, the smaller' if rest[1:] else ''}",
    )
    sizes = np.linspace(5, 2.5, len(rest)) if rest[1:] else [4]
    for place, model in enumerate(order):
        by_t = wins[:, model]
        axes.hlines(place, by_t.min(), by_t.max(), color=PALE, linewidth=2.5, zorder=2)
        for value, size in zip(by_t[1:], sizes, strict=True):
            axes.plot(
                value, place, "o", color=MUTED, markerfacecolor=PAPER, markersize=size, zorder=3,
            )  # fmt: skip
        marker, colour = _MARKS[sensitivity.labels[model]]
        axes.plot(by_t[0], place, marker, color=colour, markersize=6, zorder=4)
    axes.set_xlim(limits(wins.ravel().tolist(), step=0.5))
    return figure


def _row_panel(
    report: ContestReport, title: str, words: Sequence[str], head: str, *remarks: str
) -> "tuple[Figure, Axes, list[int]]":
    """An empty plot with a row for every model, best first, and lines between tiers.

    `words` are shown right of the rows, in the report's order of models, and `head` above them.
    Returns the figure, its axes, and the models (columns of the report) from top to bottom.
    """
    result, tiers = report.result, report.tiers
    order = np.argsort(-result.expected_wins, kind="stable").tolist()
    starts = [0]
    if tiers is not None and tiers.max() > 1:
        starts += (np.flatnonzero(np.diff(tiers[order])) + 1).tolist()
        remarks = (*remarks, "tiers: natural breaks of E[S], a description and no test")
    tier_words = {start: f", tier {number}" for number, start in enumerate(starts, 1) if starts[1:]}
    figure, axes = row_panel(
        [f"{int(result.rank[model])}. {short(report.models[model])}" for model in order],
        title=title,
        words=[f"{words[model]}{tier_words.get(place, '')}" for place, model in enumerate(order)],
        head=head,
        below=["expected wins E[S]", *remarks],
    )
    for start in starts[1:]:
        axes.axhline(start - 0.5, color=MUTED, linewidth=0.8, zorder=1)
    return figure, axes, order


def _key(labels: Sequence[str]) -> str:
    return ", ".join(f"{form} {label}" for label, form in _FORMS.items() if label in labels)


def _sensitivity_words(models: Sequence[str], sensitivity: FailureSensitivity) -> str:
    labelled = list(zip(map(short, models), sensitivity.labels, strict=True))
    kinds = {
        kind: [model for model, label in labelled if label == kind]
        for kind in ("generalist", "specialist")
    }
    described = "; ".join(
        f"{count(len(names), kind)}{': ' + ', '.join(names[:5]) if names else ''}"
        f"{' and others' if len(names) > 5 else ''}"
        for kind, names in kinds.items()
    )
    steep = int(np.argmin(sensitivity.slope))
    return (
        f"Expected wins at T = {sensitivity.eliminate[0]} against failure sensitivity of "
        f"{count(len(models), 'model')}. {described}. The most sensitive is "
        f"{short(models[steep])}, {decimal(float(sensitivity.slope[steep]), 3)} wins per T."
    )


def perturbation_figure(report: ContestReport, number: int = 0) -> Drawing | None:
    """Ranks of all models by CSD and by mean score, before and after one model's scores change.

    That model is marked. None if there is no change of this number (0: figure 5a, 1: figure 5b).
    """
    if number >= len(report.spoilt):
        return None
    spoilt = report.spoilt[number]
    put = scores(spoilt.values)
    name, n = short(report.models[spoilt.model]), len(report.models)
    where = ", ".join(short(report.benchmarks[column]) for column in spoilt.benchmarks)
    title = f"CSD · {name} with {put} in {count(len(spoilt.benchmarks), 'benchmark')}"
    names = names_on_paper([short(model) for model in report.models], 4)
    side = widest(names, SMALL) * 1.1 + 0.4
    height = max(1.6, SIDE_LINE * 1.15 * n)
    with styled():
        figure, axes = panel(
            (3.6, height),
            title=title,
            left=side,
            right=side,
            top=0.25,
            ticks=False,
            below=["rank before → after", f"with {put} on: {where}"],
        )
        axes.set_xlim(-0.35, 3.35)
        axes.set_ylim(n + 0.5, 0.5)
        axes.set_axis_off()
        by_csd = spoilt.before.rank, spoilt.after.rank
        by_mean = competition_ranks(spoilt.mean_before), competition_ranks(spoilt.mean_after)
        _slopes(axes, 0, "CSD", *by_csd, spoilt.model)
        _slopes(axes, 2, "mean score", *by_mean, spoilt.model)
        label_side(axes, names, by_csd[0], height, left=True, marked=spoilt.model)
        label_side(axes, names, by_mean[1], height, marked=spoilt.model)
    (csd, csd_after), (mean, mean_after) = spoilt.csd_ranks, spoilt.mean_ranks
    return Drawing(
        "csd-perturbation",
        title,
        f"Ranks of {count(n, 'model')} before and after {name} gets {put} on {where}: "
        f"it goes from rank {csd} to {csd_after} by CSD, and from {mean} to {mean_after} by mean "
        "score.",
        figure,
    )


def _slopes(
    axes: "Axes", x: float, head: str, before: FloatArray, after: FloatArray, marked: int
) -> None:
    axes.text(x + 0.5, 1.01, head, transform=axes.get_xaxis_transform(), ha="center")
    for model, ends in enumerate(zip(before, after, strict=True)):
        is_marked = model == marked
        axes.plot(
            [x, x + 1], ends, "o-", color=ORANGE if is_marked else MUTED,
            linewidth=2.5 if is_marked else 0.7, markersize=5 if is_marked else 2.5,
            zorder=4 if is_marked else 2,
        )  # fmt: skip
    for at, rank, ha, dx in (x, before[marked], "right", -6), (x + 1, after[marked], "left", 6):
        axes.annotate(
            f"{int(rank)}", (at, rank), (dx, 0), textcoords="offset points", ha=ha, va="center",
            color=ORANGE, weight="bold",
        )  # fmt: skip
