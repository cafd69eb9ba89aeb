import json
import time
import unicodedata
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import cases
from tiebreak.candidates import (
    Candidate,
    ItemKey,
    benchmark_name,
    identical_groups,
    input_hash,
    namesakes,
    normalise_answer,
)
from tiebreak.candidates.identity import canonical_target
from tiebreak.candidates.question import tools_from

PARAMETERS = {
    "type": "object",
    "properties": {"b": {"type": "integer"}, "a": {"type": "integer"}},
    "required": ["a", "b"],
}
OPENAI = {
    "type": "function",
    "function": {"name": "math_gcd", "description": "Divisor.", "parameters": PARAMETERS},
}
TOOL_INFO = {"name": "math_gcd", "description": "Greatest divisor.", "parameters": PARAMETERS}
BFCL = {
    "name": "math.gcd",
    "description": "Other words.",
    "parameters": {
        "type": "dict",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "description": "b"}},
    },
}

SAME_QUESTION = cases(__file__, "same question")


@pytest.mark.parametrize(("one", "other"), SAME_QUESTION)
def test_hash_ignores_spelling_that_does_not_change_the_question(one: str, other: str) -> None:
    assert input_hash(one) == input_hash(other)


def test_hash_tells_questions_choices_and_their_order_apart() -> None:
    hashes = {
        input_hash("q"),
        input_hash("Q"),
        input_hash("q", ["a", "b"]),
        input_hash("q", ["b", "a"]),
        input_hash("q", ["a b"]),
        input_hash("q", (), [OPENAI]),
        input_hash("q a b"),
        input_hash("q", target="1"),
        input_hash("q", target="2"),
        input_hash("q", ["a", "b"], target="A"),
    }
    assert len(hashes) == 10


def test_hash_is_the_same_for_all_schema_shapes() -> None:
    assert len({input_hash("q", (), [tool]) for tool in (OPENAI, TOOL_INFO, BFCL)}) == 1


def test_hash_ignores_the_order_of_tools_but_not_their_parameters() -> None:
    second = {"name": "lcm", "parameters": {"properties": {"x": {}}}}
    wider = {"name": "lcm", "parameters": {"properties": {"x": {}, "y": {}}}}
    assert input_hash("q", (), [OPENAI, second]) == input_hash("q", (), [second, OPENAI])
    assert input_hash("q", (), [second]) != input_hash("q", (), [wider])


def test_hash_survives_half_a_surrogate_pair() -> None:
    assert len(input_hash("\ud83d")) == 32


@pytest.mark.parametrize(
    ("targets", "choices", "canonical"),
    [
        *cases(__file__, "targets have one form"),
        (["1" * 5000], ("dog", "a cat"), None),
        (["[" * 9 + "{" + "[" * 100_000, "[{" * 10_000], (), None),
    ],
)
def test_targets_have_one_form(
    targets: list[str], choices: tuple[str, ...], canonical: str | None
) -> None:
    assert {canonical_target(target, choices) for target in targets} == {canonical}


SAME_ANSWER = cases(__file__, "same answer")
DIFFERENT_ANSWERS = cases(__file__, "different answers")


@pytest.mark.parametrize(("one", "other"), SAME_ANSWER)
def test_normalised_answers_agree(one: str, other: str) -> None:
    assert normalise_answer(one) == normalise_answer(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT_ANSWERS)
def test_normalised_answers_differ(one: str, other: str) -> None:
    assert normalise_answer(one) != normalise_answer(other)


def candidate(model: str, text: str, **arguments: object) -> Candidate:
    calls = ({"function": "f", "arguments": arguments},) if arguments else ()
    return Candidate(ItemKey("gsm8k", "q"), model, text, tool_calls=calls)


def test_groups_hold_every_model_once_and_are_ordered() -> None:
    answers = [
        candidate("z", "42 "),
        candidate("m", "43"),
        candidate("b", "42"),
        candidate("c", "", x=1, y=2),
        candidate("a", "", y=2, x=1),
        candidate("d", "", x=1, y=3),
    ]
    groups = identical_groups({answer.model: answer for answer in answers})
    assert groups == (("a", "c"), ("b", "z"), ("d",), ("m",))


@pytest.mark.parametrize(("raw", "name"), cases(__file__, "benchmark name"))
def test_benchmark_name(raw: str, name: str) -> None:
    assert benchmark_name(raw) == name


def test_tools_as_json_text_have_the_same_hash() -> None:
    shapes = [[BFCL], BFCL, json.dumps([BFCL]), json.dumps(BFCL), [json.dumps(BFCL)]]
    assert len({input_hash("q", (), tools_from(shape)) for shape in shapes}) == 1


@pytest.mark.parametrize("value", ["def f(): ...", "[1, 2]", "", None, 3, [], {"x": 1}])
def test_what_is_no_tool_schema_is_no_tool(value: object) -> None:
    assert tools_from(value) == ()


@pytest.mark.parametrize(("name", "others", "found"), cases(__file__, "what may be the same model"))
def test_what_may_be_the_same_model(name: str, others: Sequence[str], found: list[str]) -> None:
    assert namesakes(name, others) == found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "normal"),
    [
        (" " * 600_000 + "x", " " * 600_000 + "x"),
        ("x" + " \t" * 300_000 + "\n\n", "x"),
        (" \n" * 300_000 + "x", "x"),
        ("e" + "\u0301\u0316" * 300_000, "\u00e9" + "\u0316" * 300_000 + "\u0301" * 299_999),
    ],
)
def test_a_long_answer_takes_no_longer_than_others(text: str, normal: str) -> None:
    start = time.process_time()
    assert normalise_answer(text) == normal
    assert time.process_time() - start < 30  # it took minutes


@pytest.mark.slow
@given(
    st.text(
        st.sampled_from("aé\u0301\u0316\u0327\u0344\u0345\u05b0\u0e38क\u093c\u11a8가"), min_size=90
    )
)
def test_marks_in_order_are_as_unicode_orders_them(text: str) -> None:
    assert normalise_answer(text + ".") == unicodedata.normalize("NFC", text + ".")
