"""What is drawn, read back from a figure."""

from collections.abc import Iterable, Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text
from matplotlib.typing import ColorType

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
        texts = [t for t in _texts(figure) if t.get_text().strip() and t.get_visible()]
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


def luminance(colour: ColorType) -> float:
    """Relative luminance by WCAG 2."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot(parts, [0.2126, 0.7152, 0.0722]))


def contrast(one: float, other: float) -> float:
    """Of two luminances; WCAG 2 asks for 3 for marks, 4.5 for words."""
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def told(drawing: Drawing) -> str:
    """What a drawing says and where its marks are in the data, a line each, to five digits."""
    lines = [drawing.name, drawing.title, drawing.alt]
    for axes in drawing.figure.axes:
        lines += ["", " ".join(_words(axes)), f"x {_figures(axes.get_xlim())}"]
        lines += [f"{label}: y {_figures([y])}" for label, y in _rows(axes)]
        for line in axes.lines:
            at = "data" if line.get_transform() == axes.transData else "axes"
            ends = zip(
                np.atleast_1d(line.get_xdata()), np.atleast_1d(line.get_ydata()), strict=True
            )
            places = " → ".join(_figures(end) for end in ends)
            lines.append(
                f"{line.get_marker()} {line.get_color()} {line.get_linewidth()} {at}: {places}"
            )
        lines += [f"segment {_figures(ends)}" for ends in segments(axes)]
        boxes = (
            patch.get_path().get_extents(patch.get_patch_transform()) for patch in axes.patches
        )
        lines += [f"box {_figures(box.extents)}" for box in boxes]
        lines += [f"{text.get_text()!r} at {_figures(text.xy)}" for text in _notes(axes)]
        lines += [f"cell {_figures(middle)}: {colour}" for middle, colour in cells(axes)]
    remarks = " ".join(text.get_text() for text in drawing.figure.texts)
    return "\n".join([*lines, "", " ".join(remarks.split()), ""])


def cells(axes: Axes) -> Iterator[tuple[Iterable[float], str]]:
    """Middles and colours of the squares of a heat map."""
    for squares in axes.collections:
        if isinstance(squares, PolyCollection):
            colours = map(to_hex, np.asarray(squares.get_facecolor()))
            for path, colour in zip(squares.get_paths(), colours, strict=True):
                yield np.asarray(path.vertices)[:4].mean(axis=0), colour


def _words(axes: Axes) -> Iterator[str]:
    yield from (
        text.get_text().replace("\n", "|") for text in axes.texts if text not in _notes(axes)
    )
    yield from (label.get_text() for label in axes.get_xticklabels())


def _rows(axes: Axes) -> list[tuple[str, float]]:
    return list(zip(row_names(axes), axes.get_yticks(), strict=True)) if axes.axison else []


def _notes(axes: Axes) -> list[Annotation]:
    return [text for text in axes.texts if isinstance(text, Annotation)]


def _figures(values: Iterable[float]) -> str:
    return " ".join("0" if abs(value) < 1e-9 else f"{value:.5g}" for value in map(float, values))
