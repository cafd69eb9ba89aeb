"""From a pool to samples: what a judge is shown, and what the log keeps."""

import json
import math
from collections.abc import Mapping
from typing import Any

import pytest

from tiebreak.candidates import Candidate, CandidatePool, Item, ItemKey
from tiebreak.inspect_tasks.contests import (
    CONTEST_KEY,
    contest_samples,
    restore_contest,
    task_text,
)

USUAL: dict[str, Any] = {
    "task_type": None,
    "rubric": None,
    "seed": 0,
    "saturated_only": False,
    "merge_identical": True,
}


def pool(answers: Mapping[str, str], native: float = 1.0, **item: Any) -> CandidatePool:
    key = ItemKey("gsm8k", "q1")
    return CandidatePool(
        items=(Item(key, "abc", "What is 1 + 1?", "2", **item),),
        candidates={
            key: {m: Candidate(key, m, text, native_score=native) for m, text in answers.items()}
        },
    )


def test_a_contest_survives_the_log() -> None:
    [sample] = contest_samples(pool({"a": "2", "b": "3", "c": "2 "}), **USUAL)
    stored = json.loads(json.dumps(sample.metadata))
    contest = restore_contest(stored)
    assert contest.groups == (("a", "c"), ("b",))
    assert contest.answers == {"a": "2", "b": "3"}
    assert contest.rubric.task_type == "math_reasoning"
    assert contest.ballots("seal", "elimination").native == {"a": 1.0, "b": 1.0, "c": 1.0}


def test_identical_answers_can_be_kept_apart() -> None:
    [sample] = contest_samples(pool({"a": "2", "b": "2"}), **{**USUAL, "merge_identical": False})
    assert restore_contest(sample.metadata or {}).groups == (("a",), ("b",))


def test_a_missing_native_score_is_none_and_not_saturated() -> None:
    [sample] = contest_samples(pool({"a": "2", "b": "3"}, native=math.nan), **USUAL)
    assert (sample.metadata or {})[CONTEST_KEY]["native"] == {"a": None, "b": None}


@pytest.mark.parametrize(
    ("more", "shown"),
    [
        ({}, "What is 1 + 1?"),
        ({"choices": ("2", "3")}, "What is 1 + 1?\n\nA) 2\nB) 3"),
        (
            {"tools": ({"name": "add"},)},
            'What is 1 + 1?\n\nAvailable functions:\n{"name": "add"}',
        ),
    ],
)
def test_task_text(more: dict[str, Any], shown: str) -> None:
    assert task_text(pool({"a": "2"}, **more).items[0]) == shown
