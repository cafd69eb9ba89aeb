"""Replies: what is accepted, what is refused, and that schema and parser agree."""

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema
import pytest

from tests.cases import cases
from tests.expected import check
from tiebreak.scorers import replies
from tiebreak.scorers.replies import ReplyError

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
STARS = {"Overall Rating": 1, "reason": "r"}

Parser = Callable[[str], Any]
PARSERS: dict[str, tuple[Parser, Any, Any]] = {
    "votes": (
        lambda t: replies.parse_votes(t, ["P1"], ["C1", "C2"]),
        replies.votes_schema(("P1",), ("C1", "C2")),
        VOTES,
    ),
    "tiers": (
        lambda t: replies.parse_levels(t, "tiers", ["R1", "R2"], 2),
        replies.levels_schema("tiers", ["R1", "R2"], 2),
        TIERS,
    ),
    "places": (
        lambda t: replies.parse_places(t, ["R1", "R2", "R3"]),
        replies.levels_schema("places", ["R1", "R2", "R3"], 3),
        PLACES,
    ),
    "grades": (lambda t: replies.parse_grades(t, ["P1"]), replies.grades_schema(("P1",)), GRADES),
    "rubric": (lambda t: replies.parse_rubric(t, ["P1"]), replies.rubric_schema(["P1"]), RUBRIC),
    "item": (
        lambda t: replies.parse_refinement(t, ["P1"]),
        replies.refinement_schema(["P1"]),
        ITEM,
    ),
    "critique": (
        lambda t: replies.parse_object(replies.CritiqueReply, t),
        replies.critique_schema(),
        CRITIQUE,
    ),
    "stars": (replies.parse_stars, replies.stars_schema((0, 1, 2, 3)), STARS),
    "stars of a wrong answer": (
        lambda t: replies.parse_stars(t, (0, 1)),
        replies.stars_schema((0, 1)),
        STARS,
    ),
    "stars of a right answer": (
        lambda t: replies.parse_stars(t, (2, 3)),
        replies.stars_schema((2, 3)),
        STARS | {"Overall Rating": 2},
    ),
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


BAD: dict[str, list[Any]] = cases(__file__, "refused")


def test_incomplete_or_impossible_replies() -> None:
    lines = []
    for kind, refused in BAD.items():
        for reply in refused:
            text = reply if isinstance(reply, str) else json.dumps(reply)
            with pytest.raises(ReplyError) as caught:
                PARSERS[kind][0](text)
            lines.append(f"{kind} | {text[:80]!r} | {caught.value}\n")
    check(__file__, "bad_replies.txt", "".join(lines))


def test_a_verdict_and_unknown_keys_are_ignored() -> None:
    more = {**votes_with("checklist", C9="?"), "verdict": "right"}
    assert PARSERS["votes"][0](json.dumps(more)) == PARSERS["votes"][0](json.dumps(VOTES))


def test_only_providers_get_no_lengths() -> None:
    schema = replies.votes_schema(("P1", "P2"), ("C1",)).json_schema
    assert "Items" not in json.dumps(schema.model_dump(exclude_none=True))
    whole = schema.model_dump(exclude_none=True, serialize_as_any=True)
    lists = whole["properties"]["principles"]["properties"].values()
    assert {(one["minItems"], one["maxItems"]) for one in lists} == {(2, 2)}


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
    changed = [json.dumps(reply) for reply in with_each_text_replaced(good, said)]
    changed.append(json.dumps({said: 1})[:-1] + "," + json.dumps({said: 1})[1:])
    problems = []
    for reply in changed:
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
    [criterion] = replies.parse_rubric(json.dumps(rubric), ["P1"])
    assert (criterion.full, criterion.half, criterion.none) == ("a b c",) * 3
    item = replies.parse_refinement(json.dumps({**ITEM, "description": breaks.join("abc")}), ["P1"])
    assert item.description == "a b c"


def test_at_both_ends_of_every_scale() -> None:
    labels = ["R1", "R2", "R3"]
    assert replies.parse_levels('{"t": {"R1": 1, "R2": 3, "R3": 2}}', "t", labels, 3) == {
        **{"R1": 1, "R2": 3, "R3": 2},
    }
    assert replies.parse_places('{"places": {"R3": 3, "R1": 1}}', labels) == {"R3": 3, "R1": 1}
    assert replies.parse_places(json.dumps(PLACES), labels) == PLACES["places"]
    assert replies.parse_grades('{"grade": [0, 10]}', ["P1", "P2"]) == {"P1": 0, "P2": 10}
    for text in ("x" * 400, " x \n y "):
        item = replies.parse_refinement(json.dumps({**ITEM, "description": text}), ["P0", "P1"])
        assert item.description == " ".join(text.split())
        [criterion] = replies.parse_rubric(
            json.dumps({"P1": {**RUBRIC["P1"], "half": text}}), ["P1"]
        )
        assert criterion.half == " ".join(text.split())


@pytest.mark.parametrize("kind", PARSERS)
def test_schemas_allow_nothing_else_and_are_not_copied(kind: str) -> None:
    schema = PARSERS[kind][1]
    assert copy.deepcopy(schema) is schema
    assert schema.strict is True
    rules = schema.json_schema.model_dump(exclude_none=True)
    assert rules["additionalProperties"] is False
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**PARSERS[kind][2], "verdict": "left"}, rules)
