import math
from functools import cache
from itertools import pairwise, product
from unittest.mock import patch

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from tests.rankers.ballots import FloatArray, mallows, partial, tied, uniform
from tests.rankers.kemeny.exhaustive import KINDS, all_costs, all_orders, profile, profiles
from tests.rankers.kemeny.plain import Optima, before, by_subsets
from tiebreak.rankers.kemeny import cycles, solve
from tiebreak.rankers.kemeny.certificate import KemenyResult, check_certificate
from tiebreak.rankers.kemeny.solve import kemeny_young
from tiebreak.rankers.profile import IntArray, Profile

NAN = math.nan


def check(ranks: FloatArray, found: KemenyResult) -> None:
    """Every field against the costs of all orders."""
    n, counts = ranks.shape[1], before(ranks)
    orders, costs = all_orders(n), all_costs(ranks)
    cost = int(costs.min())
    optimal = [tuple(order) for order in orders[costs == cost].tolist()]
    dearer = costs[costs > cost]
    assert found.order == optimal[0]
    assert (found.cost, found.lower_bound, found.optimal, found.gap) == (cost, cost, True, 0)
    assert found.orders == tuple(optimal)
    assert found.n_optima == len(optimal)
    assert found.unique == (len(optimal) == 1)
    if n == 1:
        assert found.margin is None
    else:
        assert found.margin == (0 if len(optimal) > 1 else int(dearer.min()) - cost)
    assert found.interchangeable == tuple(
        (a, b) for a, b in pairwise(optimal[0]) if counts[a][b] == counts[b][a]
    )
    beaten = [i for i in range(n) if all(counts[i][j] > counts[j][i] for j in range(n) if j != i)]
    assert found.condorcet_winner == (beaten[0] if beaten else None)
    majority = np.array(counts) > np.transpose(counts)
    _, label = connected_components(majority, directed=True, connection="strong")
    groups = {tuple(np.flatnonzero(label == name).tolist()) for name in label}
    assert set(found.cycles) == {group for group in groups if len(group) > 1}
    assert [found.order[int(rank) - 1] for rank in found.ranks] == list(range(n))


# Cycles of at most so many candidates are solved over all of their sets.
BY_SETS = [pytest.param(solve.MOST_IN_SETS, id="sets"), pytest.param(0, id="bounds")]


@pytest.mark.slow
@pytest.mark.parametrize("most", BY_SETS)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7])
def test_against_all_orders(n: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solve, "MOST_IN_SETS", most)
    ballots, seeds = ((1, 2, 3, 4, 7, 31), 2) if n < 7 else ((3, 4, 11, 60), 1)
    for ranks in profiles(n, ballots, seeds):
        found = kemeny_young(ranks, max_orders=math.factorial(n))
        check(ranks, found)
        check_certificate(ranks, found)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", [2, 1 << 12])
def test_the_search_alone_finds_the_same(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solve, "MOST_IN_SETS", 0)

    # With no bound from cycles and a bad order to begin with, all is left to the search.
    def nothing(
        margin: IntArray, order: IntArray, step: int, deadline: float
    ) -> tuple[cycles.Bound, IntArray]:
        none = np.empty((0, 3), np.int64)
        return cycles.bound_from(margin, none, none[:, 0]), order[::-1]

    with patch.object(solve, "cycle_bound", nothing), patch.object(cycles, "CHUNK", chunk):
        for ranks in profiles(6, ballots=(3, 4, 31), seeds=2):
            found = kemeny_young(ranks, max_orders=720)
            check(ranks, found)
            assert not found.certificate.cycles
            check_certificate(ranks, found)


