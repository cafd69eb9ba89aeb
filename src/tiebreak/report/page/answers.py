"""What the judges were given: the task, the solution, the rubric and the answers of an item."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tiebreak.candidates import CONTEST_KEY
from tiebreak.ranking_logs.log import JudgedItem

_PARTS: Final = {
    "principles": ("id", "name", "weight", "description"),
    "checklist": ("id", "principle", "description"),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """An item as its judges got it.

    `answers` are those of the representatives, by model. `task`, `target` and `rubric` are None
    where the log does not hold them; `rubric` has the keys "principles" and "checklist".
    """

    task: str | None
    target: str | None
    rubric: Mapping[str, Any] | None
    answers: Mapping[str, str]


def asked(sample: JudgedItem) -> Asked:
    """What a sample asked its judges; the log must have been read with its metadata.

    The metadata of a log is unchecked: what is not as the tasks write it counts as missing.
    """
    contest = sample.metadata.get(CONTEST_KEY)
    known = contest if isinstance(contest, Mapping) else {}
    task, rubric = known.get("task"), known.get("rubric")
    return Asked(
        task=task if isinstance(task, str) else None,
        target=sample.target or None,
        rubric=_slim(rubric) if isinstance(rubric, Mapping) else None,
        answers=sample.answers,
    )


def _slim(rubric: Mapping[str, Any]) -> dict[str, Any]:
    """What a reader of votes needs of a rubric."""
    return {part: list(_described(rubric.get(part), keys)) for part, keys in _PARTS.items()}


def _described(found: object, keys: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The principles or checklist items in a list: those that have an id."""
    for one in found if isinstance(found, list | tuple) else ():
        if isinstance(one, Mapping) and isinstance(one.get("id"), str):
            yield {key: one[key] for key in keys if _fits(key, one.get(key))}


def _fits(key: str, value: object) -> bool:
    if key == "weight":
        return isinstance(value, int | float) and math.isfinite(value)
    return isinstance(value, str)
