"""What `benchmarks/price.py` counts, against the plain way of counting it."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import price
from tiebreak.study.estimate.dry_judge import TokenCounter, by_rule

COUNTER = TokenCounter("a rule", by_rule)


@given(st.text("ab", max_size=6), st.lists(st.text("ab", max_size=6), max_size=8))
def test_a_beginning_is_shared_with_the_nearest_text(text: str, others: list[str]) -> None:
    plain = max(
        (n for other in others for n in range(len(text) + 1) if other.startswith(text[:n])),
        default=0,
    )
    assert price.shared(text, sorted(others)) == plain


def test_votes_and_grades_as_they_were_replied_before() -> None:
    lists = {
        "principles": {"reasoning": ["r", "s"], "vote": ["left", "tie"]},
        "checklist": {"vote": ["right"]},
    }
    assert json.loads(price.as_objects(json.dumps(lists), ["P1", "P2"], ["C1"])) == {
        "principles": {
            "P1": {"reasoning": "r", "vote": "left"},
            "P2": {"reasoning": "s", "vote": "tie"},
        },
        "checklist": {"C1": {"vote": "right"}},
    }
    grades = json.loads(price.as_objects('{"grade": [3, 8]}', ["P1", "P2"], []))
    assert grades == {"principles": {"P1": {"grade": 3}, "P2": {"grade": 8}}}


@pytest.mark.parametrize("kind", ["GSM8K", "BFCL"])
def test_a_longer_round_robin_costs_more_and_all_rounds_what_all_pairs_do(kind: str) -> None:
    *rounds, full = [
        price.bill(label, kind, COUNTER, 2)
        for label in (*(f"round_robin:rounds={k}" for k in (1, 2, 7)), "full_pairwise")
    ]
    assert all(a.dollars < b.dollars for a, b in pairwise(rounds))
    assert rounds[-1].calls == full.calls
    assert rounds[-1].tokens_in == pytest.approx(full.tokens_in)
    assert all(one.served <= one.again < 1 for one in (*rounds, full))


def test_lists_save_a_third_of_a_reply() -> None:
    for before, now in price.replies("HumanEval", COUNTER).values():
        assert now < 0.75 * before
