"""GSM8K: which number an answer ends with."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak.benchmarks import gsm8k
from tiebreak.benchmarks.question import Question

CASES = [
    # marks of the benchmark, and what stands beside the number
    ("3 + 4 = 7\n#### 7", "7"),
    ("#### 1\n#### 2", "2"),
    ("#### 5\nAnother: 3 apples", "5"),
    ("#### **42**", "42"),
    ("#### $42.00", "42.00"),
    ("#### 42 apples (or 3 dozen)", "42"),
    ("#### 5 + 3 = 8 apples", "8"),
    ("####\n42", "42"),
    ("#### 42 (x = 7)", "42"),
    ("#### 10 (rounded from x=9.6)", "10"),
    ("#### (5 + 3) = 8", "8"),
    ("#### 1 000", "1000"),
    ("#### none\nbut 7", "7"),
    ("It is 18.\n```\n#### 18\n```", "18"),
    # boxes
    (r"so \boxed{1,234}", "1234"),
    (r"\boxed{1{,}234}", "1234"),
    (r"\boxed{1\,234}", "1234"),
    (r"$\boxed{\$42}$ dollars", "42"),
    (r"\boxed{\text{42 apples}} of 50", "42"),
    (r"\boxed{x = 42}", "42"),
    (r"\boxed{", None),
    # words
    ("The answer is that she has 42 of them in 7 boxes.", "42"),
    ("Answer:\n**42**", "42"),
    ("**Answer:** 18 clips\n\nHope this helps!", "18"),
    ("ANSWER: 18\n\nThat is 3 times 6.", "18"),
    ("The answer is 1,234.50 dollars", "1234.50"),
    # the last number
    ("So 2 + 2 = 4.", "4"),
    ("It sinks to -3", "-3"),
    ("It sinks to \u22123", "-3"),
    ("It costs $-5", "-5"),
    ("It costs -$5.50", "-5.50"),
    ("It costs .5", "0.5"),
    ("from 10-12", "12"),
    ("so x = (3)-4", "4"),
    ("- 3 apples", "3"),
    ("3,4,5", "5"),
    ("1,2345", "2345"),
    ("1,234,567.89 grams", "1234567.89"),
    ("1\u202f234", "1234"),
    ("The total is 1 000 dollars", "1000"),
    ("In 2024 100 people", "100"),
    ("none at all", None),
    ("", None),
]


@pytest.mark.parametrize(("answer", "number"), CASES)
def test_the_final_number(answer: str, number: str | None) -> None:
    assert gsm8k.final_number(answer) == number


QUESTION = Question("q", "How much?", "1,000 + 234 = 1,234\n#### 1,234")


@pytest.mark.parametrize(
    ("answer", "right", "found"),
    [
        ("#### 1234", True, "1234"),
        ("$1,234.00", True, "1234.00"),
        ("#### 1235", False, "1235"),
        ("I do not know.", False, None),
        ("9" * 5000, False, "9" * 5000),
        ("\x00\ud800", False, None),
    ],
)
def test_scores(answer: str, right: bool, found: str | None) -> None:
    verdict = gsm8k.score(answer, QUESTION)
    assert (verdict.right, verdict.found) == (right, found)
    assert bool(verdict.why) is not right


@pytest.mark.slow
@settings(deadline=None)
@given(st.text(alphabet="0123456789,.-#$ =\\boxed{}answeris\n", max_size=60) | st.text(max_size=30))
def test_nothing_raises(answer: str) -> None:
    gsm8k.score(answer, QUESTION)


def test_numbers_of_any_size_are_read_back() -> None:
    for number in (0, 7, 999, 1_000, 12_345, 1_234_567, 10**12 + 1):
        for text in (f"#### {number}", f"#### {number:,}", rf"\boxed{{{number:,}}}", f"${number}."):
            assert gsm8k.final_number(text) == str(number)


def test_rows() -> None:
    row = {"question": "How much?", "answer": "#### 3"}
    assert gsm8k.read(row, 4) == Question("gsm8k_4", "How much?", "#### 3")
    assert gsm8k.read(row | {"id": "x"}, 4).id == "x"
    with pytest.raises(ValueError, match="no number"):
        gsm8k.read(row | {"answer": "three"}, 0)
    with pytest.raises(KeyError, match="answer"):
        gsm8k.read({"question": "How much?"}, 0)


def test_text_that_looks_like_a_slot_is_only_text() -> None:
    question = Question("q", "What is {question} + {0}?", "#### 1")
    assert "What is {question} + {0}?" in gsm8k.prompt(question)
    assert gsm8k.prompt(question, False) == question.text
