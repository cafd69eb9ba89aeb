"""From rows to questions."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tiebreak.benchmarks import bfcl
from tiebreak.benchmarks.bfcl import read

FUNCTION: Final = {
    "name": "f",
    "parameters": {"type": "dict", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
}
TRUTH: Final = [{"f": {"x": [1]}}]
USER: Final = {"role": "user", "content": "One?"}
ROW: Final = {"id": "simple_0", "question": [[USER]], "function": [FUNCTION], "ground_truth": TRUTH}


def test_a_question() -> None:
    question = read(ROW, 7)
    assert question.id == "simple_0"
    assert question.text == "One?"
    assert question.target == '[{"f": {"x": [1]}}]'
    assert question.tools == (FUNCTION,)
    assert question.messages == ()
    assert question.details == {"category": "simple", "ground_truth": TRUTH}


@pytest.mark.parametrize(
    "change",
    [
        {"question": [USER]},  # as BFCL v2 has it
        {"question": "One?"},
        {"question": json.dumps([[USER]])},
        {"function": FUNCTION},
        {"function": json.dumps([FUNCTION])},
        {"function": [json.dumps(FUNCTION)]},
        {"ground_truth": json.dumps(TRUTH)},
        {"category": "simple_python"},
        {"id": "v2_simple_0"},
        {"id": "mine"},
    ],
)
def test_other_forms_of_the_same_row(change: dict[str, Any]) -> None:
    row = {**ROW, **change}
    question = read(row, 0)
    assert question == read({**ROW, "id": row["id"]}, 0)
    assert question.details["category"] == "simple"


@pytest.mark.parametrize("text", ["[1, 2] sort this list", '["a", "b"]: which?', "[1, 2]"])
def test_a_question_may_begin_with_a_bracket(text: str) -> None:
    assert read({**ROW, "question": text}, 0).text == text


def test_conversations() -> None:
    system = {"role": "system", "content": "Be brief."}
    asked = {"role": "assistant", "content": "Which?"}
    question = read({**ROW, "question": [[system, USER, asked, USER]]}, 0)
    assert question.messages == (system, USER, asked, USER)
    assert question.text == "One?\nWhich?\nOne?"
    assert read({**ROW, "question": [[system, USER]]}, 0).messages == (system, USER)


@pytest.mark.parametrize(
    ("name", "functions", "calls", "category"),
    [
        ("live_parallel_multiple_3-2-0", 1, 1, "live_parallel_multiple"),
        ("simple_python_12", 1, 1, "simple"),
        ("irrelevance_2", 1, 0, "irrelevance"),
        ("live_relevance_2-2-0", 1, 0, "live_relevance"),
        *(("x_1", 1, 1, "simple"), ("x_1", 2, 1, "multiple"), ("x_1", 1, 2, "parallel")),
        *(("x_1", 2, 2, "parallel_multiple"), ("x_1", 2, 0, "irrelevance")),
    ],
)
def test_category_of_a_row_without_one(
    name: str, functions: int, calls: int, category: str
) -> None:
    row = {**ROW, "id": name, "function": [FUNCTION] * functions, "ground_truth": TRUTH * calls}
    assert read(row, 0).details["category"] == category


def test_where_no_call_is_right_no_ground_truth_is_needed() -> None:
    row = {key: ROW[key] for key in ("id", "question", "function")}
    for category in ("irrelevance", "live_irrelevance", "live_relevance"):
        assert read({**row, "category": category}, 0).target == "[]"
    with pytest.raises(KeyError, match="ground_truth"):
        read(row, 0)


def test_a_row_without_a_name_has_its_place() -> None:
    row = {key: value for key, value in ROW.items() if key != "id"}
    assert read(row, 7).id == "bfcl_7"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"question": [[USER], [USER]]}, "2 turns"),
        ({"question": [[{"role": "system", "content": "x"}]]}, "no message of a user"),
        ({"question": [[USER, {"role": "tool", "content": "x"}]]}, "messages of tool"),
        ({"function": [{"parameters": {}}]}, "not a list of functions with names"),
        ({"function": ["x"]}, "Expecting value"),
        ({"ground_truth": []}, "holds no call"),
        ({"ground_truth": {"f": {}}}, "not a list of calls"),
        ({"ground_truth": ["f"]}, "not a call of one function"),
        ({"ground_truth": [{"f": [1]}]}, "no arguments by name"),
        ({"ground_truth": [{"f": {"x": 1}}]}, "lists no admitted values"),
        ({"category": "simpel"}, "no category 'simpel'"),
        ({"id": "multi_turn_base_3"}, "left out: it takes several turns"),
        ({"id": "simple_java_3"}, "left out: its calls are Java"),
    ],
)
def test_rows_that_do_not_fit(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read({**ROW, **change}, 0)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "number"}, r"f\(x\) has the type 'number'; BFCL's are string, integer"),
        ({}, "has the type None"),
        ({"type": "array"}, "does not say the type of its items"),
        (
            {"type": "dict", "properties": {"y": {"type": "number"}}},
            r"f\(x\)\.y has the type 'number'",
        ),
        (
            {"type": "array", "items": {"type": "dict", "properties": {"y": {"type": "int"}}}},
            r"f\(x\)\.\[\]\.y has the type 'int'",
        ),
    ],
)
def test_unknown_types(schema: dict[str, Any], message: str) -> None:
    function = {"name": "f", "parameters": {"properties": {"x": schema}}}
    with pytest.raises(ValueError, match=message):
        read({**ROW, "function": [function]}, 0)


def test_the_items_of_the_demo() -> None:
    path = Path(bfcl.__file__).parents[2] / "inspect_tasks" / "items" / "bfcl.jsonl"
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    questions = [read(row, number) for number, row in enumerate(rows)]
    assert {question.details["category"] for question in questions} == {"simple"}
    assert questions[0].text == "What is the weather in Paris?"
