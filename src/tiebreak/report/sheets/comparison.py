"""Sheets and data of a comparison of protocols: agreement, prices, biases of the judge, totals.

Further tables have each model's rank and score under each protocol, and protocols by benchmark.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from tiebreak.analysis.comparison import BenchmarkComparison, ComparedLog, Comparison, Total
from tiebreak.analysis.entries import ScoredModel
from tiebreak.analysis.judge.figures import JudgeFigures
from tiebreak.rankers.stability import ResampledAgreement
from tiebreak.reason import Reason
from tiebreak.report.cells import (
    UNDEFINED,
    Cell,
    decimal,
    dollars,
    estimate,
    integer,
    number,
    share,
    share_bounds,
    span,
    words,
)
from tiebreak.report.json import document, in_columns, json_ready, only
from tiebreak.report.sheet import (
    Column,
    Section,
    Sheet,
    Table,
    interval_heading,
    model_names,
    names,
    numbers,
)
from tiebreak.text import count, percent

_BILL = ("n_calls", "n_cached", "input_tokens", "output_tokens", "cost", "paid")


def sheets_of(comparison: Comparison) -> list[Sheet]:
    """A sheet per benchmark, one for all of them, and one on how the intervals are made."""
    return [
        *(benchmark_sheet(benchmark, comparison) for benchmark in comparison.benchmarks),
        *([totals_sheet(comparison)] if comparison.totals else []),
        Sheet(sections=(intervals(comparison),), notes=tuple(map(str, comparison.notes))),
    ]


def data_of(comparison: Comparison) -> dict[str, Any]:
    """The fields of `Comparison` under "tiebreak/comparison", version 2, with slim logs.

    The shape::

        {"format", "version", "reference", "level", "draws", "seed",
         "benchmarks": [{"benchmark", "reference": its name, "logs": [LOG], "orders",
                         "orders_expected", "warnings", "notes"}],
         "totals", "notes"}

    LOG has the fields "name", "role", "run", "n_items", "n_models", "agreement", "expected",
    "gain", "places" and "price" of `ComparedLog`, "protocol", "placed_by", "log", "eval_id",
    "created", "judges", "judge", "trust" and "warnings" of its `Leaderboard`, and as "total" the
    "n_calls", "n_cached", "input_tokens", "output_tokens", "cost" and "paid" of its `Receipt`.
    """
    return document(
        "tiebreak/comparison",
        2,
        reference=comparison.reference,
        **json_ready(comparison.how),
        benchmarks=[
            {
                "benchmark": benchmark.benchmark,
                "reference": benchmark.reference.name,
                "logs": [_log(log) for log in benchmark.logs],
                **only(benchmark, "orders", "orders_expected", "warnings", "notes"),
            }
            for benchmark in comparison.benchmarks
        ],
        **only(comparison, "totals", "notes"),
    )


def rows_of(comparison: Comparison) -> list[dict[str, Any]]:
    """One row per benchmark and log; the reference's own agreement is empty."""
    return [
        {"benchmark": benchmark.benchmark} | _flat(log)
        for benchmark in comparison.benchmarks
        for log in benchmark.logs
    ]


def benchmark_sheet(benchmark: BenchmarkComparison, comparison: Comparison) -> Sheet:
    """The sheet of one benchmark: its logs compared with their reference."""
    reference = benchmark.reference
    size = f"{count(reference.n_items, 'item')} · {count(reference.n_models, 'model')}"
    board, level = reference.board, comparison.how.level
    judges = ", ".join(board.judges) or "no call"
    agreements = Section.of(_agreements(benchmark, level), legend=_expected(benchmark))
    prices, bills = _prices(benchmark.logs), _bills(benchmark.logs)
    tables = (prices, bills, _judges(benchmark.logs, level))
    sections = (
        *filter(None, (agreements, *map(Section.of, tables))),
        Section.of(legend=[Reason("compared_figures")]),
        *places(benchmark, level),
    )
    return Sheet(
        f"{benchmark.benchmark} · against {reference.name} · {size}",
        (f"judge of the reference: {judges} · log: {board.log}",),
        warnings=tuple(map(str, benchmark.warnings)),
        sections=sections,
        notes=tuple(map(str, benchmark.notes)),
    )


