"""Plots with a row or a point for every model, and names that do not overlap.

A row has the model's name, a figure with its interval, and words at the right. Points have names,
or numbers with a key if there are many.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tiebreak.rankers.profile import FloatArray
from tiebreak.report.figures.canvas import (
    BLUE,
    INK,
    MUTED,
    ORANGE,
    PALE,
    PAPER,
    SMALL,
    columns,
    fitting,
    names_on_paper,
    panel,
    text_width,
    widest,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# Offsets of a label from its point, in typographic points; the first that is free is used.
_PLACES = [
    (side * 6.0, up * (6.0 + 10 * far)) for far in range(7) for side in (1, -1) for up in (1, -1)
]

_LABEL, _ROOM = 8.0, 1.5  # font size of a label and the free space around it, in points

EVERYWHERE = (-math.inf, math.inf)
"""No limits of an axis."""

SIDE_LINE = 0.165
"""Least distance between two names at the side of a plot, in inches."""


class Label(NamedTuple):
    """A name, and the point of the data that it belongs to."""

    text: str
    x: float
    y: float


def label_points(axes: "Axes", labels: Sequence[Label]) -> None:
    """Write a name beside each point where it covers no point, no other name and no other text.

    Among free positions those that no line crosses are preferred. If none is free, the name goes
    where it covers least. The limits of the axes and their position in the figure must be final.
    """
    # matplotlib computes data limits only when they are asked for.
    axes.get_xlim(), axes.get_ylim()
    # All boxes are in points, like the offsets: left, bottom, right, top.
    per_point = axes.figure.dpi / 72
    frame = np.array(axes.get_window_extent().extents) / per_point
    at = axes.transData.transform([(label.x, label.y) for label in labels]) / per_point
    texts = [np.array(text.get_window_extent().extents) / per_point for text in axes.texts]
    taken = np.array([*texts, *np.hstack([at - 4, at + 4])])
    lines = [
        line.get_transform().transform(line.get_path().interpolated(100).vertices) / per_point
        for line in axes.lines
    ]
    on_lines = np.tile(np.concatenate([np.empty((0, 2)), *lines]), 2)
    for (text, x, y), point in zip(labels, at, strict=True):
        boxes = _boxes(point, text_width(text, _LABEL) * 72, _LABEL * 1.1)
        outside = np.any(boxes[:, :2] < frame[:2], axis=1) | np.any(
            boxes[:, 2:] > frame[2:], axis=1
        )
        # Crossing lines counts less than covering one box, leaving the plot more than all boxes.
        crossed = np.minimum(_overlaps(boxes, on_lines), 0.5)
        chosen = int(np.argmin(_overlaps(boxes, taken) + crossed + len(taken) * outside))
        taken = np.vstack([taken, boxes[chosen]])
        dx, dy = _PLACES[chosen]
        axes.annotate(
            text,
            (x, y),
            (dx, dy),
            textcoords="offset points",
            ha="left" if dx > 0 else "right",
            va="center",
            fontsize=_LABEL,
            annotation_clip=False,
            # A name that is not next to its point gets a line to it.
            arrowprops={
                "arrowstyle": "-",
                "color": MUTED,
                "lw": 0.5,
                "shrinkA": 0,
                "shrinkB": 4,
                "relpos": (0 if dx > 0 else 1, 0.5),
            }
            if abs(dy) > 6
            else None,
        )


def label_side(
    axes: "Axes",
    names: Sequence[str],
    values: FloatArray,
    height: float,
    *,
    left: bool = False,
    marked: int | None = None,
) -> None:
    """Write names at the side of a plot, each as near to its value as the other names allow.

    `values`, shape (names,), are on the vertical axis of `axes`, whose limits must be final. The
    `height` of the plot, in inches, must be at least `SIDE_LINE` per name. `marked` is the index of
    a name in bold.
    """
    bottom, top = axes.get_ylim()
    at = (values - bottom) / (top - bottom)
    line = SIDE_LINE / height
    places = spread(at, line, line / 2, 1 - line / 2)
    edge, outward = (0, -1 / _width(axes)) if left else (1, 1 / _width(axes))
    inner, outer, end = (edge + outward * inches for inches in (0.04, 0.16, 0.2))
    for number, (name, value, place) in enumerate(zip(names, at, places, strict=True)):
        is_marked = number == marked
        axes.plot(
            [inner, outer], [value, place], color=MUTED, linewidth=0.5, transform=axes.transAxes,
            clip_on=False, scalex=False, scaley=False,
        )  # fmt: skip
        axes.text(
            end, place, name, transform=axes.transAxes, size=SMALL, va="center",
            ha="right" if left else "left", color=ORANGE if is_marked else INK,
            weight="bold" if is_marked else "normal",
        )  # fmt: skip


def spread(values: FloatArray, gap: float, low: float, high: float) -> FloatArray:
    """Positions as near to `values` as possible, at least `gap` apart and in [`low`, `high`].

    Least squares: a position minus the gaps before it is the isotonic regression of its value.
    `values`, shape (n,), are in any order, and positions are returned in the same order; the caller
    must ensure that n gaps fit in.
    """
    from scipy.optimize import isotonic_regression

    order = np.argsort(values, kind="stable")
    steps = gap * np.arange(len(values))
    fit = isotonic_regression(values[order] - steps).x
    places = np.empty(len(values))
    places[order] = np.clip(fit, low, max(low, high - gap * (len(values) - 1))) + steps
    return places


def _width(axes: "Axes") -> float:
    """The width of a plot, in inches."""
    return axes.get_position().width * axes.figure.bbox.width / axes.figure.dpi


def _boxes(point: FloatArray, width: float, height: float) -> FloatArray:
    """The box of a text at each of `_PLACES` beside a point, shape (places, 4)."""
    x, y = (point + np.array(_PLACES)).T
    left = np.where(np.array(_PLACES)[:, 0] > 0, x, x - width)
    return np.stack([left, y - height / 2, left + width, y + height / 2], axis=1)


def _overlaps(boxes: FloatArray, taken: FloatArray) -> FloatArray:
    """How many of the `taken` boxes each box overlaps, shape (boxes,)."""
    low, high = boxes[:, None, :2] - _ROOM, boxes[:, None, 2:] + _ROOM
    apart = np.any((high < taken[:, :2]) | (low > taken[:, 2:]), axis=2)
    count: FloatArray = np.sum(~apart, axis=1, dtype=np.float64)
    return count


_SIZE = (4.8, 4.0)
# More names, or names of more columns, would cover each other and the points.
_MANY, _LONG = 10, 32


def point_panel(
    names: Sequence[str], *, title: str, ylabel: str, below: Sequence[str]
) -> "tuple[Figure, Axes]":
    """An empty plot for points, with a key to their numbers at the right if there are many.

    Each name must begin with its number; `below` is as in `panel`.
    """
    key = names_on_paper(names) if _crowded(names) else []
    left, right = 0.75, widest(key, SMALL) + 0.45 if key else 0.25
    width = fitting(_SIZE[0], left + right)
    # Not higher than wide, unless its key or the label of its axis needs the height.
    height = max(min(_SIZE[1], width), SIDE_LINE * len(key), widest([ylabel]))
    figure, axes = panel((width, height), title=title, left=left, right=right, below=below)
    axes.set_ylabel(ylabel)
    axes.grid()
    for line, name in enumerate(key):
        y = 1 - (line + 0.5) * SIDE_LINE / height
        x = 1 + 0.2 / _width(axes)
        axes.text(x, y, name, transform=axes.transAxes, va="center", size=SMALL)
    return figure, axes


def name_points(axes: "Axes", names: Sequence[str], points: Sequence[Label]) -> None:
    """Write beside each point its whole name, or only its number if the plot has a key."""
    if _width(axes) < 2.5:
        axes.locator_params(axis="x", nbins=int(_width(axes)))
    if not _crowded(names):
        points = [point._replace(text=name) for name, point in zip(names, points, strict=True)]
    label_points(axes, points)


def _crowded(names: Sequence[str]) -> bool:
    longest = min(_LONG, 4 * fitting(_LONG))
    return len(names) > _MANY or any(columns(name) > longest for name in names)


_WIDTH = 4.2
_HEIGHT = 0.27
# Width of a lane of bars, in inches.
_BAR = 0.075
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
    bars: Sequence[Sequence[tuple[int, int]]] = (),
) -> "tuple[Figure, Axes]":
    """An empty plot whose row k from the top has the name `names[k]`, shortened for the paper.

    `words` are shown right of each row, and `head` above them; `below` is as in `panel`. The height
    of a row is in inches. `bars` are lanes left of the plot, each with (first, last) rows of bars.
    """
    names = names_on_paper(names)
    figure, axes = panel(
        (_WIDTH, height * max(len(names), 2)),
        title=title,
        left=widest(names) + 0.25 + _BAR * len(bars),
        right=max(widest(words), widest([head], SMALL)) + 0.3 if words else 0.25,
        top=0.16 if head else 0.0,
        below=below,
    )
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(max(len(names), 2) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0, pad=3.5 + 72 * _BAR * len(bars))
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    right = axes.get_yaxis_transform()
    inch = 1 / _width(axes)
    beside = 1 + 0.1 * inch
    for number, lane in enumerate(bars):
        x = -inch * (0.05 + _BAR * (len(bars) - 1 - number))
        for first, last in lane:
            axes.plot([x, x], [first - 0.3, last + 0.3], color=MUTED, linewidth=2.5,
                      transform=right, clip_on=False)  # fmt: skip
    for row, text in enumerate(words):
        axes.text(beside, row, text, transform=right, va="center")
    if head:
        axes.text(beside, 1, head, transform=axes.transAxes, va="bottom", size=SMALL, color=MUTED)
    return figure, axes


def slope_panel(
    names: Sequence[str], groups: Sequence[str], *, title: str, below: Sequence[str]
) -> "tuple[Figure, Axes]":
    """An empty plot with a row per name, `names` at the right, and room for `groups` left."""
    names = names_on_paper(names)
    figure, axes = panel(
        (2.6, _HEIGHT * 0.75 * max(len(names), 3)),
        title=title,
        left=max(widest(groups), 0.4) + 0.3,
        right=widest(names) + 0.25,
        ticks=False,
        below=below,
    )
    beside = 0.1 / _width(axes)
    axes.set_xlim(-beside, 1 + beside)
    axes.set_ylim(max(len(names), 2) - 0.5, -0.5)
    axes.set_xticks([])
    axes.tick_params(axis="y", length=0)
    axes.spines[:].set_visible(False)
    for row, name in enumerate(names):
        axes.text(1 + beside, row, name, transform=axes.get_yaxis_transform(), va="center")
    return figure, axes


def draw_point(
    axes: "Axes", row: float, value: float, lower: float, upper: float, *,
    marker: str = "o", colour: str = BLUE, pale: str = PALE, width: float = 2.5,
) -> None:  # fmt: skip
    """Draw a figure and its interval; NaN is not drawn."""
    if math.isnan(value):
        return
    if not math.isnan(lower):
        axes.hlines(row, lower, upper, color=pale, linewidth=width, zorder=2)
    axes.plot(value, row, marker, color=colour, markersize=5.5, zorder=3)


def draw_points(
    axes: "Axes", rows: Sequence[Sequence[float]], *, colours: Sequence[str] = (),
    also: Sequence[float] = (), step: float = 0.1, within: tuple[float, float] = EVERYWHERE,
) -> None:  # fmt: skip
    """Draw a figure and its interval (value, lower, upper) in each row, and set the axis' limits.

    The axis also includes the values `also`; `step` and `within` are as in `limits`.
    """
    for place, (value, lower, upper) in enumerate(rows):
        colour = colours[place] if colours else BLUE
        draw_point(axes, place, value, lower, upper, colour=colour)
    values = [end for ends in rows for end in ends]
    axes.set_xlim(limits([*values, *also], step=step, within=within))


def draw_box(axes: "Axes", row: float, values: FloatArray, mark: float) -> None:
    """Draw a box of the middle half of the values, with their median, and a diamond at `mark`.

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
    values: Sequence[float], *, step: float = 0.1, within: tuple[float, float] = EVERYWHERE
) -> tuple[float, float]:
    """Limits of an axis with all defined values: multiples of `step`, `within` bounds, and room."""
    defined = [value for value in values if not math.isnan(value)] or [0.0]
    # 1e-9: rounding errors must not move a value that is on a step to the next one.
    low = max(math.floor(min(defined) / step + 1e-9) * step, within[0])
    high = min(math.ceil(max(defined) / step - 1e-9) * step, within[1])
    if low >= high:
        low, high = max(low - step, within[0]), min(high + step, within[1])
    room = 0.03 * (high - low)
    return low - room, high + room
