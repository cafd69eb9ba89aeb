"""Runs that stopped early: which decision counts, and what is said of it."""

import math

import pytest

from tests.ranking_logs.builders import bracket, call, item, skipped
from tiebreak.analysis.receipt import Settled, receipt_of, settled_of
from tiebreak.rankers.settlement import SettleFor

JUDGED = receipt_of([bracket(f"q{k}", "a", "b", "c", calls=[call(), call()]) for k in range(2)])


@pytest.mark.parametrize(
    ("top", "settle_for", "what"),
    [
        (None, "new", "the ranking was decided (error rate 2.5%, tests of pairs add theirs)."),
        (1, "new", "the top 1 was decided (error rate 2.5%, tests of pairs add theirs)."),
        (
            None,
            "these",
            "the ranking was decided for these items (error rate 2.5%, tests of pairs add theirs).",
        ),
        (
            3,
            "these",
            "the top 3 was decided for these items (error rate 2.5%, tests of pairs add theirs).",
        ),
    ],
)
def test_the_sentence(top: int | None, settle_for: SettleFor, what: str) -> None:
    found = Settled(10, 20, 0.025, top, settle_for, n_skipped=10, calls_saved=30.0)
    assert str(found.decision) == f"A sequential test stopped the run when {what}"


def test_both_tests_at_five_percent_are_wrong_in_seven() -> None:
    found = Settled(10, 20, 0.05, None, "new", n_skipped=10, calls_saved=30.0)
    assert str(found.decision).endswith("(error rate 5%, 7% with the tests of pairs).")


def test_the_latest_decision_counts_and_all_skipped_items() -> None:
    items = [skipped("q3", 2, 6, top=1), skipped("q4", 4, 6, settle_for="these"), item("q5")]
    assert settled_of([*items, skipped("q6", 3, 6)], JUDGED) == Settled(
        after=4, of=6, error=0.05, top=None, settle_for="these", n_skipped=3, calls_saved=6.0
    )
    assert settled_of([item("q5")], JUDGED) is None
    nothing = settled_of(items, receipt_of([]))
    assert nothing is not None
    assert math.isnan(nothing.calls_saved)
