"""Where two questions differ, shown so that the difference can be seen."""

import unicodedata
from collections.abc import Iterator
from typing import Final

from tiebreak.candidates.identity import canonical_target, collapse, tool_signatures
from tiebreak.candidates.pool import Item
from tiebreak.words import visible

_BEFORE: Final = 20
_LONGEST: Final = 60


def excerpts(one: Item, other: Item) -> tuple[str, str, str]:
    """Where two items differ, and an excerpt of each around the first difference.

    What makes two items two questions is compared (see `input_hash`), so layout is passed over.
    """
    for where, left, right in _parts(one, other):
        if left != right:
            place, *shown = _around(left, right)
            return f"{where}{place}", shown[0], shown[1]
    return "in nothing that is shown", _quoted(one.prompt, 0), _quoted(other.prompt, 0)


def _parts(one: Item, other: Item) -> Iterator[tuple[str, str, str]]:
    yield "in the text", collapse(one.prompt), collapse(other.prompt)
    if len(one.choices) != len(other.choices):
        yield "in number", f"{len(one.choices)} choices", f"{len(other.choices)} choices"
    for number, (left, right) in enumerate(zip(one.choices, other.choices, strict=False), 1):
        yield f"in choice {number}", collapse(left), collapse(right)
    tools = [str(tool_signatures(item.tools)) for item in (one, other)]
    yield "in the tools", tools[0], tools[1]
    yield "in the right answer", _target(one), _target(other)


def _target(item: Item) -> str:
    return canonical_target(item.target, item.choices) or collapse(item.target)


def _around(left: str, right: str) -> tuple[str, str, str]:
    """The place of the first difference in two texts, in words, and both around it."""
    pairs = enumerate(zip(left, right, strict=False))
    at = next((k for k, (a, b) in pairs if a != b), min(len(left), len(right)))
    place = f", from character {at + 1:,} on" if at else ""
    chars = [text[at : at + 1] for text in (left, right)]
    names = ["", ""]
    # A letter of another script may look like one of this script.
    if any(char > "~" for char in chars):
        names = [f" (there: {_named(char)})" for char in chars]
    return place, _quoted(left, at) + names[0], _quoted(right, at) + names[1]


def _quoted(text: str, at: int) -> str:
    start = max(0, at - _BEFORE) if len(text) > _LONGEST else 0
    part = text[start : start + _LONGEST]
    before, after = "…" if start else "", "…" if start + _LONGEST < len(text) else ""
    return f"'{before}{visible(part)}{after}'"


def _named(char: str) -> str:
    if not char:
        return "the end"
    return f"U+{ord(char):04X} {unicodedata.name(char, '')}".strip()
