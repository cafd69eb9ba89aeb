"""A comparison on a terminal: agreement, prices, the judge's taste; all benchmarks together."""

import math
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from tiebreak.analysis.comparison import BenchmarkComparison, ComparedLog, Comparison, Total
from tiebreak.rankers.stability import AgreementInterval, ResampledAgreement
from tiebreak.report.cells import UNDEFINED, decimal, money, percents, rate, signed_interval
from tiebreak.report.terminal import plain
from tiebreak.words import count, percent

# From this width on there is room for the columns that 80 characters have none for.
WIDE = 110
LEGEND = (
    "Top-1: the same model first, ties in parts. Gain: spread of scores over that of native "
    "scores. ×: times the reference. In a row: calls that wait for each other"
)


def render_comparison(comparison: Comparison, console: Console | None = None) -> None:
    """Print a comparison.

    Args:
        comparison: what to print.
        console: where to print; standard output by default. From 110 columns on the tables also
            show the share of draws with the same first model, the number of items, and sums.
    """
    console = console or Console(highlight=False)
    wide = console.width >= WIDE
    for one in comparison.benchmarks:
        _render_benchmark(one, comparison, console, wide=wide)
        console.print()
    if comparison.totals:
        console.print(plain(f"All {count(len(comparison.benchmarks), 'benchmark')}", "bold"))
        console.print()
        console.print(totals_table(comparison.totals))
        console.print()
    console.print(plain(intervals_line(comparison), "dim"))
    for note in comparison.notes:
        console.print(plain(f"Note: {note}", "yellow"))


def _render_benchmark(
    one: BenchmarkComparison, comparison: Comparison, console: Console, *, wide: bool
) -> None:
    console.print(plain(title_line(one), "bold"))
    console.print(plain(source_line(one), "dim"))
    for warning in one.warnings:
        console.print(plain(f"WARNING: {warning}", "bold red"))
    for table in (
        agreement_table(one, comparison.level, wide=wide),
        price_table(one.logs, wide=wide),
        judge_table(one.logs, comparison.level, wide=wide),
    ):
        if table.row_count:
            console.print()
            console.print(table)
    console.print()
    console.print(plain(LEGEND, "dim"))
    for note in one.notes:
        console.print(plain(f"Note: {note}", "yellow"))


def title_line(one: BenchmarkComparison) -> str:
    """Benchmark, reference, and on how much it rests."""
    size = f"{count(one.reference.n_items, 'item')} · {count(one.reference.n_models, 'model')}"
    return f"{one.benchmark} · against {one.reference.name} · {size}"


def source_line(one: BenchmarkComparison) -> str:
    """Who judged the reference, and in which log."""
    board = one.reference.board
    return f"judge of the reference: {', '.join(board.judges) or 'no call'} · log: {board.log}"


def intervals_line(comparison: Comparison) -> str:
    """How the intervals are made, and how to read them."""
    return (
        f"Intervals: bootstrap over items, {comparison.draws:,} draws, seed {comparison.seed}. "
        "A low ρ with a wide interval says too few items rather than disagreement"
    )


def new_table(*headings: str, names: int = 1) -> Table:
    """An empty table: the first columns hold names, which may fold, the others numbers."""
    table = Table(box=box.SIMPLE, pad_edge=False, show_edge=False)
    for heading in headings[:names]:
        table.add_column(heading, overflow="fold", min_width=12)
    for heading in headings[names:]:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def agreement_table(one: BenchmarkComparison, level: float, *, wide: bool) -> Table:
    """Tables 1 and 4 of SEAL; the noise ceiling below."""
    interval = f"{level * 100:g}% interval"
    more = ("in draws", "Items") if wide else ()
    table = new_table("Agreement", "ρ", interval, "τ", interval, "Top-1", "Gain", *more)

    def add(name: str, n_items: int, agreement: ResampledAgreement | None, gain: float) -> None:
        cells = [*_agreement_cells(agreement), _times(gain)]
        if wide:
            share = math.nan if agreement is None else agreement.top1_share
            cells += [rate(share), f"{n_items:,}"]
        table.add_row(plain(name), *cells)

    ceilings = [log for log in one.logs if log.role == "ceiling"]
    for log in one.logs:
        if log not in ceilings:
            add(log.name, log.n_items, log.agreement, log.gain.value)
    if ceilings or one.orders:
        table.add_section()
    for log in ceilings:
        add(f"noise ceiling: {log.name}", log.n_items, log.agreement, log.gain.value)
    if one.orders:
        add("noise ceiling: each order", one.orders.n_items, one.orders.agreement, math.nan)
    return table


