"""Right and wrong calls, worked out by hand; `test_parity` compares with BFCL's own checker."""

from collections.abc import Mapping
from typing import Any, Final

import pytest

from tests.cases import cases
from tiebreak.benchmarks.bfcl.check import Call, score, score_calls
from tiebreak.benchmarks.bfcl.questions import read
from tiebreak.benchmarks.question import Question


def question(category: str, *truth: Mapping[str, Any], **types: Any) -> Question:
    properties = {
        key: kind if isinstance(kind, dict) else {"type": kind} for key, kind in types.items()
    }
    function = {"name": "a.f", "parameters": {"properties": properties, "required": ["x"]}}
    other = {"name": "g", "parameters": {"properties": {"x": {"type": "integer"}}, "required": []}}
    row = {"category": category, "question": "?", "function": [function, other]}
    return read({**row, "ground_truth": [dict(call) for call in truth]}, 0)


@pytest.mark.parametrize("case", cases(__file__, "values"))
def test_values(case: dict[str, Any]) -> None:
    asked = question("simple", {"a.f": {"x": case["admitted"]}}, x=case["kind"])
    for value in (*case["right"], *case["wrong"]):
        assert score(f"[a.f(x={value})]", asked).right == (value in case["right"]), value


ONE: Final = question(
    "multiple", {"a.f": {"x": [1], "y": ["", 2]}}, x="integer", y="integer", w="integer"
)
TWO: Final = question("parallel", {"a.f": {"x": [1]}}, {"a.f": {"x": [1, 2]}}, x="integer")


@pytest.mark.parametrize(
    ("asked", "answer", "why"),
    [
        *((ONE, *case) for case in cases(__file__, "one")),
        *((TWO, *case) for case in cases(__file__, "two")),
    ],
)
def test_verdicts(asked: Question, answer: str, why: str) -> None:
    verdict = score(answer, asked)
    assert verdict.why == why
    assert verdict.right == (not why)


def test_dots_are_replaced_all_or_none() -> None:
    row = {"id": "simple_0", "question": "?", "function": [{"name": "a.b.c_d"}]}
    asked = read({**row, "ground_truth": [{"a.b.c_d": {}}]}, 0)
    names = ["a.b.c_d", "a_b_c_d", "a_b.c_d", "a.b.c.d"]
    assert [score_calls([Call(name, {})], "", asked).right for name in names] == [1, 1, 0, 0]


def test_calls_are_taken_in_order_without_a_second_thought() -> None:
    """As BFCL does: the first right call takes the first that fits, and the second has none."""
    asked = question("parallel", {"a.f": {"x": [1, 2]}}, {"a.f": {"x": [1]}}, x="integer")
    assert score("[a.f(x=2), a.f(x=1)]", asked).right
    assert not score("[a.f(x=1), a.f(x=2)]", asked).right


@pytest.mark.parametrize(("category", "answer", "why"), cases(__file__, "nothing or anything"))
def test_where_nothing_or_anything_is_right(category: str, answer: str, why: str) -> None:
    assert score(answer, question(category, x="integer")).why == why


def test_calls_of_a_harness() -> None:
    call = Call("a_f", {"x": 1})
    assert score_calls([call], "", ONE) == (True, "a_f(x=1)", "")
    # Where a harness calls tools, a call that is only written is none.
    assert score_calls([], "[a.f(x=1)]", ONE).found is None
    assert score_calls([], "[a.f(x=1)]", question("irrelevance")).right
    assert not score_calls([], "", question("irrelevance")).right


def test_found_is_what_was_called() -> None:
    assert score("[a.f(x='1'), g()]", ONE).found == "a.f(x='1'), g()"
    assert score("nothing", ONE).found is None


def test_a_right_function_that_is_not_on_offer_cannot_be_called() -> None:
    asked = question("multiple", {"h": {"x": [1]}}, x="integer")
    assert score("[h(x=1)]", asked).why == "the right function, h, is not on offer"


def test_an_only_function_may_have_another_name_in_the_ground_truth() -> None:
    """As in an item of BFCL v3; the name on offer is the right one, there and here."""
    row = {"id": "simple_363", "question": "?", "function": [{"name": "find.near"}]}
    asked = read({**row, "ground_truth": [{"find": {}}]}, 0)
    assert [score(f"[{name}()]", asked).right for name in ("find.near", "find")] == [True, False]


LONG = [
    f'{{"name": "a.f", "arguments": {{"x": {"9" * 5_000}}}}}',
    f'{{"name": "a.f", "arguments": {{"x": {"[" * 900}{"]" * 900}}}}}',
    f"a.f(x=0x{'f' * 5_000})",
    f"{'a.f(x=' * 80}1{')' * 80}",
    f"{'a' * 1_000_000}(x=1)",
]


@pytest.mark.parametrize("answer", [*cases(__file__, "answers"), *LONG], ids=range(9))
def test_no_answer_raises_or_breaks_a_log(answer: str) -> None:
    for asked in (ONE, TWO, question("irrelevance"), question("live_relevance")):
        right, found, why = score(answer, asked)
        assert isinstance(right, bool)
        ((found or "") + why).encode("utf-8")


def test_a_harness_may_hand_over_any_number() -> None:
    huge = Call("a.f", {"x": 16**5000})
    verdict = score_calls([huge], "", ONE)
    assert verdict == (False, "a.f(x=a huge number)", "x is a huge number")
