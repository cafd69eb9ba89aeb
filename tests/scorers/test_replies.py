"""Replies: what is accepted, what is refused, and that schema and parser agree."""

import copy
import json
from collections.abc import Callable, Iterator
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
    parse_places,
    parse_refinement,
    parse_rubric,
    parse_stars,
    parse_votes,
    refinement_schema,
    rubric_schema,
    votes_schema,
)

VOTES = {
    "principles": {"reasoning": ["r"], "vote": ["left"], "confidence": [0.5]},
    "checklist": {"vote": ["left", "tie"], "confidence": [0.5, 0]},
}
GRADES = {"reasoning": ["r"], "grade": [10]}
RUBRIC = {"P1": {"full": "f", "half": "h", "none": "n"}}
TIERS = {"reasoning": "r", "tiers": {"R1": 1, "R2": 2}}
PLACES = {"reasoning": "r", "places": {"R1": 2, "R2": 1, "R3": 2}}
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
    "places": (
        lambda t: parse_places(t, ["R1", "R2", "R3"]),
        levels_schema("places", ["R1", "R2", "R3"], 3),
        PLACES,
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
        if key != "reasoning":  # asked for, so that the judge thinks first
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
        ('{"a": ' + "1" * 5000 + "}", "not valid JSON"),  # a number that Python refuses to read
        ('{"tiers": [], "principles": []}', "."),
    ],
)
def test_what_is_no_reply(kind: str, text: str, words: str) -> None:
    with pytest.raises(ReplyError, match=words):
        PARSERS[kind][0](text)


def votes_with(part: str = "principles", **change: Any) -> dict[str, Any]:
    return {**VOTES, part: {**VOTES[part], **change}}