def _agreement_cells(figures: ResampledAgreement | None) -> list[str]:
    if figures is None:
        return [UNDEFINED] * 5
    rho, tau = figures.spearman, figures.kendall
    top1 = {0.0: "no", 1.0: "yes"}.get(figures.top1.value, decimal(figures.top1.value, 2))
    return [decimal(rho.value, 2), _bounds(rho), decimal(tau.value, 2), _bounds(tau), top1]


def price_table(logs: Sequence[ComparedLog], *, wide: bool) -> Table:
    """Tables 5 and 6 of SEAL: an item's calls, chain of calls, tokens and money."""
    priced = any(log.price.cost > 0 for log in logs)
    table = new_table(
        *("Per item", "Calls", "×", "In a row", "Tokens", "×"),
        *(["$ per 1,000", "×"] if priced else []),
        *(["All calls", "Tokens in", "out", *(["Worth"] if priced else [])] if wide else []),
    )
    for log in logs:
        price, bill = log.price, log.board.receipt
        cells = [
            *(decimal(price.calls, 1), decimal(price.relative_calls, 2)),
            *(decimal(price.depth, 1), _whole(price.tokens), decimal(price.relative_tokens, 2)),
        ]
        if priced:
            cost = None if math.isnan(price.cost) else 1000 * price.cost
            cells += [money(cost), decimal(price.relative_cost, 2)]
        if wide:
            cells += [f"{n:,}" for n in (bill.n_calls, bill.input_tokens, bill.output_tokens)]
            cells += [money(bill.cost)] if priced else []
        table.add_row(plain(log.name), *cells)
    return table


def judge_table(logs: Sequence[ComparedLog], level: float, *, wide: bool) -> Table:
    """Position and length, side by side: whether a judge goes by what it should not go by."""
    table = new_table(
        *("Judge", "First won", f"{level * 100:g}%", "Flips", "Length ρ"),
        *(*([f"{level * 100:g}% interval"] if wide else []), "Unscored"),
    )
    for log in logs:
        if not log.board.rule.by_matches:
            continue
        bias, length = log.board.bias, log.board.length
        span = percents(bias.first_lower, bias.first_upper) if bias.n_first else UNDEFINED
        flips = f"{percent(bias.flip_rate)} of {bias.n_swapped:,}" if bias.n_swapped else UNDEFINED
        cells = [rate(bias.first_rate), span, flips, decimal(length.correlation, 2)]
        if wide:
            cells.append(signed_interval(length.correlation_lower, length.correlation_upper))
        unscored = [percent(one.unscored_rate) for one in log.board.replies]
        table.add_row(plain(log.name), *cells, ", ".join(unscored) or UNDEFINED)
    return table


def totals_table(totals: Iterable[Total]) -> Table:
    """Each protocol over all benchmarks (SEAL, table 4)."""
    table = new_table("Agreement", "Mean ρ", "Mean τ", "Top-1", "Calls", "× cost")
    for total in totals:
        table.add_row(
            plain(total.name),
            decimal(total.spearman, 2),
            decimal(total.kendall, 2),
            f"{total.top1:.3g}/{total.n_benchmarks}",
            decimal(total.calls, 1),
            decimal(total.relative_cost, 2),
        )
    return table


def _bounds(figure: AgreementInterval) -> str:
    return signed_interval(figure.lower, figure.upper)


def _times(value: float) -> str:
    return UNDEFINED if math.isnan(value) else f"{decimal(value, 2)}×"


def _whole(value: float) -> str:
    return UNDEFINED if math.isnan(value) else f"{value:,.0f}"
