"""The agreement–cost plot: what a protocol's agreement with the reference costs (SEAL, fig. 2)."""

import math
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from tiebreak.rankers.errors import MissingPackageError
from tiebreak.report.cells import UNDEFINED
from tiebreak.report.comparison import BenchmarkComparison, ComparedLog, Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox

Against = Literal["calls", "depth", "tokens", "cost"]
AXES: Final[Mapping[Against, str]] = {
    "calls": "judge calls per item",
    "depth": "calls in a row per item",
    "tokens": "tokens per item",
    "cost": "US dollars per item",
}
SUFFIXES = (".svg", ".png")

BLUE, PALE, GREY = "#2563a8", "#a9c4e0", "#666666"
# Places of a label beside its point, in 1/72 inch: the first one that is free is taken.
_PLACES = [
    (side * 6, up * (6 + 10 * far)) for far in range(7) for side in (1, -1) for up in (1, -1)
]
# What every plot is drawn in, by `matplotlib.rc_context`.
STYLE: Any = {
    # Text stays text, and neither ids nor names that hold a dollar sign change on the way.
    "svg.fonttype": "none",
    "svg.hashsalt": "tiebreak",
    "text.parse_math": False,
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


class PlotError(ValueError):
    """The plot cannot be drawn; the message says what to do instead."""


class _Point(NamedTuple):
    name: str
    x: float
    y: float
    lower: float = math.nan
    upper: float = math.nan


def check_plot(path: str | PathLike[str]) -> None:
    """Refuse a plot that could not be drawn, before anything is computed.

    Raises:
        PlotError: neither an SVG nor a PNG file.
        MissingPackageError: matplotlib is not installed.
    """
    if Path(path).suffix.lower() not in SUFFIXES:
        raise PlotError(f"{path}: a plot is a file that ends in {' or '.join(SUFFIXES)}")
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingPackageError(
            "A plot needs matplotlib: pip install 'tiebreak[report]'"
        ) from error


def plot_comparison(
    comparison: Comparison, path: str | PathLike[str], *, against: Against = "calls"
) -> None:
    """Draw one panel per benchmark: each log's ρ with its interval, and the noise ceiling.

    Args:
        comparison: what to draw. A log whose ρ or price is undefined is named below its panel.
        path: where to write; .svg or .png. The same comparison gives the same file.
        against: what the agreement is paid with.

    Raises:
        PlotError: the path is no .svg or .png, or there is no point to draw.
        MissingPackageError: matplotlib is not installed.
        OSError: the file cannot be written.
    """
    check_plot(path)
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if not any(list(_points(one, against)) for one in comparison.benchmarks):
        hint = ". Give prices with --model-cost-config FILE when you judge"
        raise PlotError(
            "Nothing to draw: no protocol has both an agreement and a price in "
            f"{AXES[against]}{hint if against == 'cost' else ''}"
        )
    n = len(comparison.benchmarks)
    columns = min(2, n)
    rows = math.ceil(n / columns)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(6.4 * columns, 4.6 * rows), layout="constrained")
        canvas = FigureCanvasAgg(figure)
        panels = list(figure.subplots(rows, columns, squeeze=False).flat)
        for axes, one in zip(panels, comparison.benchmarks, strict=False):
            _draw(axes, one, against)
        for axes in panels[n:]:
            axes.set_axis_off()
        # Where things come to stand is known once the layout is made.
        figure.draw_without_rendering()
        for axes, one in zip(panels, comparison.benchmarks, strict=False):
            points = [*_reference(one, against), *_points(one, against)]
            _label(axes, points, canvas.get_renderer())  # type: ignore[no-untyped-call]
        save_figure(figure, path)


def save_figure(figure: "Figure", path: str | PathLike[str]) -> None:
    """Write a figure so that the same figure gives the same file; within `STYLE`.

    Raises:
        OSError: the file cannot be written.
    """
    form = Path(path).suffix.lower()[1:]
    figure.savefig(path, format=form, dpi=150, metadata={"Date": None} if form == "svg" else None)


