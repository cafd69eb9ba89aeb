"""MMLU: which choice an answer settles for."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak.benchmarks import mmlu
from tiebreak.benchmarks.question import Question

CHOICES = ("A horse", "A shark", "Iron", "Dogs")

CASES = [
    # what the prompt asks for
    ("Iron is a metal.\nAnswer: C", "C"),
    ("**Answer:** (B)", "B"),
    ("Answer:\n\nC", "C"),
    ("answer: b", "B"),
    (r"Answer: $\text{C}$", "C"),
    ("answer is: **C) Iron**", "C"),
    ("Answer: A. Hm.\nNo, wait.\nAnswer: B", "B"),
    ("Answer: E", None),
    # sentences and boxes
    ("The answer is B because sharks swim", "B"),
    ("The answer is A shark", "B"),
    ("The answer is a shark.", "B"),
    ("so the correct answer is **D**.", "D"),
    ("The correct option is (C), not A.", "C"),
    ("Option A is wrong. Option B is wrong. The answer is C", "C"),
    ("The answer is not that easy", None),
    (r"\boxed{C}", "C"),
    (r"\boxed{\text{C}}", "C"),
    ("I think, answer: I", None),
    ("Therefore, B is correct.", "B"),
    ("Option B is the right one... I mean, **B** is right.", "B"),
    ("I choose B.", "B"),
    ("The answer to the question is B", "B"),
    ("Answer: A careful reading gives B.", None),
    ("Answer: A because horses run", "A"),
    ("A is incorrect, C is not right", None),
    # a letter alone, at the end or at the beginning
    ("D", "D"),
    ("a", "A"),
    ("`C`", "C"),
    ("[C]", "C"),
    ("**D**", "D"),
    ("```\nD\n```", "D"),
    ("A) no\nB) yes\nB", "B"),
    ("B) Sharks.\nThey swim.", "B"),
    ("(C). Because.", "C"),
    # the text of one choice
    ("A horse runs", "A"),
    ("A shark cannot run", "B"),
    ("It is iron.", "C"),
    ("iron or dogs", None),
    ("A planet.", None),
    ("I cannot say", None),
    ("", None),
]


@pytest.mark.parametrize(("answer", "letter"), CASES)
def test_the_chosen_letter(answer: str, letter: str | None) -> None:
    assert mmlu.chosen_letter(answer, CHOICES) == letter


@pytest.mark.parametrize(
    ("answer", "letter"), [("Answer: A", "A"), ("5", "B"), ("Answer: 5", "B"), ("It is 4", "A")]
)
def test_choices_that_are_numbers(answer: str, letter: str) -> None:
    assert mmlu.chosen_letter(answer, ("4", "5")) == letter


QUESTION = Question("q", "Which swims?", "B", CHOICES)


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("choices", {"text": ["a", "b"], "label": ["A", "B"]}, "not a list of texts"),
        ("choices", "abcd", "not a list of texts"),
        ("choices", [1, 2, 3], "not a list of texts"),
        ("answer", 1.7, "its answer is 1.7"),
        ("answer", True, "its answer is True"),
        ("answer", "B", "its answer is 'B'"),
    ],
)
def test_rows_that_do_not_fit(column: str, value: object, words: str) -> None:
    row = {"question": "Which swims?", "choices": list(CHOICES), "answer": 1, column: value}
    with pytest.raises(ValueError, match=words):
        mmlu.read(row, 0)


@pytest.mark.parametrize(
    ("answer", "right"), [("Answer: B", True), ("Answer: C", False), ("\x00\ud800", False)]
)
def test_scores(answer: str, right: bool) -> None:
    verdict = mmlu.score(answer, QUESTION)
    assert verdict.right is right
    assert bool(verdict.why) is not right


@settings(deadline=None)
@given(st.text(alphabet="ABCD answeris:.()*\\boxed{}\n", max_size=60) | st.text(max_size=30))
def test_nothing_raises(answer: str) -> None:
    assert mmlu.chosen_letter(answer, CHOICES) in {None, *"ABCD"}


def test_rows() -> None:
    row = {"question": "Which swims?", "subject": "zoology", "choices": list(CHOICES), "answer": 1}
    assert mmlu.read(row, 7) == Question(
        "mmlu_7", "Which swims?", "B", CHOICES, details={"subject": "zoology"}
    )
    for answer in (4, -1):
        words = f"its answer is {answer}, not an index of its 4 choices"
        with pytest.raises(ValueError, match=words):
            mmlu.read(row | {"answer": answer}, 0)


def test_the_prompt_asks_for_an_explanation_and_then_the_letter() -> None:
    prompt = mmlu.prompt(QUESTION)
    assert prompt.index("Explain") < prompt.index('"Answer: "') < prompt.index("Which swims?")
    assert "A) A horse\nB) A shark\nC) Iron\nD) Dogs" in prompt
    assert mmlu.prompt(QUESTION, False).startswith("Which swims?\nA) A horse")
