import math
import time
from itertools import permutations
from unittest.mock import patch

import numpy as np
import pytest

from tests.rankers.ballots import uniform
from tests.rankers.kemeny.exhaustive import all_costs, all_orders, profiles
from tiebreak.rankers.errors import UnprovenOrderError
from tiebreak.rankers.kemeny import cycles
from tiebreak.rankers.profile import IntArray, margins, preference_counts


def some_weights(n: int, seed: int) -> tuple[IntArray, IntArray]:
    rng = np.random.default_rng(seed)
    every = [t for t in permutations(range(n), 3) if t[0] == min(t)]
    rows = np.array(every, np.int64).reshape(-1, 3)
    return rows, rng.integers(0, cycles.SCALE, len(every)) * rng.integers(0, 2, len(every))


@pytest.mark.parametrize("seed", range(3))
def test_the_cost_of_every_order_is_the_bound_and_what_it_violates(seed: int) -> None:
    margin = margins(uniform(np.random.default_rng(seed), 4 + seed, 5))
    bound = cycles.bound_from(margin, *some_weights(5, seed))
    assert (bound.regret >= 0).all()
    assert (bound.weights > 0).all()
    for order in all_orders(5):
        place = np.argsort(order).tolist()
        regret = np.triu(bound.regret[np.ix_(order, order)], 1).sum()
        single = sum(
            weight
            for cycle, weight in zip(bound.cycles.tolist(), bound.weights.tolist(), strict=True)
            if sum(place[cycle[t]] < place[cycle[(t + 1) % 3]] for t in range(3)) == 1
        )
        assert cycles.SCALE * cycles.excess(order, margin) == bound.value + regret + single


@pytest.mark.parametrize("seed", range(3))
def test_packed_weights_give_their_bound(seed: int) -> None:
    upper = np.triu(np.random.default_rng(seed).integers(-4, 5, (9, 9)), 1)
    margin = upper - upper.T
    packed = cycles.packed(margin, some_weights(9, 0)[0])
    assert len(packed.weights) > 1
    expected = cycles.bound_from(margin, packed.cycles, packed.weights)
    assert packed.value == expected.value == packed.weights.sum()
    np.testing.assert_array_equal(packed.regret, expected.regret)


def test_bounds_hold_and_are_mostly_tight() -> None:
    tight = total = 0
    for ranks in profiles(6, ballots=(5, 6, 11), seeds=3):
        counts = preference_counts(ranks)
        margin = counts - counts.T
        least = int(all_costs(ranks).min() - np.minimum(counts, counts.T).sum() // 2)
        start = cycles.improve(cycles.copeland_order(margin), margin)
        bound, order = cycles.cycle_bound(margin, start)
        assert bound.value <= cycles.SCALE * least
        assert least <= cycles.excess(order, margin) <= cycles.excess(start, margin)
        total += 1
        tight += bound.value > cycles.SCALE * (least - 1)
    # The 3-cycles describe the orders of up to 5 candidates fully, and those of 6 nearly.
    assert tight == total


def test_the_stronger_of_two_cycles_comes_first() -> None:
    # 0 → 1 → 2 → 0 with margins 1, and 0 → 1 → 3 → 0 with margins 5, but for the 0 → 1 of 9.
    ahead = np.array([[0, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1], [1, 0, 0, 0]], float)
    strength = np.array([[0, 9, 1, 5], [9, 0, 1, 5], [1, 1, 0, 1], [5, 5, 1, 0]])
    assert cycles.violated_cycles(ahead, strength).tolist() == [[0, 1, 3], [0, 1, 2]]


def test_stops_at_the_deadline() -> None:
    margin = margins(uniform(np.random.default_rng(0), 11, 30))
    start = cycles.improve(cycles.copeland_order(margin), margin)
    with patch.object(cycles, "violated_cycles", side_effect=AssertionError("too late")):
        bound, order = cycles.cycle_bound(margin, start, 1, time.monotonic())
    assert bound.value == 0
    assert order.tolist() == start.tolist()
    assert cycles.cycle_bound(margin, start, 1, math.inf)[0].value > 0


def test_a_program_that_runs_out_of_time_keeps_the_bound() -> None:
    margin = margins(uniform(np.random.default_rng(0), 11, 30))
    start = cycles.improve(cycles.copeland_order(margin), margin)
    with patch("scipy.optimize.linprog") as linprog:
        linprog.return_value.success = False
        bound, order = cycles.cycle_bound(margin, start, 1, time.monotonic() + 60)
        assert 0 < linprog.call_args.kwargs["options"]["time_limit"] <= 60
    found = cycles.violated_cycles((margin > 0).astype(float), np.abs(margin))
    kept = cycles.packed(margin, found)
    assert (bound.value, order.tolist()) == (kept.value, start.tolist())


def read(heads: cycles.Heads, columns: IntArray) -> list[tuple[int, ...]]:
    """All orders that the table of heads spells out."""
    full = sum(1 << column for column in columns.tolist())
    orders: list[tuple[tuple[int, ...], int]] = [((), full)]
    for _ in columns:
        orders = [
            ((*order, head), left & ~(1 << head)) for order, left in orders for head in heads[left]
        ]
    assert all(left == 0 for _, left in orders)
    return sorted(order for order, _ in orders)


def test_stops() -> None:
    # With weights that are far from the best, so that all is left to the search.
    margin = margins(uniform(np.random.default_rng(0), 3, 5))
    bound = cycles.bound_from(margin, *some_weights(5, 0))
    stopped = pytest.raises(UnprovenOrderError, match="time or its memory")
    with stopped:
        cycles.explore(bound, 10 * cycles.SCALE, np.arange(5), time.monotonic() - 1)
    with patch.object(cycles, "MAX_EDGES", 10), stopped:
        cycles.explore(bound, 10 * cycles.SCALE, np.arange(5), math.inf)


def test_gaps_that_are_no_exact_floats() -> None:
    # 0 → 1 → 2 → 0 by 2^40, 1 more and 2 more. 1, 2, 0 breaks only 0 → 1; 2, 0, 1 only 1 → 2.
    most = 1 << 40
    margin = np.array([[0, most, -most - 2], [-most, 0, most + 1], [most + 2, -most - 1, 0]])
    bound = cycles.bound_from(margin, np.array([[0, 1, 2]]), np.array([3]))
    assert bound.value == 3 * 3 - 2 * 3
    best = cycles.SCALE * most - bound.value  # 2^60 − 3
    assert cycles.explore(bound, best - 1, np.arange(3), math.inf) is None
    found = cycles.explore(bound, best + cycles.SCALE, np.arange(3), math.inf)
    exact = cycles.explore(bound, best, np.arange(3), math.inf)
    assert found is not None
    assert exact is not None
    assert found[1] == best + cycles.SCALE
    assert read(found[0], np.arange(3)) == read(exact[0], np.arange(3)) == [(1, 2, 0)]
