"""What the judges were given: the task, the rubric and the answers of an item."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tiebreak.candidates import CONTEST_KEY
from tiebreak.ranking_logs.log import answers_in

_PARTS: Final = {
    "principles": ("id", "name", "weight", "description"),
    "checklist": ("id", "principle", "description"),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """An item as its judges got it.

    `answers` are those of the representatives, by model. `task` and `rubric` are None where the log
    does not hold them; `rubric` has the keys "principles" and "checklist".
    """

    task: str | None
    rubric: Mapping[str, Any] | None
    answers: Mapping[str, str]


def asked(metadata: Mapping[str, Any]) -> Asked:
    """What a sample asked its judges, out of its metadata.

    That is unchecked: what is not as the tasks write it counts as missing.
    """
    contest = metadata.get(CONTEST_KEY)
    known = contest if isinstance(contest, Mapping) else {}
    task, rubric = known.get("task"), known.get("rubric")
    return Asked(
        task=task if isinstance(task, str) else None,
        rubric=_slim(rubric) if isinstance(rubric, Mapping) else None,
        answers=answers_in(metadata),
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
