"""GSM8K: which number an answer ends with."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import cases
from tiebreak.benchmarks import gsm8k
from tiebreak.benchmarks.question import Question

CASES = [case for group in cases(__file__, "answers").values() for case in group]


@pytest.mark.parametrize(("answer", "number"), CASES)
def test_the_final_number(answer: str, number: str | None) -> None:
    assert gsm8k.final_number(answer) == number


@pytest.mark.parametrize("answer", ["I do not know.", "\x00\ud800"])
def test_scores_without_a_number(answer: str) -> None:
    assert gsm8k.score(answer, Question("q", "How much?", "#### 1")).found is None


@pytest.mark.slow
@given(st.text(alphabet="0123456789,.-#$ =\\boxed{}answeris\n", max_size=60) | st.text(max_size=30))
def test_nothing_raises(answer: str) -> None:
    gsm8k.score(answer, Question("q", "How much?", "1,000 + 234 = 1,234\n#### 1,234"))


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