def totals_sheet(comparison: Comparison) -> Sheet:
    """The sheet of each protocol's means over all benchmarks."""
    title = f"All {count(len(comparison.benchmarks), 'benchmark')}"
    tables = (_totals(comparison.totals), *by_benchmark(comparison))
    return Sheet(title, sections=tuple(map(Section.of, tables)))


def intervals(comparison: Comparison) -> Section:
    """How the intervals are made, and how to read them."""
    how = comparison.how
    return Section.of(legend=[Reason("intervals_of_rho", draws=how.draws, seed=how.seed)])


def _agreements(benchmark: BenchmarkComparison, level: float) -> Table:
    """Agreement with the reference (SEAL, tables 1 and 4); noise ceilings in the last rows."""
    within = interval_heading(level)
    protocols = [log for log in benchmark.logs if log.role != "ceiling"]
    ceilings = [log for log in benchmark.logs if log.role == "ceiling"]
    rows = [_agreement(log.name, log.n_items, log.agreement, log.gain.value) for log in protocols]
    rules = [len(rows)]
    for log in ceilings:
        name = f"noise ceiling: {log.name}"
        rows.append(_agreement(name, log.n_items, log.agreement, log.gain.value))
    if benchmark.orders:
        n_items = benchmark.orders.spearman.n_items
        rows.append(_agreement("noise ceiling: each order", n_items, benchmark.orders, math.nan))
    gain = Column("Gain", meaning=str(Reason("gain_of_scores")))
    columns = (
        *(names("Agreement"), *numbers("ρ", within, "τ", within, "Top-1")),
        *(gain, Column("in draws", spare=1), Column("Items", spare=1)),
    )
    return Table.of(columns, rows, f"Agreement with {benchmark.reference.name}", rules=rules)


def _expected(benchmark: BenchmarkComparison) -> Iterator[Reason]:
    shown = [
        f"{log.name} {decimal(log.agreement.spearman.value, 2)} (about {decimal(log.expected, 2)})"
        for log in benchmark.logs
        if log.agreement is not None and not math.isnan(log.expected)
    ]
    if shown:
        yield Reason("expected_rho", n=benchmark.reference.n_items, logs=shown)


def _agreement(
    name: str, n_items: int, figures: ResampledAgreement | None, gain: float
) -> tuple[Cell, ...]:
    cells = [Cell(UNDEFINED)] * 5
    same_first = math.nan
    if figures is not None:
        same_first = figures.top1_share
        cells = [*estimate(figures.spearman), *estimate(figures.kendall), top1(figures)]
    last = (number(gain, 2, unit="×"), share(same_first), integer(n_items))
    return (words(name), *cells, *last)


def _prices(logs: Sequence[ComparedLog]) -> Table:
    """Calls, successive calls, tokens and money per item (SEAL, tables 5 and 6b)."""
    priced = _priced(logs)
    columns = (
        *(names("Per item"), *numbers("Calls", "×", "In a row", "Tokens", "×")),
        *(numbers("$ per 1,000", "×") if priced else ()),
    )
    rows = [(words(log.name), *_price(log, priced=priced)) for log in logs]
    return Table.of(columns, rows, "What an item costs")


def _price(log: ComparedLog, *, priced: bool) -> Iterator[Cell]:
    price = log.price
    yield from (number(price.calls, 1), number(price.relative_calls, 2), number(price.depth, 1))
    yield from (integer(price.tokens), number(price.relative_tokens, 2))
    if priced:
        yield dollars(None if math.isnan(price.cost) else 1000 * price.cost)
        yield number(price.relative_cost, 2)


