"""An estimate as a sheet, and as data."""

from collections.abc import Callable, Mapping
from typing import Any

from tiebreak.estimate.experience import Experience
from tiebreak.estimate.figures import Estimate, ProtocolEstimate
from tiebreak.estimate.notes import assumptions, notes, who_is_asked
from tiebreak.estimate.totals import Interval
from tiebreak.report.cells import UNDEFINED, Cell, words
from tiebreak.report.json import json_ready, only
from tiebreak.report.sheet import Column, Section, Sheet, Table, names
from tiebreak.words import count

_FIGURES = ("calls", "calls_per_item", "tokens_in", "tokens_out", "cost", "depth", "hours")


def sheets_of(found: Estimate) -> list[Sheet]:
    """One row per protocol, the likely figures above their ranges, and what was assumed."""
    size = f"{count(len(found.models), 'model')} · {count(found.n_items, 'item')}"
    return [
        Sheet(
            f"{', '.join(found.benchmarks)} · {size}",
            tuple(who_is_asked(found.judges)),
            sections=(Section.of(_table(found)), Section.of(legend=assumptions(found))),
            notes=tuple(notes(found)),
        )
    ]


def data_of(found: Estimate) -> dict[str, Any]:
    """The fields of `Estimate`; every figure has low, likely and high."""
    data: dict[str, Any] = json_ready(found)
    reviewers = data.pop("reviewers")
    data["judges"]["peers"] = [
        {**reviewer, "price": peer["price"]}
        for reviewer, peer in zip(reviewers, data["judges"]["peers"], strict=True)
    ]
    more = {
        "experience": found.experience and _experience(found.experience),
        "protocols": [_row(row) for row in found.protocols],
        "assumptions": assumptions(found),
        "notes": notes(found),
    }
    return {**data, **json_ready(more)}


def _table(found: Estimate) -> Table:
    longest = max((row.hours.high for row in found.protocols), default=0.0)
    unit, size = ("hours", 1) if longest >= 1 else ("minutes", 60)
    columns = (
        names("Protocol", 13),
        *(Column("Per item", short="Per\nitem"), Column("Calls")),
        *(Column("Tokens in", short="Tokens\nin"), Column("Tokens out", short="Tokens\nout")),
        *(Column("Money"), Column("Depth"), Column(f"Time, {unit}", short=f"Time,\n{unit}")),
    )
    rows = [
        (
            words(row.label),
            *(_cell(row.calls_per_item, _number), _cell(row.calls, _whole)),
            *(_cell(row.tokens_in, _tokens), _cell(row.tokens_out, _tokens)),
            Cell(UNDEFINED) if row.cost is None else _cell(row.cost, _money),
            _cell(row.depth, _whole),
            _cell(Interval(*(size * hours for hours in row.hours)), _number),
        )
        for row in found.protocols
    ]
    return Table.of(columns, rows, "What judging would cost", gap=1)


def _cell(figure: Interval, write: Callable[[float], str]) -> Cell:
    """The likely value, and below it the range, where there is one."""
    if figure.low == figure.high:
        return Cell(write(figure.likely), figure.likely)
    short = _calls if write is _whole else write
    low, high = short(figure.low), short(figure.high)
    if low[-1] == high[-1] and low[-1].isalpha():
        low = low[:-1]
    return Cell(write(figure.likely), figure.likely, under=f"{low}–{high.removeprefix('$')}")


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


def _row(row: ProtocolEstimate) -> dict[str, Any]:
    longest = max(row.longest.values(), default=0)
    return {
        "protocol": row.label,
        "fixed": row.fixed,
        **only(row, *_FIGURES),
        "longest_prompt": longest,
    }


def _experience(known: Experience) -> dict[str, Any]:
    def by(tokens: Mapping[Any, tuple[Interval, Interval]]) -> dict[str, Any]:
        return {name: dict(zip(("in", "out"), both, strict=True)) for name, both in tokens.items()}

    return {
        **only(known, "models", "n_calls", "repairs"),
        "tokens": by(known.tokens),
        "reviews": by(known.reviews),
    }
