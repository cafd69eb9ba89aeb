"""Native scores, case by case."""

import json
from typing import Any

import pytest

from tiebreak.inspect_tasks.native import call_problem, last_number, letter


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("3 + 4 = 7\n#### 7", 7),
        ("#### 5\nAnother: 3 apples", 5),
        ("#### 1\n#### 2", 2),
        ("The answer is 1,234.50 dollars", 1234.5),
        ("It sinks to -3", -3),
        ("So 2 + 2 = 4.", 4),
        ("#### $12", 12),
        ("none at all", None),
        ("", None),
    ],
)
def test_last_number(text: str, number: float | None) -> None:
    assert last_number(text) == number


CHOICES = ["Paris", "Rome", "A horse", "Oslo"]


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("A", "A"),
        ("B) Rome", "B"),
        ("(C). Because.", "C"),
        ("**D**", None),
        ("The correct answer is D) Oslo", "D"),
        ("Answer: B", "B"),
        ("The capital is paris.", "A"),
        ("Paris or Rome", None),
        ("E) Bonn", None),
        ("A horse runs", "A"),  # an article reads as a letter: the first letter rule is simple
        ("I cannot say", None),
        ("", None),
    ],
)
def test_letter(answer: str, found: str | None) -> None:
    assert letter(answer, CHOICES) == found


TRUTH = [{"f": {"n": [2], "unit": ["", "km"], "on": [True], "tags": [["a", "b"]]}}]
RIGHT = {"n": 2, "on": True, "tags": ["a", "b"]}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (RIGHT, None),
        ({**RIGHT, "n": 2.0}, None),
        ({**RIGHT, "unit": " KM "}, None),
        ({**RIGHT, "unit": "m"}, "unit is 'm'"),
        ({**RIGHT, "n": True}, "n is True"),
        ({**RIGHT, "on": 1}, "on is 1"),
        ({**RIGHT, "n": "2"}, "n is '2'"),
        ({**RIGHT, "tags": ["b", "a"]}, "tags is ['b', 'a']"),
        ({**RIGHT, "extra": 1}, "there is no argument extra"),
        ({"on": True, "tags": ["a", "b"]}, "the argument n is missing"),
    ],
)
def test_arguments(arguments: dict[str, Any], problem: str | None) -> None:
    assert call_problem(json.dumps({"name": "f", "arguments": arguments}), TRUTH) == problem


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("f(2)", "no function call in JSON"),
        ("[1]", "no function call in JSON"),
        ('{"name": "f"}', "no function call in JSON"),
        ('{"name": "f", "arguments": [2]}', "the arguments are no JSON object"),
        ('{"name": "g", "arguments": {}}', "the function is g, not f"),
    ],
)
def test_what_is_no_call(answer: str, problem: str) -> None:
    assert call_problem(answer, TRUTH) == problem


def test_several_expected_calls_are_never_matched_by_one() -> None:
    answer = json.dumps({"name": "f", "arguments": RIGHT})
    assert call_problem(answer, TRUTH * 2) == "2 calls were expected, and one was made"


def test_nested_objects() -> None:
    truth = [{"f": {"at": [{"x": [1, 2], "y": [3]}]}}]
    good = {"name": "f", "arguments": {"at": {"x": 2, "y": 3}}}
    bad = {"name": "f", "arguments": {"at": {"x": 5, "y": 3}}}
    assert call_problem(json.dumps(good), truth) is None
    assert call_problem(json.dumps(bad), truth) == "at is {'x': 5, 'y': 3}"
