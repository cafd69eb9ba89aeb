from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rankers.ballots import mallows, uniform
from tests.rankers.kemeny.exhaustive import all_orders, profiles
from tests.rankers.kemeny.test_cycles import read
from tiebreak.rankers.kemeny import cycles, solve
from tiebreak.rankers.kemeny.certificate import check_certificate
from tiebreak.rankers.kemeny.solve import (
    MOST_IN_SETS,
    all_optima,
    kemeny_young,
    majority_triangles,
)
from tiebreak.rankers.profile import IntArray, margins


def costs_of(margin: IntArray) -> IntArray:
    """The majorities that every row of `all_orders` breaks."""
    return np.array([cycles.excess(order, margin) for order in all_orders(len(margin))])


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(st.integers(3, 6), st.sampled_from([1, 2, 9, 2**40]), st.integers(0, 2**32))
def test_all_orders_agree(n: int, most: int, seed: int) -> None:
    upper = np.triu(np.random.default_rng(seed).integers(-most, most + 1, (n, n)), 1)
    margin = upper - upper.T
    heads, cost, second = all_optima(margin, np.arange(n))
    costs = costs_of(margin)
    optimal = [tuple(order) for order in all_orders(n)[costs == costs.min()].tolist()]
    assert cost == costs.min()
    assert read(heads, np.arange(n)) == optimal
    if len(optimal) == 1:
        assert second == costs[costs > cost].min()


def test_the_second_best_where_a_swap_of_neighbours_costs_more() -> None:
    # 0 → 1 → 2 → 0 by 5, 4 and 3: 0, 1, 2 breaks 3; 1, 2, 0 breaks 5, and 2, 0, 1 breaks 4.
    margin = np.array([[0, 5, -3], [-5, 0, 4], [3, -4, 0]])
    heads, cost, second = all_optima(margin, np.arange(3))
    assert (read(heads, np.arange(3)), cost, second) == ([(0, 1, 2)], 3, 4)


def test_columns_far_apart() -> None:
    margin = margins(uniform(np.random.default_rng(0), 4, 6))
    columns = np.array([3, 40, 63, 64, 200, 1999])
    near, far = all_optima(margin, np.arange(6)), all_optima(margin, columns)
    assert far[1:] == near[1:]
    orders = [tuple(columns[list(order)].tolist()) for order in read(near[0], np.arange(6))]
    assert len(orders) > 1
    assert read(far[0], columns) == orders


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 5, 8, 10])
def test_the_bounds_and_the_search_find_the_same(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = list(profiles(n, ballots=(3, 5, 6, 11, 12), seeds=2))
    by_sets = [kemeny_young(ranks) for ranks in cases]
    assert any(result.cycles for result in by_sets)
    monkeypatch.setattr(solve, "MOST_IN_SETS", 0)
    for ranks, result in zip(cases, by_sets, strict=True):
        expected = kemeny_young(ranks)
        assert replace(result, certificate=expected.certificate) == expected
        check_certificate(ranks, result)


@pytest.mark.slow
def test_small_cycles_among_many_candidates() -> None:
    ranks = mallows(np.random.default_rng(4), 11, 90, 0.5)
    result = kemeny_young(ranks)
    assert result.cycles
    assert max(map(len, result.cycles)) <= MOST_IN_SETS
    check_certificate(ranks, result)


def test_no_time_is_enough_for_a_small_cycle() -> None:
    ranks = uniform(np.random.default_rng(1), 11, MOST_IN_SETS)
    found = kemeny_young(ranks, time_limit=0)
    assert found.cycles
    assert found == kemeny_young(ranks)


@pytest.mark.parametrize("seed", range(3))
def test_triangles_are_those_of_majorities_from_the_strongest(seed: int) -> None:
    upper = np.triu(np.random.default_rng(seed).integers(-4, 5, (8, 8)), 1)
    margin = upper - upper.T
    rows = [(i, j, k) for i, j, k in permutations(range(8), 3) if i == min(i, j, k)]
    weakest = {(i, j, k): min(margin[i, j], margin[j, k], margin[k, i]) for i, j, k in rows}
    found = [tuple(row) for row in majority_triangles(margin).tolist()]
    assert found
    assert set(found) == {row for row in rows if weakest[row] > 0}
    strengths = [weakest[row] for row in found]
    assert strengths == sorted(strengths, reverse=True)
