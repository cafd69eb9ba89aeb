"""The agreement–cost plot: what agreement with the reference costs, per protocol (SEAL, figure 2)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from tiebreak.rankers.errors import MissingPackageError
from tiebreak.report.comparison import BenchmarkComparison, ComparedLog, Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Against = Literal["calls", "depth", "tokens", "cost"]
AXES: Final[Mapping[Against, str]] = {
    "calls": "judge calls per item",
    "depth": "calls in a row per item",
    "tokens": "tokens per item",
    "cost": "US dollars per item",
}
SUFFIXES = (".svg", ".png")

_BLUE, _GREY = "#2563a8", "#777777"
# Where a label may stand beside its point, in points of 1/72 inch: the first place that is free.
_PLACES = [
    (dx, dy)
    for far in (1, 2, 3, 4, 5)
    for dx, dy in ((6, 5 * far), (6, -9 * far), (-6, 5 * far), (-6, -9 * far))
]
_STYLE: Final[Mapping[str, Any]] = {
    # Text stays text; ids and dates do not change from run to run.
    "svg.fonttype": "none",
    "svg.hashsalt": "tiebreak",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.parse_math": False,
}


class PlotError(ValueError):
    """The plot cannot be drawn; the message says what to do instead."""


class _Point(NamedTuple):
    name: str
    x: float
    y: float
    lower: float
    upper: float
    reference: bool = False


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
            "The plot needs matplotlib: pip install 'tiebreak[report]'"
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
    """
    check_plot(path)
    import matplotlib
    from matplotlib.figure import Figure

    if not any(list(_points(one, against)) for one in comparison.benchmarks):
        hint = " Give prices with --model-cost-config FILE when you judge" * (against == "cost")
        raise PlotError(f"Nothing to draw: no agreement, or no {AXES[against]}, is known.{hint}")
    panels = len(comparison.benchmarks)
    columns = min(2, panels)
    rows = math.ceil(panels / columns)
    with matplotlib.rc_context(dict(_STYLE)):
        figure = Figure(figsize=(6.4 * columns, 4.4 * rows), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False)
        for axes, one in zip(grid.flat, comparison.benchmarks, strict=False):
            _panel(axes, one, against)
        for axes in grid.flat[panels:]:
            axes.set_axis_off()
        figure.draw_without_rendering()
        for axes, one in zip(grid.flat, comparison.benchmarks, strict=False):
            _label(axes, [*_points(one, against), *_reference(one, against)])
        form = Path(path).suffix.lower()[1:]
        undated = {"Date": None} if form == "svg" else {}
        figure.savefig(path, format=form, dpi=150, metadata=undated)


def _points(one: BenchmarkComparison, against: Against) -> Iterator[_Point]:
    """What can be drawn of the logs that are neither the reference nor runs of it."""
    for log in one.logs:
        point = _point(log, against)
        if point is not None:
            yield point


def _point(log: ComparedLog, against: Against) -> _Point | None:
    if log.role != "protocol" or log.agreement is None:
        return None
    x, rho = _price(log, against), log.agreement.spearman
    if math.isnan(x) or math.isnan(rho.value):
        return None
    return _Point(log.name, x, rho.value, rho.lower, rho.upper)


def _reference(one: BenchmarkComparison, against: Against) -> list[_Point]:
    """The reference, which agrees with itself by definition."""
    x = _price(one.reference, against)
    name = f"{one.reference.name} (reference)"
    return [] if math.isnan(x) else [_Point(name, x, 1.0, 1.0, 1.0, reference=True)]


def _price(log: ComparedLog, against: Against) -> float:
    price = log.price
    return {
        "calls": price.calls,
        "depth": price.depth,
        "tokens": price.tokens,
        "cost": price.cost,
    }[against]


def _panel(axes: "Axes", one: BenchmarkComparison, against: Against) -> None:
    for name, value, lower, upper in _ceilings(one):
        axes.axhline(value, color=_GREY, linestyle="--", linewidth=1, zorder=1)
        if not math.isnan(lower):
            axes.axhspan(lower, upper, color=_GREY, alpha=0.08, linewidth=0, zorder=0)
        axes.annotate(
            name, (1, value), (0, -3), "axes fraction" and axes.get_yaxis_transform(),
            textcoords="offset points", ha="right", va="top", color=_GREY, fontsize=7.5,
        )
    for point in _points(one, against):
        bars = [[point.y - point.lower], [point.upper - point.y]]
        known = not math.isnan(point.lower)
        axes.errorbar(
            point.x, point.y, yerr=bars if known else None,
            fmt="o", color=_BLUE, ecolor="#a9c4e0", elinewidth=1.5, capsize=2, zorder=3,
        )
    for point in _reference(one, against):
        axes.plot(point.x, point.y, "D", color="white", markeredgecolor=_BLUE, zorder=3)
    axes.set_title(one.benchmark, loc="left", fontweight="bold")
    axes.set_xlabel("\n".join([AXES[against], *_missing(one, against)]))
    axes.set_ylabel(f"Spearman's ρ with {one.reference.name}")
    axes.set_xlim(left=0, right=1.12 * axes.get_xlim()[1])
    axes.grid(color="#eeeeee", zorder=0)
    axes.set_axisbelow(True)
