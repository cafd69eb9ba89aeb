"""MMLU: which choice an answer settles for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import cases
from tiebreak.benchmarks import mmlu
from tiebreak.benchmarks.question import Question

CHOICES = ("A horse", "A shark", "Iron", "Dogs")

CASES = [case for group in cases(__file__, "answers").values() for case in group]


@pytest.mark.parametrize(("answer", "letter"), CASES)
def test_the_chosen_letter(answer: str, letter: str | None) -> None:
    assert mmlu.chosen_letter(answer, CHOICES) == letter


@pytest.mark.parametrize(
    ("answer", "letter"), [("Answer: A", "A"), ("5", "B"), ("Answer: 5", "B"), ("It is 4", "A")]
)
def test_choices_that_are_numbers(answer: str, letter: str) -> None:
    assert mmlu.chosen_letter(answer, ("4", "5")) == letter


QUESTION = Question("q", "Which swims?", "B", CHOICES)


@pytest.mark.parametrize(("column", "value", "words"), cases(__file__, "rows that do not fit"))
def test_rows_that_do_not_fit(column: str, value: object, words: str) -> None:
    row = {"question": "Which swims?", "choices": list(CHOICES), "answer": 1, column: value}
    with pytest.raises(ValueError, match=words):
        mmlu.read(row, 0)


@given(st.text(alphabet="ABCD answeris:.()*\\boxed{}\n", max_size=60) | st.text(max_size=30))
def test_nothing_raises(answer: str) -> None:
    assert mmlu.chosen_letter(answer, CHOICES) in {None, *"ABCD"}


def test_rows() -> None:
    row = {"question": "Which swims?", "subject": "zoology", "choices": list(CHOICES), "answer": 1}
    assert mmlu.read(row, 7) == Question(
        "mmlu_7", "Which swims?", "B", CHOICES, details={"subject": "zoology"}
    )


def test_the_prompt_asks_for_an_explanation_and_then_the_letter() -> None:
    prompt = mmlu.prompt(QUESTION)
    assert prompt.index("Explain") < prompt.index('"Answer: "') < prompt.index("Which swims?")
    assert "A) A horse\nB) A shark\nC) Iron\nD) Dogs" in prompt
    assert mmlu.prompt(QUESTION, False).startswith("Which swims?\nA) A horse")
