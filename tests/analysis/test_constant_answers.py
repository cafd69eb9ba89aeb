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
