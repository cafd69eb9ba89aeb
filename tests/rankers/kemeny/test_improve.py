from itertools import permutations

import numpy as np
import pytest

from tests.rankers.ballots import uniform
from tests.rankers.kemeny.exhaustive import all_costs, all_orders, profile, profiles
from tiebreak.rankers.kemeny.improve import copeland_order, excess, improve
from tiebreak.rankers.pairwise import IntArray, margins, preference_counts


def after_one_move(order: IntArray) -> list[IntArray]:
    return [
        np.insert(np.delete(order, here), there, order[here])
        for here in range(len(order))
        for there in range(len(order))
    ]


def test_excess_is_the_cost_above_all_minorities() -> None:
    ranks = profile("tied and partial", 7, 5, 0)
    counts = preference_counts(ranks)
    base = np.triu(np.minimum(counts, counts.T)).sum()
    found = [excess(order, counts - counts.T) + base for order in all_orders(5)]
    assert found == all_costs(ranks).tolist()


def test_copeland_order() -> None:
    # a beats b and c; b and c tie with each other; d loses to all: 3 − 0, 1 − 1, 1 − 1, 0 − 3.
    margin = np.array([[0, 2, 1, 1], [-2, 0, 0, 5], [-1, 0, 0, 3], [-1, -5, -3, 0]])
    shuffled = [3, 2, 0, 1]
    assert copeland_order(margin).tolist() == [0, 1, 2, 3]
    # d c a b: the two that are tied by their columns.
    assert copeland_order(margin[np.ix_(shuffled, shuffled)]).tolist() == [2, 1, 3, 0]


@pytest.mark.parametrize("seed", range(5))
def test_no_move_helps_any_more(seed: int) -> None:
    margin = margins(uniform(np.random.default_rng(seed), 7, 9))
    start = np.arange(9)
    found = improve(start, margin)
    assert sorted(found.tolist()) == list(range(9))
    assert start.tolist() == list(range(9))
    cost = excess(found, margin)
    assert cost <= excess(start, margin)
    assert all(excess(moved, margin) >= cost for moved in after_one_move(found))


def test_the_best_move_is_taken_first() -> None:
    # From every order of a small profile, the first step is no worse than any single move.
    for ranks in profiles(4, ballots=(3, 6), seeds=1):
        margin = margins(ranks)
        for start in permutations(range(4)):
            order = np.array(start)
            best = min(excess(moved, margin) for moved in after_one_move(order))
            assert excess(improve(order, margin), margin) <= best


def test_small_orders() -> None:
    assert improve(np.array([0]), np.zeros((1, 1), np.int64)).tolist() == [0]
    assert improve(np.array([0, 1]), np.array([[0, -1], [1, 0]])).tolist() == [1, 0]
    assert improve(np.array([1, 0]), np.zeros((2, 2), np.int64)).tolist() == [1, 0]
