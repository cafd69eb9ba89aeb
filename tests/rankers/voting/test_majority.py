import math
from collections import deque
from itertools import combinations, permutations, product

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.rankers.ballots import partial, tied, uniform
from tests.rankers.voting.tables import table
from tiebreak.rankers.profile import majorities, margins
from tiebreak.rankers.voting import copeland, dodgson, kendall


@pytest.mark.parametrize("seed", range(20))
def test_against_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ranks = partial(tied(uniform(rng, 5, 5), 3 + seed % 3), rng)
    expected = [0] * 5
    for i in range(5):
        for j in range(5):
            before = sum(bool(ballot[i] < ballot[j]) for ballot in ranks)
            after = sum(bool(ballot[j] < ballot[i]) for ballot in ranks)
            expected[i] += (before > after) - (before < after)
    np.testing.assert_array_equal(copeland(ranks).scores, expected)


Ballots = tuple[tuple[int, ...], ...]


def winner(orders: Ballots) -> int | None:
    """The candidate that a strict majority puts before each other one."""
    n = len(orders[0])
    for one in range(n):
        wins = [
            sum(order.index(one) < order.index(other) for order in orders) * 2 > len(orders)
            for other in range(n)
            if other != one
        ]
        if all(wins):
            return one
    return None


def swaps_by_search(ranks: NDArray[np.float64]) -> list[int]:
    """Breadth-first over whole profiles, swapping any two neighbours in any ballot."""
    start: Ballots = tuple(tuple(row.argsort().tolist()) for row in ranks)
    found: dict[int, int] = {}
    distance = {start: 0}
    queue = deque([start])
    while len(found) < ranks.shape[1]:
        here = queue.popleft()
        best = winner(here)
        if best is not None:
            found.setdefault(best, distance[here])
        for number, order in enumerate(here):
            for at in range(len(order) - 1):
                swapped = (*order[:at], order[at + 1], order[at], *order[at + 2 :])
                there = (*here[:number], swapped, *here[number + 1 :])
                if there not in distance:
                    distance[there] = distance[here] + 1
                    queue.append(there)
    return [found[column] for column in range(ranks.shape[1])]


def distance(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Kemeny and Snell's distance, in swaps: ½ · Σ over pairs of |sign − sign|."""
    sides = [np.sign(ballot[:, None] - ballot) for ballot in (one, other)]
    return float(np.nansum(abs(sides[0] - sides[1])) / 4)  # each pair is seen twice


def swaps_by_enumeration(ranks: NDArray[np.float64], column: int) -> float:
    """All ways to lift a candidate strictly between groups of ballots that rank it."""
    ways: list[list[tuple[float, NDArray[np.float64]]]] = []
    for ballot in ranks:
        lifted = [(0.0, ballot)]
        # NaN compares as False: a ballot that does not rank the candidate stays as it is.
        for top in ballot[ballot <= ballot[column]]:
            moved = ballot.copy()
            moved[column] = top - 0.25
            lifted.append((distance(ballot, moved), moved))
        ways.append(lifted)
    costs = [
        sum(cost for cost, _ in choice)
        for choice in product(*ways)
        if majorities(margins(np.array([ballot for _, ballot in choice])))[0] == column
    ]
    return min(costs, default=math.inf)


def test_a_group_is_passed_as_a_whole() -> None:
    # {a, b, d} > c once, and c > {a, b} > d twice: c has 2–1 against all.
    group = [1, 1, 2, 1]
    assert dodgson([group, [2, 2, 1, 3], [2, 2, 1, 3]]).scores[2] == 0
    # a > c > b > d twice more: c has 2–3 against a. Past a alone there costs 1, past the group 3.
    assert dodgson([group] + [[2, 2, 1, 3]] * 2 + [[1, 3, 2, 4]] * 2).scores[2] == 1
    # The group three times: c must pass it in two ballots.
    assert dodgson([group] * 3).scores[2] == 6


def test_partial_ballots() -> None:
    # b > a (twice) and c > b: no ballot ranks a and c, so neither can beat the other, ever.
    # b loses to c 0–1 and passes it for one swap.
    result = dodgson(table("21-", "21-", "-21"))
    np.testing.assert_array_equal(result.scores, [math.inf, 1, math.inf])
    np.testing.assert_array_equal(result.ranks, [2.5, 1, 2.5])


@pytest.mark.parametrize(
    ("seed", "n_ballots", "n"),
    [(seed, *shape) for seed in range(6) for shape in [(2, 3), (3, 3), (4, 3), (5, 3), (2, 4)]],
)
def test_against_a_search_over_all_profiles(seed: int, n_ballots: int, n: int) -> None:
    # This also checks that it is enough to move the candidate itself up.
    ranks = uniform(np.random.default_rng(seed), n_ballots, n)
    np.testing.assert_array_equal(dodgson(ranks).scores, swaps_by_search(ranks))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(16))
def test_tied_and_partial_ballots_against_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ranks = tied(uniform(rng, 4, 4), 2 + seed % 3)
    if seed % 2:
        ranks = partial(ranks, rng)
        ranks = ranks[~np.isnan(ranks).all(axis=1)]
    expected = [swaps_by_enumeration(ranks, column) for column in range(4)]
    np.testing.assert_array_equal(dodgson(ranks).scores, expected)


def first_optimum(ranks: NDArray[np.float64]) -> tuple[int, ...]:
    """The first order with the smallest distance to the complete ballots."""
    complete = [ballot for ballot in ranks if not np.isnan(ballot).any()]
    costs = {
        order: sum(
            bool(ballot[b] < ballot[a]) for a, b in combinations(order, 2) for ballot in complete
        )
        for order in permutations(range(ranks.shape[1]))
    }
    return min(order for order, cost in costs.items() if cost == min(costs.values()))


@pytest.mark.parametrize("seed", range(24))
def test_all_orders(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ranks = uniform(rng, 2 + seed % 5, 5)
    if seed % 2:
        ranks = tied(ranks, 3)
    if seed % 3:
        ranks = partial(ranks, rng, 0.1)
    result = kendall(ranks)
    np.testing.assert_array_equal(result.ranks.argsort(), first_optimum(ranks))
    np.testing.assert_array_equal(result.scores, result.ranks)
    partials = int(np.isnan(ranks).any(axis=1).sum() - np.isnan(ranks).all(axis=1).sum())
    assert (result.method, result.dropped) == ("kendall", partials)
    assert result.used == np.sum(~np.isnan(ranks).any(axis=1))
