"""One result of a run: what a model got on a benchmark, by which metric, and when."""

from dataclasses import dataclass
from typing import NamedTuple

_MAX_LENGTH = 200


class Result(NamedTuple):
    """A score of a model on a benchmark, better when higher.

    `task` is the benchmark's name as the file has it. `metric` was chosen out of `choices`. `when`
    is the start of the run in seconds since 1970, −inf where the file does not say. `n_items` is
    the number of items scored, None where the file does not say.
    """

    model: str
    task: str
    benchmark: str
    score: float
    metric: str
    choices: tuple[str, ...]
    when: float
    n_items: int | None
    source: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What one file gave: results, and sentences on what it did not give and why.

    `lacking` lists the metrics of those tasks that have not the metric that was asked for.
    """

    results: tuple[Result, ...] = ()
    notes: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()


def first_line(text: str) -> str:
    """The first line of an error message, not longer than a note should be."""
    line = next(iter(text.strip().splitlines()), "no message")
    return line if len(line) <= _MAX_LENGTH else f"{line[: _MAX_LENGTH - 1]}…"
