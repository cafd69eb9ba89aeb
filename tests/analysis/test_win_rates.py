"""Win rates against a count by hand, a count by brute force, and what must hold of any."""

from itertools import combinations, permutations
from random import Random

import numpy as np
import pytest

from tests.analysis.peers.builders import reviews
from tests.ranking_logs.builders import all_pairs, graded, item, listed, match
from tiebreak.analysis.item_table import placed
from tiebreak.analysis.win_rates import win_rates
from tiebreak.scorers.ballots import ItemBallots


def test_matches_by_hand() -> None:
    items = [
        # a beats b, a and b are even; c never meets b.
        item("q1", [match("a", "b", 0.4), match("a", "b", 0.0), match("a", "c", -0.1)]),
        # b beats a; the match without a verdict does not count.
        item("q2", [match("b", "a", 0.2), match("a", "c", None)]),
        # Cut short: nothing of it counts.
        item("q3", [match("a", "b", 0.9)], complete=False),
    ]
    rates = win_rates(placed(items))
    assert (rates.models, rates.by) == (("a", "b", "c"), "matches")
    assert rates.n.tolist() == [[0, 3, 1], [3, 0, 0], [1, 0, 0]]
    # a against b: 1 + ½ + 0 of 3.
    nan = np.nan
    np.testing.assert_allclose(rates.rate, [[nan, 0.5, 0], [0.5, nan, nan], [1, nan, nan]])


def test_identical_answers_are_tied_and_share_matches() -> None:
    one = item("q1", [match("a", "c", 0.4)], groups=(("a", "b"), ("c",)))
    rates = win_rates(placed([one]), models=["c", "b", "a"])
    # c loses to both who gave the answer; b and a are tied.
    assert rates.models == ("c", "b", "a")
    np.testing.assert_allclose(rates.rate, [[np.nan, 0, 0], [1, np.nan, 0.5], [1, 0.5, np.nan]])
    assert rates.n.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


def test_places_by_hand() -> None:
    lists = {"q1": [["a"], ["b", "c"]], "q2": [["b"], ["a"], ["c"]], "q3": None}
    rates = win_rates(placed([listed(name, order) for name, order in lists.items()]))
    assert rates.by == "places"
    # a–b: won, lost. a–c: won twice. b–c: tied, won: (½ + 1) / 2.
    nan = np.nan
    np.testing.assert_allclose(rates.rate, [[nan, 0.5, 1], [0.5, nan, 0.75], [0, 0.25, nan]])
    assert rates.n.tolist() == [[0, 2, 2], [2, 0, 2], [2, 2, 0]]


def test_who_has_no_place_does_not_count() -> None:
    rates = win_rates(placed([graded("q1", {"a": 0.9, "b": 0.5, "c": None})]))
    assert rates.n.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert rates.rate[0, 1] == 1
    # Of all pairs places say what matches say, and d never beats a.
    items = placed([all_pairs("q1", "abcd"), all_pairs("q2", "badc")])
    np.testing.assert_array_equal(win_rates(items).rate, win_rates(items, by="places").rate)
    some = win_rates(items, models=["d", "a"])
    np.testing.assert_allclose(some.rate, [[np.nan, 0], [1, np.nan]])


@pytest.mark.parametrize("kind", ["matches", "places"])
def test_against_a_count_by_brute_force(kind: str) -> None:
    random = Random(3)
    orders = ["".join(random.sample("abcde", 5)) for _ in range(12)]
    items: list[ItemBallots]
    if kind == "matches":
        items = [all_pairs(f"q{k}", order) for k, order in enumerate(orders)]
    else:
        items = [reviews(f"q{k}", {"a": order, "b": order}) for k, order in enumerate(orders)]
    rates = win_rates(placed(items))
    assert rates.by == kind
    for (i, one), (j, other) in permutations(enumerate("abcde"), 2):
        won = sum(order.index(one) < order.index(other) for order in orders)
        assert rates.rate[i, j] == pytest.approx(won / 12)
        assert rates.n[i, j] == 12


def test_both_sides_sum_to_one() -> None:
    random, items = Random(0), []
    for k in range(20):
        played = []
        for pair in combinations("abc", 2):
            high, low = random.sample(pair, 2)
            played.append(match(high, low, random.choice([0.3, -0.3, 0.0, None])))
        items.append(item(f"q{k}", played, groups=[["a"], ["b"], ["c", "d"]]))
    rates = win_rates(placed(items))
    met = rates.n > 0
    np.testing.assert_allclose((rates.rate + rates.rate.T)[met], 1)
    np.testing.assert_array_equal(np.isnan(rates.rate), ~met)
    np.testing.assert_array_equal(rates.n, rates.n.T)


@pytest.mark.parametrize("items", [[], [item("q", complete=False)]])
def test_nothing_to_count(items: list[ItemBallots]) -> None:
    rates = win_rates(placed(items))
    assert (rates.models, rates.rate.shape, rates.n.shape) == ((), (0, 0), (0, 0))
    assert win_rates(placed(items), models="ab").n.tolist() == [[0, 0], [0, 0]]
