import math
import tracemalloc

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.rankers.ballots import partial, tied, uniform
from tests.rankers.kemeny.plain import by_all_orders, by_subsets
from tiebreak.rankers.kemeny import batch as subsets
from tiebreak.rankers.kemeny.batch import optimal_orders
from tiebreak.rankers.profile import margins

IntArray = NDArray[np.int64]


def elections(n: int, n_ballots: int, n_elections: int, seed: int) -> list[NDArray[np.float64]]:
    """Complete, tied and partial ballots in turn."""
    rng = np.random.default_rng(seed)
    complete = [uniform(rng, n_ballots, n) for _ in range(n_elections)]
    return [
        (ranks, tied(ranks, max(1, n // 2)), partial(ranks, rng))[number % 3]
        for number, ranks in enumerate(complete)
    ]


def stacked(profiles: list[NDArray[np.float64]]) -> IntArray:
    return np.stack([margins(ranks) for ranks in profiles], axis=-1)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("n_ballots", [1, 2, 5, 6])
def test_all_orders_agree(n: int, n_ballots: int) -> None:
    profiles = elections(n, n_ballots, 21, seed=10 * n + n_ballots)
    order, unique, n_optima = optimal_orders(stacked(profiles), count=True)
    expected = [by_all_orders(ranks) for ranks in profiles]
    assert order.T.tolist() == [list(optima.first) for optima in expected]
    assert unique.tolist() == [optima.n_optima == 1 for optima in expected]
    assert n_optima is not None
    assert n_optima.tolist() == [optima.n_optima for optima in expected]


@pytest.mark.parametrize("n", [7, 8, 9, 10, 11])
def test_a_plain_program_over_subsets_agrees(n: int) -> None:
    profiles = elections(n, 12 - n % 2, 6, seed=n)
    order, unique, n_optima = optimal_orders(stacked(profiles), count=True)
    expected = [by_subsets(ranks) for ranks in profiles]
    assert order.T.tolist() == [list(optima.first) for optima in expected]
    assert n_optima is not None
    assert n_optima.tolist() == [optima.n_optima for optima in expected]
    np.testing.assert_array_equal(unique, n_optima == 1)


def one_by_one(values: list[list[int]]) -> IntArray:
    """Margins of one election, shape (n, n, 1)."""
    return np.array(values, dtype=np.int64)[..., None]


@pytest.mark.parametrize(
    ("margin", "order", "n_optima"),
    [
        # 0 beats 1 by 1, 1 beats 2 by 2, 2 beats 0 by 3: break the majority of 1.
        ([[0, 1, -3], [-1, 0, 2], [3, -2, 0]], [1, 2, 0], 1),
        # The same cycle with equal majorities: its three rotations.
        ([[0, 1, -1], [-1, 0, 1], [1, -1, 0]], [0, 1, 2], 3),
        # 2 beats 0; nothing else is known: 1 goes anywhere into "2, 0".
        ([[0, 0, -5], [0, 0, 0], [5, 0, 0]], [1, 2, 0], 3),
        ([[0]], [0], 1),
    ],
)
def test_small_margins_by_hand(margin: list[list[int]], order: list[int], n_optima: int) -> None:
    found, unique, number = optimal_orders(one_by_one(margin), count=True)
    assert found[:, 0].tolist() == order
    assert number == [n_optima]
    assert unique == [n_optima == 1]


@pytest.mark.parametrize("n", [2, 5, 14])
def test_nothing_but_ties(n: int) -> None:
    order, unique, n_optima = optimal_orders(np.zeros((n, n, 2), np.int8), count=True)
    assert order.T.tolist() == [list(range(n))] * 2
    assert n_optima is not None
    assert n_optima.tolist() == [math.factorial(n)] * 2
    assert not unique.any()


# The cost of turning round all 91 pairs of 14 candidates crosses the range of 8 bits between
# majorities of 1 and 2, that of 16 bits between 360 and 361 (91 · 360 = 32,760), that of 32 bits
# between 23,598,721 and 23,598,722.
@pytest.mark.slow
@pytest.mark.parametrize("margin", [1, 2, 360, 361, 23_598_721, 23_598_722, 2**40])
@pytest.mark.parametrize("reverse", [False, True])
def test_the_largest_costs_do_not_overflow(margin: int, reverse: bool) -> None:
    direction = np.sign(np.arange(14) - np.arange(14)[:, None]) * (-1 if reverse else 1)
    order, unique, n_optima = optimal_orders((direction * margin)[..., None], count=True)
    assert order[:, 0].tolist() == sorted(range(14), reverse=reverse)
    assert unique.tolist() == [True]
    assert n_optima == [1]


@pytest.mark.parametrize("factor", [2, 5, 9, 400, 2_000, 60_000, 10**9])
def test_only_the_ratios_of_margins_count(factor: int) -> None:
    margin = stacked(elections(7, 6, 12, seed=3))
    small, large = (optimal_orders(margin * by, count=True) for by in (1, factor))
    np.testing.assert_array_equal(small[0], large[0])
    np.testing.assert_array_equal(small[1], large[1])
    np.testing.assert_array_equal(small[2], large[2])


def test_the_width_of_a_block_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    margin = stacked(elections(5, 4, 11, seed=5))
    whole = optimal_orders(margin, count=True)
    monkeypatch.setattr(subsets, "SUBSET_CELLS", 3 << 5)  # three elections at a time
    parts = optimal_orders(margin, count=True)
    np.testing.assert_array_equal(whole[0], parts[0])
    np.testing.assert_array_equal(whole[1], parts[1])
    np.testing.assert_array_equal(whole[2], parts[2])


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_elections() -> None:
    margin = np.ones((10, 10, 30_000), np.int8)
    tracemalloc.start()
    optimal_orders(margin)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # All 2^10 sets at once are 31 MB, held twice and a bit; the answers are 2 · 30,000 · (80 + 1).
    assert peak < 35e6


def test_no_election() -> None:
    order, unique, n_optima = optimal_orders(np.zeros((4, 4, 0), np.int64))
    assert order.shape == (4, 0)
    assert unique.shape == (0,)
    assert n_optima is None
