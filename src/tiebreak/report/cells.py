"""Numbers and names as cells of a table and parts of a line on the terminal."""

import math

from rich.text import Text

from tiebreak.words import percent

UNDEFINED = "–"


def plain(text: str, style: str = "") -> Text:
    """One line of text, shown as it is: it folds, and what would steer a terminal is replaced."""
    words = " ".join(text.split())
    shown = "".join(char if char.isprintable() else "\ufffd" for char in words)
    return Text(shown, style=style, overflow="fold")


def decimal(value: float, digits: int = 3) -> str:
    """A number with so many digits after the point."""
    # Adding 0 turns the -0.0 that rounding can leave into 0.0.
    return UNDEFINED if math.isnan(value) else f"{round(value, digits) + 0:.{digits}f}"


def rate(value: float) -> str:
    """A rate in [0, 1] as whole percent."""
    return UNDEFINED if math.isnan(value) else percent(value)


def interval(lower: float, upper: float) -> str:
    """An interval of numbers that are never negative."""
    return UNDEFINED if math.isnan(lower) else f"{lower:.3f}–{upper:.3f}"


def signed_interval(lower: float, upper: float) -> str:
    """An interval of numbers that may be negative: a dash would look like one more minus sign."""
    return UNDEFINED if math.isnan(lower) else f"{decimal(lower, 2)} to {decimal(upper, 2)}"


def percents(lower: float, upper: float) -> str:
    """An interval of rates, as percent."""
    return f"{lower * 100:.0f}–{upper * 100:.0f}%"


def whole(value: int | None) -> str:
    """A rank."""
    return UNDEFINED if value is None else str(value)


def ranks(lower: int | None, upper: int | None) -> str:
    """An interval of ranks."""
    return UNDEFINED if lower is None or upper is None else f"{lower}–{upper}"


def money(amount: float | None) -> str:
    """US dollars."""
    if amount is None:
        return UNDEFINED
    if 0 < amount < 0.0001:
        return "<$0.0001"
    return f"${amount:,.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"
