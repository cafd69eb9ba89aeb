import math
import time
from unittest.mock import patch

import numpy as np
import pytest

from tests.rankers.kemeny.exhaustive import all_orders, profiles
from tests.rankers.kemeny.test_cycles import some_weights
from tiebreak.rankers.errors import UnprovenOrderError
from tiebreak.rankers.kemeny import cycles as search
from tiebreak.rankers.kemeny.cycles import SCALE, Bound, bound_from, excess, explore
from tiebreak.rankers.profile import IntArray, margins


def bounds(n: int) -> list[tuple[IntArray, Bound]]:
    """With weights that are far from the best, so that all is left to the search."""
    every = [margins(ranks) for ranks in profiles(n, ballots=(3, 6, 11), seeds=1)]
    return [
        (margin, bound_from(margin, *some_weights(n, seed))) for seed, margin in enumerate(every)
    ]


@pytest.mark.parametrize("n", [2, 3, 5, 6])
@pytest.mark.parametrize("chunk", [2, 1 << 12])
def test_the_cheapest_orders_within_the_gap(n: int, chunk: int) -> None:
    columns = np.arange(n) * 37 + 2  # bits beyond the 64th
    for margin, bound in bounds(n):
        costs = np.array([SCALE * excess(order, margin) for order in all_orders(n)]) - bound.value
        best = int(costs.min())
        later = costs[costs > best]
        with patch.object(search, "CHUNK", chunk):
            assert best == 0 or explore(bound, best - 1, columns, math.inf) is None
            exact = explore(bound, best, columns, math.inf)
            wide = explore(bound, best + 5 * SCALE, columns, math.inf)
        assert exact is not None
        assert wide is not None
        within = later[later <= best + 5 * SCALE]
        for found, second in ((exact, None), (wide, int(within.min()) if within.size else None)):
            assert found[1] == second
            assert read(found[0], columns) == sorted(
                tuple(columns[order].tolist()) for order in all_orders(n)[costs == best]
            )


def read(heads: search.Heads, columns: IntArray) -> list[tuple[int, ...]]:
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
    _, bound = bounds(5)[0]
    stopped = pytest.raises(UnprovenOrderError, match="time or its memory")
    with stopped:
        explore(bound, 10 * SCALE, np.arange(5), time.monotonic() - 1)
    with patch.object(search, "MAX_EDGES", 10), stopped:
        explore(bound, 10 * SCALE, np.arange(5), math.inf)


def test_gaps_that_are_no_exact_floats() -> None:
    # 0 → 1 → 2 → 0 by 2^40, 1 more and 2 more. 1, 2, 0 breaks only 0 → 1; 2, 0, 1 only 1 → 2.
    most = 1 << 40
    margin = np.array([[0, most, -most - 2], [-most, 0, most + 1], [most + 2, -most - 1, 0]])
    bound = bound_from(margin, np.array([[0, 1, 2]]), np.array([3]))
    assert bound.value == 3 * 3 - 2 * 3
    best = SCALE * most - bound.value  # 2^60 − 3
    assert explore(bound, best - 1, np.arange(3), math.inf) is None
    found = explore(bound, best + SCALE, np.arange(3), math.inf)
    exact = explore(bound, best, np.arange(3), math.inf)
    assert found is not None
    assert exact is not None
    assert found[1] == best + SCALE
    assert read(found[0], np.arange(3)) == read(exact[0], np.arange(3)) == [(1, 2, 0)]
