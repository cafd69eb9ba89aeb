"""Formatting of numbers and names in sentences, and splitting texts into words."""

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

# Unicode's unified ideographs and their compatibility forms, with iteration marks.
_IDEOGRAPH: Final = re.compile(
    r"[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


def percent(rate: float) -> str:
    """A rate in [0, 1] as whole percent; only 0 and 1 themselves print as 0% and 100%."""
    if 0 < rate < 0.01:
        return "<1%"
    if 0.99 < rate < 1:
        return ">99%"
    return f"{rate:.0%}"


class Votes(int):
    """A count of votes in place of items, so that sentences say "votes"."""


def count(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun: 1 item, 1,200 items; `plural` for irregular plurals."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listed(names: Sequence[str], separator: str = ", ", most: int = 10) -> str:
    """Join names; after the first `most`, only say how many more there are."""
    more = len(names) - most
    return separator.join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def all_of(names: Iterable[str], last_by: str = "and") -> str:
    """Join one or more names in a sentence: A, B and C; or A, B or C."""
    *most, last = names
    return f"{', '.join(most)} {last_by} {last}" if most else last


def p_value(value: float, *, at_most: bool = False) -> str:
    """A p-value: "p = .012", "p < .001"; with `at_most` an upper bound of several: "p ≤ .012"."""
    if value < 0.001:
        return "p < .001"
    if at_most:
        return f"p ≤ {math.ceil(value * 1000 - 1e-9) / 1000:.3f}".replace("0.", ".")
    return f"p = {value:.3f}".replace("0.", ".")


def visible(text: str, keep: str = "") -> str:
    r"""A text with invisible and terminal control characters replaced by escapes: \x1b.

    Characters in `keep`, e.g. the line breaks of a message, are not replaced.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in keep else char.encode("unicode_escape").decode()
        for char in text
    )


Names = str | list[str] | None
"""Names of models, as a list or as a text separated by commas."""


def split_names(text: str) -> list[str]:
    """The names in "a, b,c", stripped of spaces; "a,,b" and "" contain an empty name."""
    return [name.strip() for name in text.split(",")]


def natural_key(text: str) -> tuple[tuple[bool, int, str], ...]:
    """Sort key that puts `q2` before `q10`; digits of other scripts count as letters."""
    # int() refuses more than 4,300 digits.
    parts = re.split(r"([0-9]{1,4000})", text)
    # The text itself breaks ties between "1" and "01", so that the order is total.
    key = [(True, int(p), "") if p.isdigit() and p.isascii() else (False, 0, p) for p in parts]
    return (*key, (False, 0, text))


def words_of(text: str) -> list[str]:
    """The words of a text, NFKC and case-folded, without punctuation and invisible characters.

    A word is a run of letters, marks and digits, or a single ideograph. Runs of other scripts
    without spaces (kana, Thai, Lao, Khmer, Burmese) are not split, as single letters mean little.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _IDEOGRAPH.sub(r" \g<0> ", "".join(map(_kept, folded))).split()


def _kept(char: str) -> str:
    category = unicodedata.category(char)
    if category == "Cf":
        return ""
    return char if category[0] in "LMN" or char == "_" else " "
