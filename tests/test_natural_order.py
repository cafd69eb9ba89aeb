"""Items are listed as people count: 5, 10, 11."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ranking_logs.builders import bracket, write_log
from tiebreak.candidates.errors import CandidateError, raise_problems
from tiebreak.candidates.pool import Note
from tiebreak.ranking_logs import read_ranking_logs
from tiebreak.text import natural_key


@given(st.lists(st.integers(0, 10**6), unique=True))
def test_numbers_sort_as_numbers(numbers: list[int]) -> None:
    texts = [f"q{number}/a" for number in numbers]
    assert sorted(texts, key=natural_key) == [f"q{number}/a" for number in sorted(numbers)]


@given(st.lists(st.text("q0123/²٣", max_size=6), unique=True), st.randoms())
def test_every_text_has_one_place(texts: list[str], rng: random.Random) -> None:
    ordered = sorted(texts, key=natural_key)
    assert sorted(rng.sample(texts, len(texts)), key=natural_key) == ordered
    assert natural_key("9" * 5000) != natural_key("9" * 4999)


def test_problems_name_items_in_order() -> None:
    problems = [Note("hole", "logs/a", f"gsm8k {n} has no answer") for n in (10, 11, 5)]
    with pytest.raises(CandidateError) as caught:
        raise_problems(problems)
    said = str(caught.value)
    assert said.index("gsm8k 5") < said.index("gsm8k 10") < said.index("gsm8k 11")


def test_items_without_a_ranking_are_listed_in_order(tmp_path: Path) -> None:
    half = [
        bracket(f"q{n}", "a", "b", "c").model_copy(update={"complete": False}) for n in (10, 11, 5)
    ]
    [log] = read_ranking_logs([write_log(tmp_path / "r.eval", half)])
    assert [one.item_id for one in log.unranked] == ["q5", "q10", "q11"]