@pytest.mark.parametrize(
    ("kind", "reply", "words"),
    [
        ("votes", votes_with(vote=["Left"]), "principles P1: vote"),
        ("votes", votes_with(vote=[None]), "principles P1: vote"),
        ("votes", votes_with(confidence=[42]), "principles P1: confidence"),
        ("votes", votes_with(confidence=[-0.1]), "principles P1: confidence"),
        ("votes", votes_with(confidence=[float("nan")]), "principles P1: confidence"),
        ("votes", votes_with(reasoning=[1]), "principles P1: reasoning"),
        ("votes", votes_with(vote="left"), "vote of principles is no list: .* one entry .* P1"),
        ("votes", votes_with(vote={"P1": "left"}), "vote of principles is no list"),
        ("votes", votes_with(vote=[]), "vote of principles has 0 entries"),
        ("votes", votes_with(vote=["left", "left"]), "vote of principles has 2 entries"),
        ("votes", votes_with(reasoning=[]), "reasoning of principles has 0 entries"),
        ("votes", votes_with("checklist", vote=["left"]), "1 entries: .* each of C1, C2"),
        ("votes", votes_with("checklist", confidence=[1, 1, 1]), "confidence of checklist has 3"),
        ("votes", {**VOTES, "checklist": {"vote": ["left", "tie"]}}, "checklist lacks confidence"),
        ("votes", {**VOTES, "checklist": ["left", "tie"]}, "checklist must be a JSON object"),
        ("tiers", {"tiers": {"R1": 1}}, "lacks R2"),
        ("tiers", {"tiers": {"R1": 1, "R2": 3}}, "tiers R2 is 3"),
        ("tiers", {"tiers": {"R1": True, "R2": 1}}, "tiers R1 is True"),
        ("tiers", {"tiers": {"R1": 1.5, "R2": 1}}, "tiers R1 is 1.5"),
        (
            "tiers",
            {"tiers": {"R1": "1", "R2": 1}},
            "tiers R1 is something else, not a whole number",
        ),
        ("tiers", {"tiers": {"R1": 10**99, "R2": 1}}, "tiers R1 is 10000000000000000000, not"),
        ("places", {"places": {"R1": 1, "R2": 2, "R4": 3}}, "none of R1, R2, R3"),
        ("places", {"places": {"R1": 1, "R2": 2, "": 3}}, "none of R1, R2, R3"),
        ("places", {"places": {"r1": 1, "R2": 2, "R3": 3}}, "none of R1, R2, R3"),
        ("places", {"places": {"R2": 1}}, "at least two responses"),
        ("places", {"places": {}}, "at least two responses"),
        ("places", {"places": ["R2", "R1", "R3"]}, "places must be a JSON object"),
        (
            "places",
            {"places": {"R1": 0, "R2": 1}},
            "R1 is 0, not a whole number from 1 to 3",
        ),
        (
            "places",
            {"places": {"R1": 1, "R2": 4}},
            "R2 is 4, not a whole number from 1 to 3",
        ),
        ("places", {"places": {"R1": 1, "R2": None}}, "places R2 is None"),
        ("places", {"places": {"R1": 1, "R2": 2, "R3": True}}, "places R3 is True"),
        ("places", {"places": {"R1": 1, "R2": 1.5}}, "places R2 is 1.5"),
        ("grades", {"grade": [11]}, "P1 grade is 11"),
        ("grades", {"grade": [None]}, "P1 grade is None"),
        ("grades", {"grade": []}, "grade of the reply has 0 entries"),
        ("grades", {"reasoning": ["r", "s"], "grade": [1]}, "reasoning of the reply has 2 entries"),
        ("grades", {"reasoning": ["r"]}, "lacks grade"),
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


def test_a_verdict_and_unknown_keys_are_ignored() -> None:
    more = {**votes_with("checklist", C9="?"), "verdict": "right"}
    assert PARSERS["votes"][0](json.dumps(more)) == PARSERS["votes"][0](json.dumps(VOTES))


def test_lists_are_in_the_order_of_the_ids() -> None:
    votes = parse_votes(
        json.dumps(votes_with(reasoning=["a", "b"], vote=["left", "tie"], confidence=[1, 0])),
        ["P2", "P1"],
        ["C1", "C2"],
    )
    assert [(p, v.reasoning, v.vote) for p, v in votes.principles.items()] == [
        ("P2", "a", "left"),
        ("P1", "b", "tie"),
    ]
    assert parse_grades('{"grade": [3, 8]}', ["P2", "P1"]) == {"P2": 3, "P1": 8}


def test_only_providers_get_no_lengths() -> None:
    schema = votes_schema(["P1", "P2"], ["C1"]).json_schema
    assert "Items" not in json.dumps(schema.model_dump(exclude_none=True))
    whole = schema.model_dump(exclude_none=True, serialize_as_any=True)
    lists = whole["properties"]["principles"]["properties"].values()
    assert {(one["minItems"], one["maxItems"]) for one in lists} == {(2, 2)}


def test_places_may_be_tied_and_may_be_missing() -> None:
    parse = PARSERS["places"][0]
    assert parse(json.dumps(PLACES)) == {"R1": 2, "R2": 1, "R3": 2}
    assert parse('{"places": {"R3": 3, "R1": 1}}') == {"R1": 1, "R3": 3}
    assert parse('{"places": {"R2": 3, "R3": 3}}') == {"R2": 3, "R3": 3}


def with_each_text_replaced(reply: Any, text: str) -> Iterator[Any]:
    """The reply with one value or key after the other replaced by a text."""
    if isinstance(reply, dict):
        for key, value in reply.items():
            yield {text if k == key else k: v for k, v in reply.items()}
            for changed in with_each_text_replaced(value, text):
                yield {**reply, key: changed}
    elif isinstance(reply, list):
        for place, value in enumerate(reply):
            for changed in with_each_text_replaced(value, text):
                yield [*reply[:place], changed, *reply[place + 1 :]]
    else:
        yield text


@pytest.mark.parametrize("kind", PARSERS)
def test_the_error_does_not_repeat_what_the_judge_wrote(kind: str) -> None:
    # It would come back in the repair turn, as if we had said it.
    said = "do as I say " * 50
    parse, _, good = PARSERS[kind]
    replies = [json.dumps(reply) for reply in with_each_text_replaced(good, said)]
    replies.append(json.dumps({said: 1})[:-1] + "," + json.dumps({said: 1})[1:])
    problems = []
    for reply in replies:
        try:
            parse(reply)
        except ReplyError as error:
            problems.append(str(error))
    assert problems
    assert not any("do as I say" in problem for problem in problems)
    assert all(len(problem) < 300 for problem in problems)


def test_criteria_are_one_line_each() -> None:
    # Everything that some program takes for a line break.
    breaks = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
    rubric = {"P1": dict.fromkeys(("full", "half", "none"), breaks.join("abc"))}
    [criterion] = parse_rubric(json.dumps(rubric), ["P1"])
    assert (criterion.full, criterion.half, criterion.none) == ("a b c",) * 3
    item = parse_refinement(json.dumps({**ITEM, "description": breaks.join("abc")}), ["P1"])
    assert item.description == "a b c"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is empty"),
        (" \n", "it is empty"),
        ("no", "it holds no JSON object"),
        ("} no {", "it holds no JSON object"),
        ("{}", "places must be a JSON object"),
        ('{"places": {"R9": 1}}', "places names a response that is none of R1, R2, R3"),
        ('{"places": {"R1": 1}}', "places must give at least two responses a place"),
        (
            '{"places": {"R1": 1, "R2": "2"}}',
            "places R2 is something else, not a whole number from 1 to 3",
        ),
        ('{"places": {"R1": 4, "R2": 1}}', "places R1 is 4, not a whole number from 1 to 3"),
        ('{"places": {"R1": 1, "R1": 1}}', "it names a key more than once"),
    ],
)
def test_why_in_full(text: str, why: str) -> None:
    with pytest.raises(ReplyError) as caught:
        PARSERS["places"][0](text)
    assert str(caught.value) == why


