"""Constant answers against counting by hand."""

import math
from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.analysis.constant_answers import constant_answers

Keys = list[tuple[str, str]]

KEYS = st.sampled_from(
    [
        *[("true_false", key) for key in ("true", "false")],
        *[("multiple_choice", key) for key in "ABCDE"],
        ("term", "x"),
    ]
)


@pytest.mark.parametrize("n_options", [2, 3, 4, 5])
def test_false_is_right_in_all_statements_but_one(n_options: int) -> None:
    keys = [("true_false", "true"), *[("true_false", "false")] * (n_options - 1)] * 25
    scores = constant_answers(Counter(keys))
    assert scores.share == (n_options - 1) / n_options
    assert scores.best[0].answer == "false"
    assert [one.answer for one in scores.answers] == ["false", "true"]


@given(st.lists(KEYS, max_size=30))
def test_no_constant_answer_is_better(keys: Keys) -> None:
    scores = constant_answers(Counter(keys))
    if not keys:
        assert math.isnan(scores.share)
        return
    by_hand = max(
        sum(
            key == (statement if kind == "true_false" else letter)
            for kind, key in keys
            if kind != "term"
        )
        for statement, letter in product(["true", "false"], "ABCDE")
    )
    assert scores.share == pytest.approx(by_hand / len(keys))


def test_types_of_free_text_have_none() -> None:
    keys = [("term", "x"), ("true_false", "true"), ("short_answer", "true")]
    scores = constant_answers(Counter(keys))
    assert scores.n == 3
    assert scores.share == pytest.approx(1 / 3)
    assert {one.type for one in scores.answers} == {"true_false"}
