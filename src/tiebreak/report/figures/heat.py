"""Heat maps: tables whose cells are coloured, and say what they hold."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tiebreak.rankers.profile import FloatArray
from tiebreak.report.figures.canvas import MUTED, PAPER, panel, widest

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Inks of cells: no colours of the style, which a dark screen would turn round.
BLACK, WHITE = "#000000", "#fefefe"
# Side of a cell with two lines of text, and with one, in inches.
_CELL, _SMALL_CELL = 0.42, 0.32

ROOMY_UP_TO = 20
"""Columns with room for two lines of text in a cell."""


def heat_map(
    table: FloatArray,
    rows: Sequence[str],
    columns: Sequence[str],
    text: Callable[[int, int], str],
    *,
    span: tuple[float, float],
    title: str,
    below: Sequence[str],
) -> "tuple[Figure, Axes]":
    """Cells from dark at `span[0]` to light at `span[1]`; what is undefined has no colour."""
    from matplotlib import colormaps

    cell = _CELL if len(columns) <= ROOMY_UP_TO else _SMALL_CELL
    figure, axes = panel(
        (cell * len(columns), cell * len(rows)),
        title=title,
        left=widest(rows) + 0.25,
        right=max(0.25, 5.4 - widest(rows) - cell * len(columns)),
        top=0.22,
        ticks=False,
        below=below,
    )
    low, high = span
    share = (table - low) / (high - low) if high != low else np.where(np.isnan(table), np.nan, 0.5)
    # Whole palette; "cividis" looks the same to readers who do not tell red from green.
    colours = colormaps["cividis"](np.ma.masked_invalid(share))
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    _cells(axes, share, colours)
    for i, j in np.ndindex(share.shape):
        ink = MUTED if np.isnan(share[i, j]) else WHITE if _dark(colours[i, j]) else BLACK
        if shown := text(i, j):
            axes.text(
                j, i, shown, ha="center", va="center", size=7, color=ink, linespacing=1.1, zorder=3
            )
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0, labeltop=True, labelbottom=False)
    axes.spines[:].set_visible(False)
    return figure, axes


def _cells(axes: "Axes", share: FloatArray, colours: FloatArray) -> None:
    from matplotlib.collections import PolyCollection

    places = [(i, j) for i, j in np.ndindex(share.shape) if not np.isnan(share[i, j])]
    squares = [
        [(j - 0.5, i - 0.5), (j + 0.5, i - 0.5), (j + 0.5, i + 0.5), (j - 0.5, i + 0.5)]
        for i, j in places
    ]
    axes.add_collection(
        PolyCollection(
            squares,
            facecolors=[tuple(colours[place]) for place in places],
            edgecolors=PAPER,
            linewidths=1.0,
        ),
        autolim=False,
    )


def _dark(colour: FloatArray) -> bool:
    """Whether white stands out more than black: relative luminance by WCAG 2."""
    linear = np.where(
        colour[:3] <= 0.04045, colour[:3] / 12.92, ((colour[:3] + 0.055) / 1.055) ** 2.4
    )
    return bool(linear @ [0.2126, 0.7152, 0.0722] < 0.179)
