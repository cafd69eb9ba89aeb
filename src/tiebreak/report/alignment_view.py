"""Alignment with people on a terminal: item by item (Peer review, table 1), and over all items."""

from collections.abc import Sequence
from itertools import groupby

from rich.console import Console
from rich.table import Table

from tiebreak.analysis.alignment.align import Alignment, BenchmarkAlignment
from tiebreak.analysis.alignment.correlations import Correlation, Rater
from tiebreak.rankers.intervals import Estimate
from tiebreak.report.cells import decimal, signed_interval
from tiebreak.report.comparison_view import new_table
from tiebreak.report.terminal import plain
from tiebreak.words import count

LEGEND = (
    "Pearson: of ranks. Kendall: τ-b. Over all items, it is the models' mean ranks that are "
    "compared (native score: the mean score). Undef.: items in which a rater ties all models, or "
    "ranks fewer than two"
)


def render_alignment(alignment: Alignment, console: Console | None = None) -> None:
    """Print an alignment.

    Args:
        alignment: what to print.
        console: where to print; standard output by default.
    """
    console = console or Console(highlight=False)
    console.print(plain(f"Alignment with people: {alignment.source}", "bold"))
    for one in alignment.benchmarks:
        console.print()
        _render_benchmark(one, alignment.level, console)
    console.print()
    console.print(plain(LEGEND, "dim"))
    console.print(plain(intervals_line(alignment), "dim"))
    for note in alignment.notes:
        console.print(plain(f"Note: {note}", "yellow"))


def _render_benchmark(one: BenchmarkAlignment, level: float, console: Console) -> None:
    console.print(plain(title_line(one), "bold"))
    console.print(plain(f"log: {one.log}", "dim"))
    console.print()
    console.print(plain("Item by item: how the correlations of the items are distributed"))
    for table in micro_tables(one.raters, level):
        console.print()
        console.print(table)
    console.print()
    console.print(plain("Over all items: one correlation"))
    console.print()
    console.print(macro_table(one.raters, level))
    console.print()
    for note in one.notes:
        console.print(plain(f"Note: {note}", "yellow"))


def title_line(one: BenchmarkAlignment) -> str:
    """Benchmark, items, and how many models people ranked."""
    models = f"{len(one.models)} of {count(one.n_candidates, 'model')} ranked by people"
    return f"{one.benchmark} · {count(one.n_items, 'item')} · {models}"


def intervals_line(alignment: Alignment) -> str:
    """How the intervals are made, and how to read them."""
    return (
        f"Intervals: bootstrap over items, {alignment.draws:,} draws, seed {alignment.seed}; "
        "the human ranking counts as exact. A low correlation over all items with a wide "
        "interval says too few items rather than disagreement"
    )


def micro_tables(raters: Sequence[Rater], level: float) -> tuple[Table, Table]:
    """How the items' correlations are distributed (Peer review, table 1): Pearson, Kendall."""
    return (
        _micro_table("Pearson", raters, [rater.pearson for rater in raters], level),
        _micro_table("Kendall", raters, [rater.kendall for rater in raters], level),
    )


def _micro_table(
    heading: str, raters: Sequence[Rater], figures: Sequence[Correlation], level: float
) -> Table:
    table = _narrow(
        *(heading, "Mean", f"{level * 100:g}% interval", "SD"),
        *("Min", "25%", "50%", "75%", "Max"),
    )
    rows = [[*_figure(one.mean), *(decimal(x, 2) for x in _spread(one))] for one in figures]
    _add(table, raters, rows)
    return table


def macro_table(raters: Sequence[Rater], level: float) -> Table:
    """One correlation over all items for each rater (Peer review, table 2)."""
    interval = f"{level * 100:g}% interval"
    table = _narrow("Rater", "Pearson", interval, "Kendall", interval, "Items", "Undef.")
    rows = [
        [
            *(*_figure(one.pearson.macro), *_figure(one.kendall.macro)),
            *(f"{one.pearson.n_rows:,}", f"{one.pearson.n_undefined:,}"),
        ]
        for one in raters
    ]
    _add(table, raters, rows)
    return table


def _narrow(*headings: str) -> Table:
    table = new_table(*headings)
    # Two blanks between columns in place of three: 80 characters are enough then.
    table.collapse_padding = True
    return table


def _add(table: Table, raters: Sequence[Rater], rows: Sequence[Sequence[str]]) -> None:
    """A row per rater; a line between reviewers, aggregators and the benchmark's own score."""
    both = zip(raters, rows, strict=True)
    for _, several in groupby(both, key=lambda one: one[0].kind):
        for rater, cells in several:
            table.add_row(plain(rater.name), *cells)
        table.add_section()


def _figure(one: Estimate) -> tuple[str, str]:
    return decimal(one.value, 2), signed_interval(one.lower, one.upper)


def _spread(one: Correlation) -> tuple[float, ...]:
    quantiles = (one.minimum, one.lower_quartile, one.median, one.upper_quartile, one.maximum)
    return one.sd, *quantiles