def _bills(logs: Sequence[ComparedLog]) -> Table:
    """Calls, tokens and money of whole runs (SEAL, table 6a); no rows if no model was called."""
    priced = _priced(logs)
    columns = ("Calls", "Tokens in", "Tokens out", "All tokens", *(["Worth"] if priced else []))
    rows = []
    for log in logs:
        bill = log.board.receipt
        counts = (bill.n_calls, bill.input_tokens, bill.output_tokens)
        tokens = bill.input_tokens + bill.output_tokens
        money = [dollars(bill.cost)] if priced else []
        rows.append((words(log.name), *map(integer, (*counts, tokens)), *money))
    asked = any(log.board.receipt.n_calls for log in logs)
    return Table.of(
        (names("All items"), *numbers(*columns)), rows if asked else (), "What all items cost"
    )


def _priced(logs: Sequence[ComparedLog]) -> bool:
    return any(log.price.cost > 0 for log in logs)


def _judges(logs: Sequence[ComparedLog], level: float) -> Table:
    """Biases of the judges: position, flips, length; and the share of unscored questions."""
    within = f"{level * 100:g}%"
    columns = (
        *(model_names("Judge"), *numbers("First won", within, "Flips", "Longer gains")),
        *(Column(interval_heading(level), spare=1), Column("Unscored")),
    )
    rows = [_judge(log) for log in logs if log.board.rule.by_matches]
    return Table.of(columns, rows, "What the judge goes by")


def _judge(log: ComparedLog) -> Iterator[Cell]:
    judge = log.board.judge
    position, flips, length = judge.position, judge.flips, judge.length
    yield from (words(log.name), share(position.rate.value))
    yield share_bounds(position.rate.lower, position.rate.upper) if position.n else Cell(UNDEFINED)
    shown = f"{percent(flips.rate.value)} of {flips.n:,}"
    yield Cell(shown, flips.rate.value) if flips.n else Cell(UNDEFINED)
    yield number(length.gain.value, 2)
    yield span(length.gain)
    rates = [reply.unscored_rate.value for reply in judge.replies]
    yield Cell(", ".join(map(percent, rates)) or UNDEFINED, rates[0] if rates else None)


def _totals(totals: Sequence[Total]) -> Table:
    """Means of each protocol over all benchmarks (SEAL, table 4)."""
    return Table.of(
        (names("Agreement"), *numbers("Mean ρ", "Mean τ", "Top-1", "Calls", "× cost")),
        (
            (
                *(words(total.name), number(total.spearman, 2), number(total.kendall, 2)),
                Cell(f"{total.top1:.3g}/{total.n_benchmarks}", total.top1 / total.n_benchmarks),
                *(number(total.calls, 1), number(total.relative_cost, 2)),
            )
            for total in totals
        ),
        "Means over benchmarks",
    )


def _log(log: ComparedLog) -> dict[str, Any]:
    return {
        **only(log, "name", "role", "run"),
        **only(log.board, "protocol", "placed_by", "log", "eval_id", "created", "judges"),
        **only(log, "n_items", "n_models", "agreement", "expected", "gain", "places", "price"),
        "total": only(log.board.receipt, *_BILL),
        **only(log.board, "judge", "trust", "warnings"),
    }


def _flat(log: ComparedLog) -> dict[str, Any]:
    board, agreement = log.board, log.agreement
    cells: dict[str, Any] = only(log, "name", "role") | only(board, "protocol", "log")
    cells |= only(log, "n_items", "n_models")
    for name in ("spearman", "kendall"):
        cells |= in_columns(name, getattr(agreement, name, None))
    cells["spearman_expected"] = log.expected
    price = json_ready(log.price)
    return cells | {
        "top1": agreement.top1.value if agreement else None,
        "top1_share": agreement.top1_share if agreement else None,
        "gain": log.gain.value,
        "n_judged": price.pop("n_items"),
        **price,
        **{f"total_{name}": getattr(board.receipt, name) for name in _BILL},
        **_judge_figures(board.judge),
        "trust": board.trust.state,
    }


def _judge_figures(judge: JudgeFigures) -> dict[str, Any]:
    position, flips, length = judge.position, judge.flips, judge.length
    return {
        "first_rate": position.rate.value,
        "first_lower": position.rate.lower,
        "first_upper": position.rate.upper,
        "n_first": position.n,
        "flip_rate": flips.rate.value,
        "n_swapped": flips.n,
        "length_gain": length.gain.value,
        "length_lower": length.gain.lower,
        "length_upper": length.gain.upper,
        "n_questions": sum(reply.n_questions for reply in judge.replies),
        "n_unscored": sum(reply.n_unscored for reply in judge.replies),
    }


