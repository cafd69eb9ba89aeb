"""How much of a fault is tried, and what came of it."""

import os
from dataclasses import asdict, dataclass

import pytest

FULL = os.environ.get("TIEBREAK_FAULTS") == "full"
"""`make faults` tries everything; `make test` tries a part of it, so that it stays quick."""


def amount(quick: int, full: int) -> int:
    """How many to try here."""
    return full if FULL else quick


@dataclass(frozen=True)
class Tried:
    """A row of the table of faults.

    Attributes:
        fault: what was done to the program, such as "kill -9, seal".
        tried: how often.
        survived: how often it ended as it would have without the fault, or with the named error.
        lost: results that were lost: ballots, items, rows, as the fault's text says.
        repeated_calls: calls to a model that were paid for twice; None where none are made.
    """

    fault: str
    tried: int
    survived: int
    lost: int = 0
    repeated_calls: int | None = None


def record(request: pytest.FixtureRequest, row: Tried) -> None:
    """Add a row to the table that is printed at the end, and that `make faults` keeps."""
    request.node.user_properties.append(("tried", asdict(row)))
