"""From rows to questions."""

from typing import Any, Final

import pytest

from tests.cases import cases
from tiebreak.benchmarks.bfcl.questions import read
from tiebreak.benchmarks.question import Question

FUNCTION: Final = {
    "name": "f",
    "parameters": {"type": "dict", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
}
TRUTH: Final = [{"f": {"x": [1]}}]
USER: Final = {"role": "user", "content": "One?"}
ROW: Final = {"id": "simple_0", "question": [[USER]], "function": [FUNCTION], "ground_truth": TRUTH}


def test_a_question() -> None:
    question = read(ROW, 7)
    assert question == Question(
        "simple_0",
        "One?",
        '[{"f": {"x": [1]}}]',
        tools=(FUNCTION,),
        details={"category": "simple", "ground_truth": TRUTH},
    )


@pytest.mark.parametrize("change", cases(__file__, "other forms of the same row"))
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


@pytest.mark.parametrize(("name", "functions", "calls", "category"), cases(__file__, "categories"))
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


@pytest.mark.parametrize(("change", "message"), cases(__file__, "do not fit"))
def test_rows_that_do_not_fit(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read({**ROW, **change}, 0)


@pytest.mark.parametrize(("schema", "message"), cases(__file__, "types"))
def test_unknown_types(schema: dict[str, Any], message: str) -> None:
    function = {"name": "f", "parameters": {"properties": {"x": schema}}}
    with pytest.raises(ValueError, match=message):
        read({**ROW, "function": [function]}, 0)
