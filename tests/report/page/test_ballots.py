"""Ballots in the page: what a log says of them, but for the calls, the empty, and long numbers."""

import json
import math
from typing import Any

import pytest

from tests.analysis.peers.builders import reviews
from tests.ranking_logs.builders import all_pairs, bracket, call, graded, listed
from tests.report.page.sample_report import played
from tiebreak.report.page.items import short, slim
from tiebreak.scorers.ballots import ItemBallots

KINDS = {
    "seal": played(["a", "b", "c", "d", "e"], why="because"),
    "bracket": bracket("q", "a", "b", "c"),
    "pairs": all_pairs("q", "abcd", swapped="bacd"),
    "points": graded("q", {"a": 0.9, "b": 0.5, "c": 0.1}, native={"a": 1, "b": 0, "c": None}),
    "listing": listed("q", [["a", "b"], ["c"]]),
    "reviews": reviews("q", {"a": "abc", "b": "bac", "c": "cab"}),
}


def in_a_log(ballots: ItemBallots) -> dict[str, Any]:
    stored: dict[str, Any] = json.loads(ballots.model_dump_json())
    return stored


def six_decimals(number: str) -> float:
    return round(float(number), 6)


@pytest.mark.parametrize("kind", KINDS)
def test_they_are_read_again_as_they_were(kind: str) -> None:
    stored = in_a_log(KINDS[kind].model_copy(update={"calls": (call(), call())}))
    found = slim(stored, str)
    assert "calls" not in found
    shortened = json.loads(json.dumps(stored | {"calls": []}), parse_float=six_decimals)
    assert ItemBallots.model_validate(found) == ItemBallots.model_validate(shortened)
    said = json.dumps(found["matches"]) if "matches" in found else ""
    assert '""' not in said
    assert "null" not in said
    assert "[]" not in said


def test_a_falsehood_and_a_zero_are_said() -> None:
    stored = in_a_log(all_pairs("q", "ab", swapped="ab"))
    stored["matches"][0] |= {"flipped": False, "margin": 0.0, "critique": None}
    [match] = slim(stored, str)["matches"]
    assert (match["flipped"], match["margin"]) == (False, 0.0)
    assert "critique" not in match


@pytest.mark.parametrize("odd", [None, 7, "left", ["left", 0.5]])
def test_votes_of_another_form_stay_as_they_are(odd: object) -> None:
    stored = in_a_log(KINDS["seal"])
    [verdict, *_] = stored["matches"][0]["verdicts"]
    verdict["principles"]["P1"], verdict["checklist"] = odd, odd
    [match, *_] = slim(stored, str)["matches"]
    assert match["verdicts"][0]["principles"]["P1"] == odd
    assert match["verdicts"][0].get("checklist") == odd


@pytest.mark.parametrize(
    ("number", "kept"),
    [
        (1 / 3, 0.333333),
        (-0.12345649, -0.123456),
        (0.5, 0.5),
        (7, 7),
        (True, True),
        (None, None),
        (math.nan, None),
        (-math.inf, None),
    ],
)
def test_numbers(number: float | None, kept: float | None) -> None:
    assert short({"a": number}) == {"a": kept}
    stored = in_a_log(bracket("q", "a", "b", "c")) | {"native": {"a": number}}
    stored["matches"][0]["verdicts"][0]["margin"] = number
    found = slim(stored, str)
    assert found["native"] == {"a": kept}
    if kept is not None:
        assert found["matches"][0]["verdicts"][0]["margin"] == kept