T = TypeVar("T")

# Protocols and benchmarks of one table: more make it wider than 80 characters.
_PROTOCOLS, _BENCHMARKS = 7, 4


def places(benchmark: BenchmarkComparison, level: float) -> Iterator[Section]:
    """Rank and score of each model by protocol (SEAL, table 9), in the reference's order."""
    models = dict.fromkeys(
        row.model for log in (benchmark.reference, *benchmark.logs) for row in log.places
    )
    parts = list(_parts(list(_first_runs(benchmark)), _PROTOCOLS))
    for logs in parts:
        columns = [Column(log.name, left=True, folds=8, short=_folded(log.name)) for log in logs]
        rows_by_log = [{row.model: row for row in log.places} for log in logs]
        rows = [
            (words(model), *(_place(by_model.get(model)) for by_model in rows_by_log))
            for model in models
        ]
        table = Table.of((names("Rank and score"), *columns), rows, "Ranks and scores")
        legend = [Reason("scales_of_scores", level=level * 100)] if logs is parts[-1] else []
        yield Section.of(table, legend=legend)


def _place(row: ScoredModel | None) -> Cell:
    if row is None or row.rank is None:
        return Cell(UNDEFINED)
    ends = "" if math.isnan(row.lower) else f"{_short(row.lower, 2)}–{_short(row.upper, 2)}"
    return Cell(f"#{row.rank} {_short(row.value, 3)}", row.rank, under=ends)


def _short(value: float, digits: int) -> str:
    """A number in [0, 1] without its leading zero, as in the paper: 7 columns fit into 80."""
    shown = decimal(value, digits).removeprefix("0")
    return shown if shown.startswith(".") else shown[: digits + 1].removesuffix(".0")


def _folded(name: str) -> str:
    return name.replace("_", "_\n").replace(" ", "\n")


def by_benchmark(comparison: Comparison) -> Iterator[Table]:
    """Tables of protocols by benchmarks: ρ and gain (SEAL, table 1), top-1 (table 4)."""
    runs = [
        (benchmark.benchmark, {log.name: log for log in _first_runs(benchmark)})
        for benchmark in comparison.benchmarks
    ]
    protocols = dict.fromkeys(name for _, logs in runs for name in logs)
    shown: dict[str, Callable[[ComparedLog], Cell]] = {
        f"ρ with {comparison.reference}": _rho,
        "Gain": lambda log: number(log.gain.value, 2, unit="×"),
        "Top-1": lambda log: top1(log.agreement),
    }
    for heading, cell in shown.items():
        for part in _parts(runs, _BENCHMARKS):
            columns = (names(heading), *numbers(*(benchmark for benchmark, _ in part)))
            rows = [
                (words(p), *(cell(logs[p]) if p in logs else Cell(UNDEFINED) for _, logs in part))
                for p in protocols
            ]
            yield Table.of(columns, rows, f"{heading} by benchmark")


def _rho(log: ComparedLog) -> Cell:
    if log.agreement is None:
        return Cell(UNDEFINED)
    rho = log.agreement.spearman
    return replace(number(rho.value, 2), under=span(rho).text)


def top1(agreement: ResampledAgreement | None) -> Cell:
    """Whether two boards have the same model first, or a share if models are tied for first."""
    if agreement is None:
        return Cell(UNDEFINED)
    value = agreement.top1.value
    return Cell({0.0: "no", 1.0: "yes"}.get(value, decimal(value, 2)), number(value).key)


def _first_runs(benchmark: BenchmarkComparison) -> Iterator[ComparedLog]:
    """The reference, and the first run of each other protocol."""
    return (
        log
        for log in benchmark.logs
        if log.role == "reference" or (log.role == "protocol" and log.run == 1)
    )


def _parts(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Parts of up to `size` values; a terminal shows them below each other."""
    return (values[start : start + size] for start in range(0, len(values), size))
