"""What the judges were given: the task, the solution, the rubric and the answers of an item."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tiebreak.candidates import CONTEST_KEY
from tiebreak.report.log_file import JudgedSample

_PRINCIPLE = ("id", "name", "weight", "description")
_PROBE = ("id", "principle", "description")


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


def asked(sample: JudgedSample) -> Asked:
    """What a sample asked its judges; the log must have been read with its metadata."""
    contest = sample.metadata.get(CONTEST_KEY)
    if not isinstance(contest, Mapping):
        return Asked(None, sample.target or None, None, {})
    rubric = contest.get("rubric")
    return Asked(
        task=contest.get("task"),
        target=sample.target or None,
        rubric=_slim(rubric) if isinstance(rubric, Mapping) else None,
        answers=dict(contest.get("answers") or {}),
    )


def _slim(rubric: Mapping[str, Any]) -> dict[str, Any]:
    """What a reader of votes needs of a rubric."""
    return {
        part: [{key: one[key] for key in keys if key in one} for one in rubric.get(part) or ()]
        for part, keys in (("principles", _PRINCIPLE), ("checklist", _PROBE))
    }
