"""A benchmark's question, and what its own metric says of an answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Row = Mapping[str, Any]
"""One row of a benchmark's data, in its original schema."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question, the same for every harness that asks it.

    Attributes:
        id: Name of the item inside its benchmark.
        text: The bare question, without any instructions.
        target: The right answer as the benchmark writes it; of choices the letter; of function
            calls their ground truth as JSON.
        choices: Texts of the choices, in order.
        tools: Schemas of the functions on offer, as the data has them.
        messages: The conversation, where it is more than one message of a user: dicts with `role`
            and `content`.
        details: What else its metric needs, such as the tests of a program.
    """

    id: str
    text: str
    target: str
    choices: tuple[str, ...] = ()
    tools: tuple[Mapping[str, Any], ...] = ()
    messages: tuple[Mapping[str, str], ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


def name_of(row: Row, otherwise: str) -> str:
    """The `id` of a row, or another name where it has none."""
    return otherwise if row.get("id") is None else str(row["id"])


class Verdict(NamedTuple):
    """What a native metric says: right or not, what it found in the answer, and why it is wrong."""

    right: bool
    found: str | None
    why: str = ""
