"""The agreement–cost plot: protocols' agreement with the reference by price (SEAL, figure 2)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from tiebreak.analysis.comparison import BenchmarkComparison, ComparedLog, Comparison
from tiebreak.report.cells import decimal
from tiebreak.report.figures import canvas
from tiebreak.report.figures.panels import Label, label_points
from tiebreak.text import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Against = Literal["calls", "depth", "tokens", "cost"]
AXES: Final[Mapping[Against, str]] = {
    "calls": "judge calls per item",
    "depth": "calls in a row per item",
    "tokens": "tokens per item",
    "cost": "US dollars per item",
}

# Names of up to this many columns fit beside any point.
_LONGEST = 36


class _Point(NamedTuple):
    name: str
    x: float
    y: float
    lower: float = math.nan
    upper: float = math.nan


def price_figure(comparison: Comparison, against: Against = "calls") -> canvas.Drawing | None:
    """One panel per benchmark: each log's ρ with its interval, and the noise ceiling.

    A log whose ρ or price is undefined is named below its panel. None if there is no point.
    """
    drawn = [benchmark for benchmark in comparison.benchmarks if list(_points(benchmark, against))]
    if not drawn:
        return None
    with canvas.styled():
        figure = _panels(comparison, against)
        missing = (
            f"{canvas.short(benchmark.benchmark)}: {text}"
            for benchmark in comparison.benchmarks
            for text in _missing(benchmark, against)
        )
        canvas.add_notes(figure, [*_reading(comparison), *missing])
    return canvas.Drawing(
        canvas.slug("agreement", against),
        f"Agreement with the reference against {AXES[against]}",
        " ".join(_words(comparison, drawn, against)),
        figure,
    )


def _panels(comparison: Comparison, against: Against) -> "Figure":
    benchmarks = comparison.benchmarks
    columns = min(2, len(benchmarks))
    # On paper that is too narrow for two panels they are below each other.
    if canvas.fitting(6.4 * columns) < 6.4 * columns:
        columns = 1
    rows, width = math.ceil(len(benchmarks) / columns), canvas.fitting(6.4 * columns, narrowest=4.0)
    figure = canvas.new_figure(width, 4.6 * rows)
    figure.set_layout_engine("constrained")
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes, benchmark in zip(panels, benchmarks, strict=False):
        _draw(axes, benchmark, against)
        name = canvas.short(benchmark.benchmark, 32)
        if canvas.titled():
            notes = [
                line
                for text in (*_reading(comparison), *_missing(benchmark, against))
                for line in canvas.wrapped(text, width / columns - 0.8, 9)
            ]
            axes.set_title(f"{name} · agreement and its price")
            axes.set_xlabel("\n".join([AXES[against], *notes]))
        elif len(benchmarks) > 1:
            axes.set_title(name)
    for axes in panels[len(benchmarks) :]:
        axes.set_axis_off()
    # Names need the final positions of the axes: run the layout once, then switch it off.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes, benchmark in zip(panels, benchmarks, strict=False):
        points = [*_reference(benchmark, against), *_points(benchmark, against)]
        label_points(
            axes, [Label(canvas.short(point.name, _LONGEST), point.x, point.y) for point in points]
        )
    return figure


def _draw(axes: "Axes", benchmark: BenchmarkComparison, against: Against) -> None:
    points, ceilings = list(_points(benchmark, against)), list(_ceilings(benchmark))
    for ceiling in ceilings:
        axes.axhline(ceiling.y, color=canvas.MUTED, linestyle="--", linewidth=1, zorder=1)
        axes.annotate(
            canvas.short(ceiling.name, 64), (1, ceiling.y), (0, -2), axes.get_yaxis_transform(),
            "offset points", ha="right", va="top", color=canvas.MUTED, fontsize=canvas.SMALL,
            annotation_clip=False,
        )  # fmt: skip
        if not math.isnan(ceiling.lower):
            axes.axhspan(ceiling.lower, ceiling.upper, color=canvas.MUTED, alpha=0.08, linewidth=0)
    for point in points:
        if not math.isnan(point.lower):
            axes.vlines(point.x, point.lower, point.upper, color=canvas.PALE, linewidth=2, zorder=2)
        axes.plot(point.x, point.y, "o", color=canvas.BLUE, zorder=3)
    for point in _reference(benchmark, against):
        axes.plot(point.x, point.y, "D", color=canvas.PAPER, markeredgecolor=canvas.BLUE, zorder=3)
    # The axis starts at 0.9 or below, so that small differences do not look large.
    lowest = min([0.9, *(y for p in (*points, *ceilings) for y in (p.y, p.lower) if y == y)])
    # Room for the name of a ceiling below its line.
    bottom = lowest - max(0.05, 0.08 * (1.12 - lowest))
    axes.set_ylim(bottom, 1.12)  # room for names above ρ = 1
    axes.set_yticks([tick for tick in axes.get_yticks() if bottom <= tick <= 1])
    axes.set_xlim(-0.03 * axes.get_xlim()[1], 1.08 * axes.get_xlim()[1])
    axes.set_xlabel(AXES[against])
    axes.set_ylabel(f"Spearman's ρ with {canvas.short(benchmark.reference.name)}")
    axes.grid()


def _points(benchmark: BenchmarkComparison, against: Against) -> Iterator[_Point]:
    """Logs other than the reference and its repeated runs, if price and ρ are defined."""
    for log in benchmark.logs:
        if log.role == "protocol" and log.agreement is not None:
            rho, x = log.agreement.spearman, _price(log, against)
            if not math.isnan(x) and not math.isnan(rho.value):
                yield _Point(log.name, x, rho.value, rho.lower, rho.upper)


def _reference(benchmark: BenchmarkComparison, against: Against) -> Iterator[_Point]:
    x = _price(benchmark.reference, against)
    if not math.isnan(x):
        yield _Point(f"{benchmark.reference.name} (reference)", x, 1.0)


def _ceilings(benchmark: BenchmarkComparison) -> Iterator[_Point]:
    """The agreement of the reference with its repeated runs and orders; x is not used."""
    agreements = [(log.name, log.agreement) for log in benchmark.logs if log.role == "ceiling"]
    if benchmark.orders:
        agreements.append(("each order", benchmark.orders))
    for name, agreement in agreements:
        if agreement is not None and not math.isnan(agreement.spearman.value):
            rho = agreement.spearman
            yield _Point(f"noise ceiling: {name}", 0.0, rho.value, rho.lower, rho.upper)


def _missing(benchmark: BenchmarkComparison, against: Against) -> list[str]:
    shown = {point.name for point in _points(benchmark, against)}
    return canvas.not_shown(
        [log.name for log in benchmark.logs if log.role == "protocol" and log.name not in shown]
    )


def _reading(comparison: Comparison) -> Iterator[str]:
    yield f"line: {comparison.how.level * 100:g}% interval over items"
    if any(list(_ceilings(benchmark)) for benchmark in comparison.benchmarks):
        yield "dashed: how far the reference agrees with itself"


def _price(log: ComparedLog, against: Against) -> float:
    price: float = getattr(log.price, against)
    return price


def _words(
    comparison: Comparison, drawn: Sequence[BenchmarkComparison], against: Against
) -> Iterator[str]:
    names = {point.name for benchmark in drawn for point in _points(benchmark, against)}
    yield (
        f"Spearman's ρ of {count(len(names), 'protocol')} with "
        f"{canvas.short(comparison.reference)} against {AXES[against]}, "
        f"on {count(len(drawn), 'benchmark')}."
    )
    benchmark = drawn[0]
    points = list(_points(benchmark, against))
    best, cheapest = max(points, key=lambda p: p.y), min(points, key=lambda p: (p.x, -p.y))
    where = f"On {canvas.short(benchmark.benchmark)} " + (
        "the only one" if len(points) == 1 else "the closest"
    )
    words = f"{where} is {canvas.short(best.name)}, ρ {decimal(best.y, 2)} at {_amount(best.x)}"
    if cheapest is not best:
        words += (
            f"; the cheapest is {canvas.short(cheapest.name)}, ρ {decimal(cheapest.y, 2)} at "
            f"{_amount(cheapest.x)}"
        )
    yield f"{words}."


def _amount(price: float) -> str:
    return f"{price:,.4g}"
