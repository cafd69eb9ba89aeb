"""Numbers as text, formatted alike in sentences and in tables, and the cells of tables.

Undefined values (NaN, None) are shown as `UNDEFINED` and sort last.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from tiebreak.text import percent

UNDEFINED = "–"

Tone = Literal["", "good", "bad"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table: the text to show, and the `key` it sorts by, None if undefined.

    The text may come from logs, so every renderer escapes it. `under` is a second line, e.g. the
    interval of an estimate; `tone` marks good or bad news, for renderers that have colour. `span`
    is (lower bound, value, upper bound) of an interval that may be drawn.
    """

    text: str
    key: float | str | None = None
    tone: Tone = ""
    under: str = ""
    span: tuple[float, float, float] | None = None


def words(text: str) -> Cell:
    """A name or other text; sorting ignores case."""
    return Cell(text, text.casefold() if text not in ("", UNDEFINED) else None)


def number(value: float, digits: int = 3, *, unit: str = "", tone: Tone = "") -> Cell:
    """A number with `digits` decimals, followed by its unit without a space."""
    shown = decimal(value, digits)
    return Cell(shown if math.isnan(value) else f"{shown}{unit}", _key(value), tone)


def signed(value: float, digits: int = 2, *, tone: Tone = "") -> Cell:
    """A difference with `digits` decimals, always with its sign."""
    shown = UNDEFINED if math.isnan(value) else f"{round(value, digits) + 0:+.{digits}f}"
    return Cell(shown, _key(value), tone)


def integer(value: float | None) -> Cell:
    """A count."""
    known = value is not None and not math.isnan(value)
    return Cell(f"{value:,.0f}", value) if known else Cell(UNDEFINED)


def rank(value: int | None) -> Cell:
    """A rank, or another small whole number."""
    return Cell(whole(value), value)


def rank_range(lower: int | None, upper: int | None) -> Cell:
    """An interval of ranks."""
    return Cell(ranks(lower, upper), lower if upper is not None else None)


def bounds(lower: float, upper: float, digits: int = 3, *, value: float = math.nan) -> Cell:
    """An interval of numbers that are never negative; with `value` it can also be drawn."""
    span = None if math.isnan(lower + value + upper) else (lower, value, upper)
    return Cell(interval(lower, upper, digits), _key(lower), span=span)


def span(figure: Any) -> Cell:
    """The interval of a figure that may be negative: its attributes `lower` and `upper`."""
    return Cell(signed_interval(figure.lower, figure.upper), _key(figure.lower))


def estimate(figure: Any) -> tuple[Cell, Cell]:
    """Cells for a figure that may be negative, with two decimals, and for its interval."""
    return number(figure.value, 2), span(figure)


def share(value: float) -> Cell:
    """A rate in [0, 1] as percent."""
    return Cell(rate(value), _key(value))


def share_estimate(figure: Any) -> tuple[Cell, Cell]:
    """Cells for a rate and for its interval."""
    return share(figure.value), share_bounds(figure.lower, figure.upper)


def share_bounds(lower: float, upper: float) -> Cell:
    """An interval of rates."""
    return Cell(UNDEFINED if math.isnan(lower) else percents(lower, upper), _key(lower))


def above(cell: Cell, below: str) -> Cell:
    """The cell with `below` as its second line, unless `below` is undefined."""
    return replace(cell, under="" if below == UNDEFINED else below)


def with_bounds(figure: Any) -> Cell:
    """A figure that is never negative, with its interval as second line."""
    return above(number(figure.value, 2), interval(figure.lower, figure.upper, 1))


def signed_with_bounds(figure: Any) -> Cell:
    """A difference with its interval as second line."""
    return above(signed(figure.value, 2), signed_interval(figure.lower, figure.upper, 1))


def dollars(amount: float | None) -> Cell:
    """An amount in US dollars."""
    return Cell(money(amount), amount)


def decimal(value: float, digits: int = 3) -> str:
    """A number with `digits` decimals."""
    # Adding 0 turns the -0.0 that rounding can leave into 0.0.
    return UNDEFINED if math.isnan(value) else f"{round(value, digits) + 0:.{digits}f}"


def scores(values: Sequence[float]) -> str:
    """Scores in the benchmarks' own units, separated by commas; one number if all are equal."""
    texts = [f"{value:g}" for value in values]
    return ", ".join(texts if len(set(texts)) > 1 else texts[:1])


def rate(value: float) -> str:
    """A rate in [0, 1] as whole percent."""
    return UNDEFINED if math.isnan(value) else percent(value)


def interval(lower: float, upper: float, digits: int = 3) -> str:
    """An interval of numbers that are never negative."""
    if math.isnan(lower):
        return UNDEFINED
    return f"{decimal(lower, digits)}–{decimal(upper, digits)}"


def signed_interval(lower: float, upper: float, digits: int = 2) -> str:
    """An interval of numbers that may be negative, with "to": a dash would look like a minus."""
    if math.isnan(lower):
        return UNDEFINED
    return f"{decimal(lower, digits)} to {decimal(upper, digits)}"


def percents(lower: float, upper: float) -> str:
    """An interval of rates as whole percent, e.g. "12–37%"."""
    return f"{lower * 100:.0f}–{upper * 100:.0f}%"


def whole(value: int | None) -> str:
    """A rank as text."""
    return UNDEFINED if value is None else str(value)


def ranks(lower: int | None, upper: int | None) -> str:
    """An interval of ranks, e.g. "1–3", or "1" if both ends are equal."""
    if lower is None or upper is None:
        return UNDEFINED
    return str(lower) if lower == upper else f"{lower}–{upper}"


def money(amount: float | None) -> str:
    """An amount in US dollars as text; cents from one dollar up, four decimals below."""
    if amount is None:
        return UNDEFINED
    if 0 < amount < 0.0001:
        return "<$0.0001"
    return f"${amount:,.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"


def _key(value: float) -> float | None:
    return None if math.isnan(value) else value


def forecast(n: float) -> str:
    """A forecast of a number with two digits, more than it knows; "over 10,000" above that."""
    return "over 10,000" if n > 10_000 else f"{float(f'{n:.2g}'):,.0f}"
