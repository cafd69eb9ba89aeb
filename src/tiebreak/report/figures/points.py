"""Scatter plots whose points are models: named one by one, or by number where there are many."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tiebreak.report.figures.canvas import SMALL, columns, fitting, panel, widest
from tiebreak.report.figures.labels import Label, label_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIZE = (4.8, 4.0)
_LINE = 0.165
# More names than these, or longer ones, would cover each other and the points.
_MANY, _LONG = 10, 32


def point_panel(
    names: Sequence[str], *, title: str, ylabel: str, below: Sequence[str]
) -> "tuple[Figure, Axes]":
    """An empty plot, with a key to the numbers at its right where there are many names.

    Args:
        names: of the points, each with its number in front.
        title: of the figure.
        ylabel: what the vertical axis shows.
        below: the horizontal axis, then remarks; see `panel`.
    """
    key = list(names) if _crowded(names) else []
    left, right = 0.75, widest(key, SMALL) + 0.45 if key else 0.25
    width = fitting(_SIZE[0], left + right)
    # No narrower than it is high, but as high as its key.
    height = max(min(_SIZE[1], width), _LINE * len(key))
    figure, axes = panel(
        (width, height),
        title=title,
        left=left,
        right=right,
        below=below,
    )
    axes.set_ylabel(ylabel)
    axes.grid()
    for line, name in enumerate(key):
        y = 1 - (line + 0.5) * _LINE / height
        axes.text(1.04, y, name, transform=axes.transAxes, va="center", size=SMALL)
    return figure, axes


def name_points(axes: "Axes", names: Sequence[str], points: Sequence[Label]) -> None:
    """Write beside each point its whole name, or its number alone where there is a key."""
    if not _crowded(names):
        points = [one._replace(text=name) for name, one in zip(names, points, strict=True)]
    label_points(axes, points)


def _crowded(names: Sequence[str]) -> bool:
    return len(names) > _MANY or any(columns(name) > _LONG for name in names)