def test_halved_weights_leave_the_rest_to_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solve, "MOST_IN_SETS", 0)
    bound_from = cycles.bound_from

    def halved(margin: IntArray, rows: IntArray, weights: IntArray) -> cycles.Bound:
        return bound_from(margin, rows, weights // 2)

    with patch.object(cycles, "bound_from", halved):
        for ranks in profiles(6, ballots=(5, 11), seeds=2):
            found = kemeny_young(ranks, max_orders=720)
            check(ranks, found)
            check_certificate(ranks, found)


@pytest.mark.slow
@pytest.mark.parametrize("most", BY_SETS)
@pytest.mark.parametrize(
    ("n", "kinds"),
    [
        *((n, KINDS) for n in (8, 9, 11)),
        *((n, ("complete", "tied and partial")) for n in (12, 13, 14)),
    ],
)
def test_against_dynamic_programming(
    n: int, kinds: tuple[str, ...], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solve, "MOST_IN_SETS", most)
    for kind, ballots in product(kinds, (6, 11)):
        found = kemeny_young(profile(kind, ballots, n, 0))
        assert (found.cost, found.order, found.n_optima) == optima(kind, ballots, n)
        assert found.optimal


@cache
def optima(kind: str, n_ballots: int, n: int) -> Optima:
    """The oracle is asked once for both ways to solve a cycle: it takes most of the time."""
    return by_subsets(profile(kind, n_ballots, n, 0))


def test_the_margin_between_two_cycles() -> None:
    # Two such cycles with margins 50, 40, 30; all of the first beat all of the second by 7.
    pairs = []
    for x, y, z in (tuple("abc"), tuple("def")):
        pairs += [(x, y, 1.0)] * 50 + [(y, z, 1.0)] * 40 + [(z, x, 1.0)] * 30
    pairs += [(x, y, 1.0) for x in "abc" for y in "def"] * 7
    found = kemeny_young(Profile.from_pairwise(pairs, list("abcdef")))
    assert (found.order, found.cost, found.margin) == ((0, 1, 2, 3, 4, 5), 60, 7)


def test_two_chains_without_a_majority_between_them_interleave() -> None:
    # 0 > 1 > … > 9 and 10 > … > 19: 20! / (10! · 10!) orders, and the first is 0, 1, …, 19.
    chain = np.arange(10.0)
    ranks = np.vstack([np.r_[chain, [NAN] * 10], np.r_[[NAN] * 10, chain]])
    found = kemeny_young(ranks, max_orders=3)
    assert found.n_optima == math.comb(20, 10)
    assert found.order == tuple(range(20))
    # The next ones put 10 before 9, then 10 and 11 before 9.
    assert found.orders[1] == (*range(9), 10, 9, *range(11, 20))
    assert found.orders[2] == (*range(9), 10, 11, 9, *range(12, 20))
    assert found.interchangeable == ((9, 10),)


def test_all_tied() -> None:
    found = kemeny_young(np.ones((3, 100)), max_orders=2)
    assert found.n_optima == math.factorial(100)
    assert found.orders == (tuple(range(100)), (*range(98), 99, 98))
    assert (found.cost, found.margin, found.unique) == (0, 0, False)
    assert len(found.interchangeable) == 99


@pytest.mark.slow
def test_more_than_64_candidates() -> None:
    # Sets of more than one word. The checker is the oracle; the columns are then shuffled.
    rng = np.random.default_rng(90)
    ranks = mallows(rng, 11, 90, 0.95)
    found = kemeny_young(ranks, max_orders=1)
    assert found.optimal
    assert max(map(len, found.cycles)) > 64
    check_certificate(ranks, found)
    again = kemeny_young(ranks[:, rng.permutation(90)], max_orders=1)
    assert (again.cost, again.n_optima, again.margin) == (found.cost, found.n_optima, found.margin)


@pytest.mark.slow
def test_a_time_limit_gives_bounds() -> None:
    ranks = uniform(np.random.default_rng(7), 11, 60)
    full = kemeny_young(ranks, max_orders=1)
    assert full.optimal
    for seconds in (0.0, 0.02):
        found = kemeny_young(ranks, time_limit=seconds)
        assert found.lower_bound < full.cost <= found.cost
        assert not found.optimal
        assert found.gap == found.cost - found.lower_bound
        assert (found.unique, found.n_optima, found.margin, found.orders) == (None, None, None, ())
        assert "limit" in str(found.method)
        counts = np.array(before(ranks))
        assert found.cost == np.triu(counts.T[np.ix_(found.order, found.order)]).sum()
        assert found.lower_bound >= np.triu(np.minimum(counts, counts.T)).sum()
        check_certificate(ranks, found)


def test_no_time_is_enough_where_nothing_is_to_be_searched() -> None:
    found = kemeny_young(uniform(np.random.default_rng(0), 1, 50), time_limit=0)
    assert found.optimal
    assert (found.n_optima, found.margin, found.cycles) == (1, 1, ())


def test_a_search_without_memory_still_proves_what_the_bound_proves() -> None:
    ranks = uniform(np.random.default_rng(1), 11, 20)
    full = kemeny_young(ranks)
    with patch.object(cycles, "MAX_EDGES", 5):
        found = kemeny_young(ranks)
    assert found.optimal
    assert (found.cost, found.n_optima) == (full.cost, None)
    assert found.order in full.orders
    assert set(found.orders) <= set(full.orders)
    check_certificate(ranks, found)


def test_a_search_without_memory_leaves_a_gap() -> None:
    ranks = uniform(np.random.default_rng(3), 11, 14)
    full = kemeny_young(ranks)
    assert max(map(len, full.cycles)) > solve.MOST_IN_SETS
    with patch.object(cycles, "MAX_EDGES", 5), patch.object(cycles, "violated_cycles") as rows:
        rows.return_value = np.empty((0, 3), np.int64)
        found = kemeny_young(ranks)
    assert found.lower_bound < full.cost <= found.cost
    assert not found.optimal
    check_certificate(ranks, found)


def test_neighbours_that_may_be_swapped_prove_nothing_about_an_order_that_is_not_proven() -> None:
    found = kemeny_young(uniform(np.random.default_rng(7), 4, 40), time_limit=0)
    assert not found.optimal
    assert found.interchangeable
    assert (found.unique, found.n_optima, found.margin) == (None, None, None)


def test_too_many_optima_to_count_are_none_but_the_order_is_the_smallest() -> None:
    rng = np.random.default_rng(5)
    ranks = partial(tied(uniform(rng, 6, 9), 2), rng)
    full = kemeny_young(ranks)
    assert full.n_optima is not None
    with patch.object(solve, "MAX_SETS", 0):
        found, listed = kemeny_young(ranks, max_orders=2), kemeny_young(ranks)
    assert found.n_optima is None
    assert (found.unique, found.margin, found.optimal) == (False, 0, True)
    assert found.orders == full.orders[:2]
    assert listed.n_optima == full.n_optima == len(full.orders)  # all are listed: none to count


def test_the_margin_within_a_cycle_is_less_than_that_of_any_neighbours() -> None:
    # a → b → c → a by 5, 4 and 3: abc breaks c → a (3), bca breaks a → b (5), cab b → c (4). So the
    # second is 1 dearer, and no swap of neighbours is: those cost 5 and 4.
    pairs = [("a", "b", 1.0)] * 5 + [("b", "c", 1.0)] * 4 + [("c", "a", 1.0)] * 3
    found = kemeny_young(Profile.from_pairwise(pairs))
    assert (found.order, found.cost, found.margin) == ((0, 1, 2), 3, 1)
    assert found.cycles == ((0, 1, 2),)
    assert found.names == ("a", "b", "c")