def test_at_both_ends_of_every_scale() -> None:
    labels = ["R1", "R2", "R3"]
    assert parse_levels('{"t": {"R1": 1, "R2": 3, "R3": 2}}', "t", labels, 3) == {
        **{"R1": 1, "R2": 3, "R3": 2},
    }
    assert parse_places('{"places": {"R3": 3, "R1": 1}}', labels) == {"R3": 3, "R1": 1}
    assert parse_grades('{"grade": [0, 10]}', ["P1", "P2"]) == {"P1": 0, "P2": 10}
    for grades in ("[-1, 10]", "[0, 11]"):
        with pytest.raises(ReplyError, match="not a whole number from 0 to 10"):
            parse_grades(f'{{"grade": {grades}}}', ["P1", "P2"])
    for text in ("x" * 400, " x \n y "):
        item = parse_refinement(json.dumps({**ITEM, "description": text}), ["P0", "P1"])
        assert item.description == " ".join(text.split())
        [criterion] = parse_rubric(json.dumps({"P1": {**RUBRIC["P1"], "half": text}}), ["P1"])
        assert criterion.half == " ".join(text.split())


@pytest.mark.parametrize(
    ("text", "allowed", "stars", "reason"),
    [
        ('{"Overall Rating": 0, "reason": "r"}', (0, 1, 2, 3), 0, "r"),
        ('{"Overall Rating": 3, "reason": ""}', (2, 3), 3, ""),
        ("Overall Rating: 2\nThe reason why you gave this rating: so it is", (2, 3), 2, "so it is"),
    ],
)
def test_stars(text: str, allowed: tuple[int, ...], stars: int, reason: str) -> None:
    assert parse_stars(text, allowed) == (stars, reason)


@pytest.mark.parametrize(
    ("text", "allowed", "why"),
    [
        (
            '{"Overall Rating": 1, "reason": "r"}',
            (2, 3),
            "Overall Rating is 1, and the answer is known to be correct: it can only be 2 or 3",
        ),
        (
            '{"Overall Rating": 2, "reason": "r"}',
            (0, 1),
            "Overall Rating is 2, and the answer is known to be wrong: it can only be 0 or 1",
        ),
        (
            '{"Overall Rating": 4, "reason": "r"}',
            (0, 1, 2, 3),
            "Overall Rating is 4, not a whole number from 0 to 3",
        ),
        (
            '{"Overall Rating": -1, "reason": "r"}',
            (0, 1, 2, 3),
            "Overall Rating is -1, not a whole number from 0 to 3",
        ),
        ('{"Overall Rating": 1, "reason": 1}', (0, 1), "reason must be a text"),
        ('{"reason": "r"}', (0, 1), "the reply lacks Overall Rating"),
        ("{}", (0, 1), "the reply lacks Overall Rating, reason"),
    ],
)
def test_stars_that_there_cannot_be(text: str, allowed: tuple[int, ...], why: str) -> None:
    with pytest.raises(ReplyError) as caught:
        parse_stars(text, allowed)
    assert str(caught.value) == why


@pytest.mark.parametrize("kind", PARSERS)
def test_schemas_allow_nothing_else_and_are_not_copied(kind: str) -> None:
    schema = PARSERS[kind][1]
    assert copy.deepcopy(schema) is schema
    assert schema.strict is True
    rules = schema.json_schema.model_dump(exclude_none=True)
    assert rules["additionalProperties"] is False
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**PARSERS[kind][2], "verdict": "left"}, rules)


def test_the_schema_of_votes_says_how_long_its_lists_are() -> None:
    number = {"type": "number", "minimum": 0, "maximum": 1}
    side = {"type": "string", "enum": ["left", "right", "tie"]}
    shape = votes_schema(["P1", "P2"], ["C1"]).json_schema.model_dump(exclude_none=True)
    assert list(shape["properties"]) == ["principles", "checklist"]
    of_principles = shape["properties"]["principles"]["properties"]
    assert {name: one["items"] for name, one in of_principles.items()} == {
        **{"reasoning": {"type": "string"}, "vote": side, "confidence": number},
    }
    of_items = shape["properties"]["checklist"]["properties"]
    assert {name: one["items"] for name, one in of_items.items()} == {
        **{"vote": side, "confidence": number},
    }
    alone = votes_schema([], ["C1"]).json_schema.model_dump(exclude_none=True)
    assert list(alone["properties"]) == ["checklist"]
    assert "reasoning" in alone["properties"]["checklist"]["properties"]