def _draw(axes: "Axes", one: BenchmarkComparison, against: Against) -> None:
    points, ceilings = list(_points(one, against)), list(_ceilings(one))
    for ceiling in ceilings:
        axes.axhline(ceiling.y, color=GREY, linestyle="--", linewidth=1, zorder=1)
        axes.annotate(
            ceiling.name, (1, ceiling.y), (0, -2), axes.get_yaxis_transform(), "offset points",
            ha="right", va="top", color=GREY, fontsize=7.5, annotation_clip=False,
        )  # fmt: skip
        if not math.isnan(ceiling.lower):
            axes.axhspan(ceiling.lower, ceiling.upper, color=GREY, alpha=0.08, linewidth=0)
    for point in points:
        if not math.isnan(point.lower):
            axes.vlines(point.x, point.lower, point.upper, color=PALE, linewidth=2, zorder=2)
        axes.plot(point.x, point.y, "o", color=BLUE, zorder=3)
    for point in _reference(one, against):
        axes.plot(point.x, point.y, "D", color="white", markeredgecolor=BLUE, zorder=3)
    lowest = min([0.9, *(y for p in (*points, *ceilings) for y in (p.y, p.lower) if y == y)])
    axes.set_ylim(lowest - 0.05, 1.12)
    axes.set_yticks([tick for tick in axes.get_yticks() if lowest - 0.05 <= tick <= 1])
    axes.set_xlim(-0.03 * axes.get_xlim()[1], 1.08 * axes.get_xlim()[1])
    axes.set_title(one.benchmark, loc="left", fontweight="bold")
    axes.set_xlabel("\n".join([AXES[against], *_missing(one, against)]))
    axes.set_ylabel(f"Spearman's ρ with {one.reference.name}")
    axes.grid(color="#eeeeee")
    axes.set_axisbelow(True)


def _points(one: BenchmarkComparison, against: Against) -> Iterator[_Point]:
    """Logs that are neither the reference nor runs of it, where both coordinates are known."""
    for log in one.logs:
        if log.role == "protocol" and log.agreement is not None:
            rho, x = log.agreement.spearman, _price(log, against)
            if not math.isnan(x) and not math.isnan(rho.value):
                yield _Point(log.name, x, rho.value, rho.lower, rho.upper)


def _reference(one: BenchmarkComparison, against: Against) -> Iterator[_Point]:
    """The reference, which agrees with itself by definition."""
    x = _price(one.reference, against)
    if not math.isnan(x):
        yield _Point(f"{one.reference.name} (reference)", x, 1.0)


def _ceilings(one: BenchmarkComparison) -> Iterator[_Point]:
    """The reference's agreement with itself, at no price."""
    found = [(log.name, log.agreement) for log in one.logs if log.role == "ceiling"]
    if one.orders:
        found.append(("each order", one.orders.agreement))
    for name, agreement in found:
        if agreement is not None and not math.isnan(agreement.spearman.value):
            rho = agreement.spearman
            yield _Point(f"noise ceiling: {name}", 0.0, rho.value, rho.lower, rho.upper)


def _missing(one: BenchmarkComparison, against: Against) -> Iterator[str]:
    shown = {point.name for point in _points(one, against)}
    names = [log.name for log in one.logs if log.role == "protocol" and log.name not in shown]
    if names:
        yield f"not shown, {UNDEFINED} in the table: {', '.join(names)}"


def _price(log: ComparedLog, against: Against) -> float:
    price = log.price
    return {
        "calls": price.calls,
        "depth": price.depth,
        "tokens": price.tokens,
        "cost": price.cost,
    }[against]


def _label(axes: "Axes", points: Iterable[_Point], renderer: "RendererBase") -> None:
    """Name every point, each name where it covers no point and no other name."""
    points = list(points)
    frame = axes.get_window_extent(renderer)
    taken = [text.get_window_extent(renderer) for text in axes.texts]
    taken += [_around(axes, point) for point in points]
    for point in points:
        places = [_note(axes, point, place) for place in _PLACES]
        boxes = [_box(place, renderer) for place in places]
        free = [
            number
            for number, box in enumerate(boxes)
            if _inside(box, frame) and not any(box.padded(3).overlaps(other) for other in taken)
        ]
        chosen = free[0] if free else 0
        taken.append(boxes[chosen])
        for number, place in enumerate(places):
            if number != chosen:
                place.remove()


def _note(axes: "Axes", point: _Point, place: tuple[int, int]) -> "Annotation":
    dx, dy = place
    return axes.annotate(
        point.name,
        (point.x, point.y),
        place,
        textcoords="offset points",
        ha="left" if dx > 0 else "right",
        va="center",
        fontsize=8,
        # A name that stands further off gets a line to its point.
        arrowprops={"arrowstyle": "-", "color": PALE, "lw": 0.8, "shrinkB": 4}
        if abs(dy) > 6
        else None,
    )


def _box(note: "Annotation", renderer: "RendererBase") -> "Bbox":
    """The box of the words; an annotation's own extent holds its line as well."""
    from matplotlib.text import Text

    note.update_positions(renderer)
    return Text.get_window_extent(note, renderer)


def _around(axes: "Axes", point: _Point) -> "Bbox":
    from matplotlib.transforms import Bbox

    x, y = axes.transData.transform((point.x, point.y))
    return Bbox.from_extents(x - 5, y - 5, x + 5, y + 5)


def _inside(box: "Bbox", frame: "Bbox") -> bool:
    return bool(
        frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
    )
