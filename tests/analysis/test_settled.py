"""Runs that stopped early: which decision counts, and what is said of it."""

import math
from itertools import product

from tests.expected import check
from tests.ranking_logs.builders import bracket, call, item, skipped
from tiebreak.analysis.receipt import Settled, receipt_of, settled_of
from tiebreak.rankers.settlement import SettleFor

JUDGED = receipt_of([bracket(f"q{k}", "a", "b", "c", calls=[call(), call()]) for k in range(2)])


def test_the_sentence() -> None:
    """Both tests at five percent are wrong in seven."""
    lines = []
    goals: list[SettleFor] = ["new", "these"]
    for error, top, settle_for in product((0.025, 0.05), (None, 1, 3), goals):
        found = Settled(10, 20, error, top, settle_for, n_skipped=10, calls_saved=30.0)
        lines.append(f"{error}, {top}, {settle_for}: {found.decision}\n")
    check(__file__, "settled.txt", "".join(lines))


def test_the_latest_decision_counts_and_all_skipped_items() -> None:
    items = [skipped("q3", 2, 6, top=1), skipped("q4", 4, 6, settle_for="these"), item("q5")]
    assert settled_of([*items, skipped("q6", 3, 6)], JUDGED) == Settled(
        after=4, of=6, error=0.05, top=None, settle_for="these", n_skipped=3, calls_saved=6.0
    )
    assert settled_of([item("q5")], JUDGED) is None
    nothing = settled_of(items, receipt_of([]))
    assert nothing is not None
    assert math.isnan(nothing.calls_saved)
