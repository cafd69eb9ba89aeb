"""Replies: what is accepted, what is refused, and that schema and parser agree."""

import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

from tiebreak.scorers.replies import (
    ReplyError,
    critique_schema,
    grades_schema,
    levels_schema,
    parse_critique,
    parse_grades,
    parse_levels,
    parse_refinement,
    parse_rubric,
    parse_votes,
    refinement_schema,
    rubric_schema,
    votes_schema,
)

VOTE = {"vote": "left", "confidence": 0.5}
VOTES = {"principles": {"P1": {"reasoning": "r", **VOTE}}, "checklist": {"C1": VOTE, "C2": VOTE}}
GRADES = {"principles": {"P1": {"reasoning": "r", "grade": 10}}}
RUBRIC = {"P1": {"full": "f", "half": "h", "none": "n"}}
TIERS = {"reasoning": "r", "tiers": {"R1": 1, "R2": 2}}
ITEM = {
    "principle_id": "P1",
    "description": "It says 3.",
    "differentiator": "d",
    "anchor_split": "4 vs 3",
    "higher_snippet": "3",
    "lower_snippet": "2",
}
CRITIQUE = {"left": "l", "right": "r"}

Parser = Callable[[str], Any]
PARSERS: dict[str, tuple[Parser, Any, Any]] = {
    "votes": (
        lambda t: parse_votes(t, ["P1"], ["C1", "C2"]),
        votes_schema(["P1"], ["C1", "C2"]),
        VOTES,
    ),
    "tiers": (
        lambda t: parse_levels(t, "tiers", ["R1", "R2"], 2),
        levels_schema("tiers", ["R1", "R2"], 2),
        TIERS,
    ),
    "grades": (lambda t: parse_grades(t, ["P1"]), grades_schema(["P1"]), GRADES),
    "rubric": (lambda t: parse_rubric(t, ["P1"]), rubric_schema(["P1"]), RUBRIC),
    "item": (lambda t: parse_refinement(t, ["P1"]), refinement_schema(["P1"]), ITEM),
    "critique": (parse_critique, critique_schema(), CRITIQUE),
}


@pytest.mark.parametrize("kind", PARSERS)
def test_schema_and_parser_accept_the_same_reply(kind: str) -> None:
    parse, schema, good = PARSERS[kind]
    rules = schema.json_schema.model_dump(exclude_none=True)
    jsonschema.validate(good, rules)
    parse(json.dumps(good))
    for key in good:
        part = {k: v for k, v in good.items() if k != key}
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(part, rules)
        if (kind, key) != ("tiers", "reasoning"):  # asked for, so that the judge thinks first
            with pytest.raises(ReplyError):
                parse(json.dumps(part))


@pytest.mark.parametrize("kind", PARSERS)
@pytest.mark.parametrize(
    "wrapped", ["{}", "```json\n{}\n```", "Here you are:\n{}\nThat is all."], ids=range(3)
)
def test_wrapping_is_forgiven(kind: str, wrapped: str) -> None:
    parse, _, good = PARSERS[kind]
    text = json.dumps(good)
    assert parse(wrapped.replace("{}", text)) == parse(text)


@pytest.mark.parametrize("kind", PARSERS)
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("left", "no JSON object"),
        ('{"a": ', "no JSON object"),
        ('{"a": }', "not valid JSON"),
        ('{"a": 1, "a": 2}', "more than once"),
        ("{" * 100_000 + "}" * 100_000, "not valid JSON"),
        ('{"tiers": [], "principles": []}', "."),
    ],
)
def test_what_is_no_reply(kind: str, text: str, words: str) -> None:
    with pytest.raises(ReplyError, match=words):
        PARSERS[kind][0](text)


def votes_with(**change: Any) -> dict[str, Any]:
    return {**VOTES, "principles": {"P1": {**VOTES["principles"]["P1"], **change}}}


@pytest.mark.parametrize(
    ("kind", "reply", "words"),
    [
        ("votes", votes_with(vote="Left"), "principles P1: vote"),
        ("votes", votes_with(vote=None), "principles P1: vote"),
        ("votes", votes_with(confidence=42), "principles P1: confidence"),
        ("votes", votes_with(confidence=-0.1), "principles P1: confidence"),
        ("votes", votes_with(confidence=float("nan")), "principles P1: confidence"),
        ("votes", {**VOTES, "checklist": {"C1": VOTE}}, "checklist lacks C2"),
        ("votes", {**VOTES, "checklist": {"C1": VOTE, "C2": "left"}}, "C2 must be a JSON object"),
        ("tiers", {"tiers": {"R1": 1}}, "lacks R2"),
        ("tiers", {"tiers": {"R1": 1, "R2": 3}}, "tiers R2 is 3"),
        ("tiers", {"tiers": {"R1": True, "R2": 1}}, "tiers R1 is True"),
        ("tiers", {"tiers": {"R1": 1.5, "R2": 1}}, "tiers R1 is 1.5"),
        ("grades", {"principles": {"P1": {"grade": 11}}}, "P1 grade is 11"),
        ("grades", {"principles": {"P1": {"reasoning": "r"}}}, "P1 grade is None"),
        ("grades", {"principles": {}}, "lacks P1"),
        ("rubric", {"P2": RUBRIC["P1"]}, "lacks P1"),
        ("rubric", {"P1": {**RUBRIC["P1"], "half": " "}}, "P1 half"),
        ("rubric", {"P1": {**RUBRIC["P1"], "none": "x" * 401}}, "P1 none"),
        ("item", {**ITEM, "principle_id": "P2"}, "not one of P1"),
        ("item", {**ITEM, "anchor_split": "4 vs 2"}, "anchor_split"),
        ("item", {**ITEM, "description": "   "}, "description"),
        ("item", {**ITEM, "description": "x" * 401}, "description"),
        ("critique", {"left": 1, "right": ""}, "left"),
    ],
)
def test_incomplete_or_impossible_replies(kind: str, reply: Any, words: str) -> None:
    with pytest.raises(ReplyError, match=words):
        PARSERS[kind][0](json.dumps(reply))


def test_a_verdict_and_unknown_ids_are_ignored() -> None:
    more = {**VOTES, "verdict": "right", "checklist": {**VOTES["checklist"], "C9": "?"}}
    assert PARSERS["votes"][0](json.dumps(more)) == PARSERS["votes"][0](json.dumps(VOTES))


def test_a_new_item_is_one_line() -> None:
    reply = parse_refinement(json.dumps({**ITEM, "description": "It says\n\n C9: 3."}), ["P1"])
    assert reply.description == "It says C9: 3."


def test_the_error_does_not_repeat_what_the_judge_wrote() -> None:
    with pytest.raises(ReplyError) as caught:
        PARSERS["votes"][0](json.dumps(votes_with(vote="do as I say")))
    assert "do as I say" not in str(caught.value)
