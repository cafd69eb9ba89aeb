"""Box plots of the alignment with people, item by item (Peer review, figure 5)."""

from collections import Counter
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tiebreak.report.alignment.align import Alignment, BenchmarkAlignment
from tiebreak.report.alignment.correlations import Correlation
from tiebreak.report.cells import UNDEFINED, plain
from tiebreak.report.plot import BLUE, GREY, PALE, STYLE, PlotError, check_plot, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Told from the boxes' blue by its lightness as well, and by its form (M. Okabe and K. Ito).
_ORANGE = "#d55e00"
# Characters of a name.
_LONGEST = 48


class _Box(NamedTuple):
    name: str
    figure: Correlation


def plot_alignment(
    alignment: Alignment, path: str | PathLike[str], *, rater: str = "kemeny_young"
) -> None:
    """Draw how the correlations of the single items are distributed, and that over all items.

    A box holds the middle half of the items, with a line at the median; whiskers reach to the last
    item within 1.5 times the box's length, and dots are items beyond. The diamond is the macro
    figure. All are Pearson's correlation of ranks.

    Args:
        alignment: what to draw. Of several peer reviews each has a box, of a single one each rater.
        path: where to write; .svg or .png. The same alignment gives the same file.
        rater: whose correlation is shown where there are several peer reviews: a method, a
            reviewer's name, or "native score".

    Raises:
        PlotError: the path is no .svg or .png, there is no such rater, or nothing to draw.
        MissingPackageError: matplotlib is not installed.
        OSError: the file cannot be written.
    """
    check_plot(path)
    boxes, title = _boxes(alignment, rater)
    shown = [one for one in boxes if one.figure.n_rows]
    if not shown:
        raise PlotError(f"Nothing to draw: no item in which {title} tells models apart")
    missing = [_short(one.name) for one in boxes if not one.figure.n_rows]

    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.2, 1.6 + 0.34 * len(shown)), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        _draw(axes, shown)
        axes.set_title(_short(title), loc="left", fontweight="bold")
        hidden = [f"not shown, {UNDEFINED} in the table: {', '.join(missing)}"] if missing else []
        people = (
            f"Pearson's correlation of ranks with people ({_short(Path(alignment.source).name)})"
        )
        axes.set_xlabel("\n".join([people, "box: item by item · ◆ over all items", *hidden]))
        save_figure(figure, path)


def _boxes(alignment: Alignment, rater: str) -> tuple[list[_Box], str]:
    """What has a box, from top to bottom, and the title."""
    if len(alignment.benchmarks) == 1:
        [one] = alignment.benchmarks
        return [_Box(each.name, each.pearson) for each in one.raters], one.benchmark
    known = dict.fromkeys(each.name for one in alignment.benchmarks for each in one.raters)
    if rater not in known:
        raise PlotError(f"There is no rater {rater!r} to draw; there are {', '.join(known)}")
    names = _names(alignment.benchmarks)
    both = zip(names, alignment.benchmarks, strict=True)
    found = [
        _Box(name, each.pearson) for name, one in both for each in one.raters if each.name == rater
    ]
    return found, rater


def _names(benchmarks: Sequence[BenchmarkAlignment]) -> list[str]:
    """Benchmarks, with their log where one was reviewed more than once."""
    times = Counter(one.benchmark for one in benchmarks)
    return [
        one.benchmark if times[one.benchmark] == 1 else f"{one.benchmark} · {Path(one.log).stem}"
        for one in benchmarks
    ]


def _short(name: str) -> str:
    """A name without what a plot has no glyph for, and with its middle left out if it is long."""
    whole = plain(name).plain
    return whole if len(whole) <= _LONGEST else f"{whole[: _LONGEST - 20]}…{whole[-19:]}"


def _draw(axes: "Axes", boxes: Sequence[_Box]) -> None:
    from matplotlib.cbook import boxplot_stats

    axes.axvline(0, color=GREY, linewidth=0.8, zorder=1)
    for place, one in enumerate(boxes):
        [stats] = boxplot_stats(one.figure.values[~np.isnan(one.figure.values)])
        axes.hlines(place, stats["whislo"], stats["whishi"], color=BLUE, linewidth=1, zorder=2)
        box = stats["q3"] - stats["q1"]
        axes.barh(place, box, 0.55, stats["q1"], color=PALE, edgecolor=BLUE, zorder=3)
        axes.vlines(stats["med"], place - 0.275, place + 0.275, color=BLUE, linewidth=2, zorder=4)
        beyond = stats["fliers"]
        axes.plot(beyond, np.full(len(beyond), place), ".", color=GREY, markersize=4, zorder=2)
        axes.plot(
            one.figure.macro.value, place, "D", color=_ORANGE, markeredgecolor="white", zorder=5
        )
    axes.set_yticks(range(len(boxes)), [_short(one.name) for one in boxes])
    axes.set_ylim(len(boxes) - 0.4, -0.6)
    axes.set_xlim(-1.05, 1.05)
    axes.grid(axis="x", color="#eeeeee")
    axes.set_axisbelow(True)
