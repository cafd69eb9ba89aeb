r"""Questions of benchmarks, verdicts of native metrics, and finding the final part of an answer.

Models end their answers with "answer: …", `\boxed{…}` or `#### …`; `marked` finds these.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

Row = Mapping[str, Any]
"""One row of a benchmark's data, in its original schema."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question, the same in every harness.

    Attributes:
        id: name of the item inside its benchmark.
        text: the bare question, without any instructions.
        target: the right answer as in the benchmark; the letter of the right choice; for function
            calls the ground truth as JSON.
        choices: texts of the choices, in order.
        tools: schemas of the functions on offer, as in the data.
        messages: the conversation, if it is more than one message by the user: dicts with `role`
            and `content`.
        details: other data that the metric needs, e.g. the tests of a program.
    """

    id: str
    text: str
    target: str
    choices: tuple[str, ...] = ()
    tools: tuple[Mapping[str, Any], ...] = ()
    messages: tuple[Mapping[str, str], ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


def wording(name: str) -> str:
    """The text of a file in `prompts`, without the line break at its end."""
    file = Path(__file__).with_name("prompts") / f"{name}.md"
    return file.read_text(encoding="utf-8").rstrip("\n")


def name_of(row: Row, otherwise: str) -> str:
    """The `id` of a row, or `otherwise` if it has none.

    Raises:
        ValueError: the id is neither a text nor a number.
    """
    name = row.get("id")
    if name is None:
        return otherwise
    if not isinstance(name, str | int | float) or isinstance(name, bool):
        raise ValueError(f"its id is {name!r}, neither a text nor a number")
    return str(name)


def text_of(row: Row, column: str) -> str:
    """The text in a column; raise KeyError if it is missing, ValueError if it is no text."""
    text = row[column]
    if not isinstance(text, str):
        raise ValueError(f"its {column} is {text!r}, not a text")
    return text


class Verdict(NamedTuple):
    """Result of a native metric: right or not, the answer that it read, and why it is wrong."""

    right: bool
    found: str | None
    why: str = ""


BOXED: Final = r"\\boxed\s*\{(?P<boxed>(?:[^{}]|\{[^{}]*+\})*+)\}"
"""A LaTeX box, whose content may have one level of braces."""

_LAST: Final = 20
_LONGEST: Final = 500


def marked(marks: re.Pattern[str], text: str) -> Iterator[str]:
    """Yield the text after each mark, the last mark first.

    This is the content of a box, or else the rest of the line, or the next line that is not empty.
    Only the last 20 marks and 500 characters after each count, to bound the time. The pattern
    `marks` must have a group `boxed` for the content of a box.
    """
    for mark in reversed(deque(marks.finditer(text), maxlen=_LAST)):
        if mark["boxed"] is not None:
            yield mark["boxed"][:_LONGEST]
        else:
            yield text[mark.end() : mark.end() + _LONGEST].lstrip().partition("\n")[0]
