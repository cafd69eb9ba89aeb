"""The estimate on a terminal, and as data."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from tiebreak.estimate.figures import Estimate, ProtocolEstimate
from tiebreak.estimate.notes import assumptions, notes, who_is_asked
from tiebreak.estimate.totals import Interval
from tiebreak.report.console import UNDEFINED, WIDE, plain
from tiebreak.words import count


def estimate_as_dict(found: Estimate) -> dict[str, Any]:
    """The estimate, ready for JSON; every figure has low, likely and high."""
    data = asdict(found)
    del data["reviewers"]
    data["judges"]["peers"] = [
        {**reviewer.model_dump(), "price": peer["price"]}
        for reviewer, peer in zip(found.reviewers, data["judges"]["peers"], strict=True)
    ]
    data["experience"] = None if found.experience is None else _experience(found)
    data["protocols"] = [_row_as_dict(row) for row in found.protocols]
    for name in ("words", "close", "ties"):
        data[name] = getattr(found, name)._asdict()
    return data | {"assumptions": [*assumptions(found)], "notes": [*notes(found)]}


def render_estimate(found: Estimate, console: Console | None = None) -> None:
    """Print one row per protocol, the likely figures above their ranges, and what was assumed."""
    console = console or Console(highlight=False)
    size = f"{count(len(found.models), 'model')} · {count(found.n_items, 'item')}"
    console.print(plain(f"{', '.join(found.benchmarks)} · {size}", "bold"))
    for line in who_is_asked(found.judges):
        console.print(plain(line, "dim"))
    console.print()
    console.print(_table(found, console.width))
    console.print()
    for line in assumptions(found):
        console.print(plain(line, "dim"))
    for note in notes(found):
        console.print(plain(f"Note: {note}", "yellow"))


def _table(found: Estimate, width: int) -> Table:
    longest = max((row.hours.high for row in found.protocols), default=0.0)
    unit, size = ("hours", 1) if longest >= 1 else ("minutes", 60)
    gap = 1 if width >= WIDE else 0
    table = Table(box=box.SIMPLE, pad_edge=False, show_edge=False, padding=(0, gap, 0, 0))
    table.add_column("\nProtocol", overflow="fold", min_width=13)
    headings = ("Per\nitem", "\nCalls", "Tokens\nin", "Tokens\nout", "\nMoney", "\nDepth")
    for heading in (*headings, f"Time,\n{unit}"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in found.protocols:
        table.add_row(
            plain(row.label),
            _cell(row.calls_per_item, _number),
            _cell(row.calls, _whole),
            _cell(row.tokens_in, _tokens),
            _cell(row.tokens_out, _tokens),
            UNDEFINED if row.cost is None else _cell(row.cost, _money),
            _cell(row.depth, _whole),
            _cell(Interval(*(size * hours for hours in row.hours)), _number),
        )
    return table


def _cell(figure: Interval, write: Callable[[float], str]) -> str:
    """The likely value, and below it the range, where there is one."""
    if figure.low == figure.high:
        return write(figure.likely)
    short = _calls if write is _whole else write
    low, high = short(figure.low), short(figure.high)
    if low[-1] == high[-1] and low[-1].isalpha():
        low = low[:-1]
    return f"{write(figure.likely)}\n{low}–{high.removeprefix('$')}"


def _whole(number: float) -> str:
    return f"{number:,.0f}"


def _calls(number: float) -> str:
    """All digits up to 9,999."""
    return _whole(number) if number < 10_000 else _tokens(number)


def _tokens(number: float) -> str:
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if number >= 0.9995 * size:
            return f"{_number(number / size)}{unit}"
    return _whole(number)


def _money(dollars: float) -> str:
    if 0 < dollars < 0.01:
        return f"${dollars:.1g}"
    return f"${dollars:,.0f}" if dollars >= 100 else f"${dollars:.2f}"


def _number(value: float) -> str:
    """Two digits, or all before the point."""
    if value >= 9.95 or value == 0:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 0.095 else f"{value:.1g}"


def _row_as_dict(row: ProtocolEstimate) -> dict[str, Any]:
    figures = {
        name: None if figure is None else figure._asdict()
        for name, figure in (
            (name, getattr(row, name))
            for name in (
                *("calls", "calls_per_item", "tokens_in", "tokens_out"),
                *("cost", "depth", "hours"),
            )
        )
    }
    longest = max(row.longest.values(), default=0)
    return {"protocol": row.label, "fixed": row.fixed, **figures, "longest_prompt": longest}


def _experience(found: Estimate) -> dict[str, Any]:
    known = found.experience
    assert known is not None
    return {
        "models": known.models,
        "n_calls": known.n_calls,
        "repairs": known.repairs,
        "tokens": _tokens_by(known.tokens),
        "reviews": _tokens_by(known.reviews),
    }


def _tokens_by(known: Mapping[Any, tuple[Interval, Interval]]) -> dict[str, Any]:
    return {
        name: {"in": tokens_in._asdict(), "out": tokens_out._asdict()}
        for name, (tokens_in, tokens_out) in known.items()
    }
