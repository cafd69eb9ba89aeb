"""Plots with a row for every model: its name, a figure with its interval, words at the right."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tiebreak.rankers.profile import FloatArray
from tiebreak.report.figures.canvas import BLUE, MUTED, ORANGE, PALE, PAPER, SMALL, panel, widest

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH = 4.2
_HEIGHT = 0.27
# Half the height of a box, in rows.
_HALF = 0.275


def row_panel(
    names: Sequence[str],
    *,
    title: str,
    below: Sequence[str],
    words: Sequence[str] = (),
    head: str = "",
    height: float = _HEIGHT,
) -> "tuple[Figure, Axes]":
    """An empty plot whose row k, from the top, is named by `names[k]`.

    Args:
        names: of the rows, short enough.
        title: of the figure.
        below: the horizontal axis, then remarks; see `panel`.
        words: what stands right of each row.
        head: what stands above these words.
        height: of a row, in inches.
    """
    figure, axes = panel(
        (_WIDTH, height * max(len(names), 2)),
        title=title,
        left=widest(names) + 0.25,
        right=max(widest(words), widest([head], SMALL)) + 0.3 if words else 0.25,
        top=0.16 if head else 0.0,
        below=below,
    )
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(max(len(names), 2) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    right = axes.get_yaxis_transform()
    for row, text in enumerate(words):
        axes.text(1.02, row, text, transform=right, va="center")
    if head:
        axes.text(1.02, 1, head, transform=axes.transAxes, va="bottom", size=SMALL, color=MUTED)
    return figure, axes


def draw_point(
    axes: "Axes", row: float, value: float, lower: float, upper: float, *,
    marker: str = "o", colour: str = BLUE, pale: str = PALE, width: float = 2.5,
) -> None:  # fmt: skip
    """A figure and its interval; what is NaN is not drawn."""
    if math.isnan(value):
        return
    if not math.isnan(lower):
        axes.hlines(row, lower, upper, color=pale, linewidth=width, zorder=2)
    axes.plot(value, row, marker, color=colour, markersize=5.5, zorder=3)


def draw_box(axes: "Axes", row: float, values: FloatArray, mark: float) -> None:
    """A box of the middle half of some values, with their median, and a diamond at `mark`.

    Whiskers reach to the last value within 1.5 times the box's length; dots are values beyond.
    """
    from matplotlib.cbook import boxplot_stats

    [stats] = boxplot_stats(values[~np.isnan(values)])
    axes.hlines(row, stats["whislo"], stats["whishi"], color=BLUE, linewidth=1, zorder=2)
    length = stats["q3"] - stats["q1"]
    axes.barh(row, length, 2 * _HALF, stats["q1"], color=PALE, edgecolor=BLUE, zorder=3)
    axes.vlines(stats["med"], row - _HALF, row + _HALF, color=BLUE, linewidth=2, zorder=4)
    beyond = stats["fliers"]
    axes.plot(beyond, np.full(len(beyond), row), ".", color=MUTED, markersize=4, zorder=2)
    axes.plot(mark, row, "D", color=ORANGE, markeredgecolor=PAPER, zorder=5)


def limits(
    values: Sequence[float],
    *,
    step: float = 0.1,
    within: tuple[float, float] = (-math.inf, math.inf),
) -> tuple[float, float]:
    """Limits of an axis that holds all values that are defined, at whole steps."""
    defined = [value for value in values if not math.isnan(value)] or [0.0]
    low = max(math.floor(min(defined) / step + 1e-9) * step, within[0])
    high = min(math.ceil(max(defined) / step - 1e-9) * step, within[1])
    if low >= high:
        low, high = max(low - step, within[0]), min(high + step, within[1])
    room = 0.03 * (high - low)
    return low - room, high + room
