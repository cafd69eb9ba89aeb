"""What is drawn, read back from a figure."""

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.text import Text

from tiebreak.report.figures.canvas import Drawing, styled


def words(figure: Figure) -> list[str]:
    """All texts, as they are drawn."""
    return [text.get_text() for text in _texts(figure)]


def said(drawing: Drawing) -> str:
    """All words of a drawing in one line; broken lines are joined."""
    return " ".join(words(drawing.figure))


def row_names(axes: Axes) -> list[str]:
    """What stands left of the rows, from the top."""
    return [label.get_text() for label in axes.get_yticklabels()]


def points(axes: Axes) -> list[tuple[str, float, float]]:
    """Form and place of every point."""
    return [
        (str(line.get_marker()), float(x), float(y))
        for line in axes.lines
        if line.get_marker() not in ("None", None, "") and line.get_transform() == axes.transData
        for x, y in zip(
            np.atleast_1d(line.get_xdata()), np.atleast_1d(line.get_ydata()), strict=True
        )
    ]


def segments(axes: Axes) -> list[tuple[float, float, float, float]]:
    """Ends (x0, y0, x1, y1) of all lines that are no curves."""
    return [
        (float(x0), float(y0), float(x1), float(y1))
        for lines in axes.collections
        if isinstance(lines, LineCollection)
        for (x0, y0), (x1, y1) in lines.get_segments()
    ]


def clashes(drawing: Drawing) -> list[str]:
    """Texts that reach beyond the paper, and pairs of texts that cover each other."""
    figure = drawing.figure
    with styled():
        figure.draw_without_rendering()
        renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
        texts = [text for text in _texts(figure) if text.get_text().strip()]
        # The words alone: an annotation's own extent holds its line as well.
        boxes = np.array([Text.get_window_extent(text, renderer).extents for text in texts])
    paper = np.array(figure.bbox.extents)[2:]
    outside = np.any((boxes[:, :2] < -0.5) | (boxes[:, 2:] > paper + 0.5), axis=1)
    found = [f"cut: {texts[k].get_text()}" for k in np.flatnonzero(outside)]
    # Half a pixel of each side is the paper between letters.
    low, high = boxes[:, None, :2] + 0.5, boxes[:, None, 2:] - 0.5
    over = ((high > boxes[None, :, :2] + 0.5) & (low < boxes[None, :, 2:] - 0.5)).all(axis=2)
    for i, j in np.argwhere(np.triu(over, k=1)):
        found.append(f"{texts[i].get_text()!r} covers {texts[j].get_text()!r}")
    return found


def _texts(figure: Figure) -> Iterator[Text]:
    yield from figure.texts
    for axes in figure.axes:
        yield from axes.texts
        if axes.axison:
            yield from (axes.xaxis.label, axes.yaxis.label, axes.title)
            yield from (axes._left_title, axes._right_title)  # type: ignore[attr-defined]
            for axis in (axes.xaxis, axes.yaxis):
                low, high = sorted(axis.get_view_interval())
                for tick in axis.get_major_ticks():
                    if low <= tick.get_loc() <= high:
                        yield from (
                            label for label in (tick.label1, tick.label2) if label.get_visible()
                        )
