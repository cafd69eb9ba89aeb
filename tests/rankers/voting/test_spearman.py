from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tests.rankers.ballots import partial, tied, uniform
from tests.rankers.voting.tables import table
from tiebreak.rankers.profile import within_ballots
from tiebreak.rankers.voting import spearman


def optimal_places(ranks: NDArray[np.float64]) -> list[tuple[int, ...]]:
    """All orders, as the place of each candidate, with the smallest sum, in fractions."""
    n = ranks.shape[1]
    table = within_ballots(ranks)
    terms = [
        (column, Fraction(float(rank)) * Fraction(n + 1, int(np.sum(~np.isnan(ballot))) + 1))
        for ballot in table
        for column, rank in enumerate(ballot)
        if not np.isnan(rank)
    ]
    costs = {
        places: sum((places[column] - rank) ** 2 for column, rank in terms)
        for places in permutations(range(1, n + 1))
    }
    return [places for places, cost in costs.items() if cost == min(costs.values())]


def expected_ranks(optima: list[tuple[int, ...]]) -> list[float]:
    """Groups end where all optimal orders have had the same candidates so far."""
    n = len(optima[0])
    ends = [0]
    for end in range(1, n + 1):
        if len({frozenset(c for c in range(n) if o[c] <= end) for o in optima}) == 1:
            ends.append(end)
    means = {
        place: (low + 1 + high) / 2
        for low, high in pairwise(ends)
        for place in range(low + 1, high + 1)
    }
    return [means[place] for place in optima[0]]


def test_complete_ballots_by_hand() -> None:
    # Sums of ranks a 1 + 1 + 3, b 2 + 2 + 1, c 3 + 3 + 2: a and b are level.
    result = spearman([[1, 2, 3], [1, 2, 3], [3, 1, 2]])
    np.testing.assert_array_equal(result.ranks, [1.5, 1.5, 3])
    assert result.ascending
    assert (result.used, result.dropped) == (3, 0)


def test_a_partial_ballot_is_stretched() -> None:
    # "c > b" reads c 4/3, b 8/3. Against a > b > c three times: with b second,
    # a 0, b 0 + (2 − 8/3)², c 0 + (3 − 4/3)² = 29/9; with c second, b 3 + (1/3)², c 3 + (2/3)².
    result = spearman(table("123", "123", "123", "-21"))
    np.testing.assert_array_equal(result.ranks, [1, 2, 3])
    np.testing.assert_array_equal(result.scores, [1, 2, 3])


@pytest.mark.parametrize("seed", range(40))
def test_all_orders(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ranks = uniform(rng, 2 + seed % 4, 5)
    if seed % 4:
        ranks = partial(tied(ranks, 2 + seed % 4), rng, 0.4)
    optima = optimal_places(ranks[~np.isnan(ranks).all(axis=1)])
    np.testing.assert_array_equal(spearman(ranks).ranks, expected_ranks(optima))


# All three are tied, and three more ballots rank c alone: r' = 2 for everybody, but c has four
# ballots that want it in the middle, a and b one each. So a and b change places around c.
AROUND = table("111", "--1", "--1", "--1")


def test_candidates_that_change_places_are_tied_with_those_between() -> None:
    optima = optimal_places(AROUND)
    assert sorted(optima) == [(1, 3, 2), (3, 1, 2)]
    np.testing.assert_array_equal(spearman(AROUND).ranks, [2, 2, 2])


@pytest.mark.parametrize("seed", range(10))
def test_the_largest_total_correlation(seed: int) -> None:
    ranks = uniform(np.random.default_rng(seed), 5, 5)
    totals = {
        places: sum(stats.spearmanr(places, ballot).statistic for ballot in ranks)
        for places in permutations(range(1, 6))
    }
    order = spearman(ranks).ranks.argsort(kind="stable").argsort() + 1
    assert totals[tuple(order.tolist())] == pytest.approx(max(totals.values()), abs=1e-12)


def test_mean_rank_is_not_optimal_on_partial_ballots() -> None:
    found = False
    for seed in range(200):
        rng = np.random.default_rng(seed)
        ranks = partial(uniform(rng, 4, 4), rng, 0.5)
        ranks = ranks[~np.isnan(ranks).all(axis=1)]
        stretched = within_ballots(ranks) * 5 / (np.sum(~np.isnan(ranks), 1, keepdims=True) + 1)
        means = np.nanmean(stretched, axis=0)
        optima = optimal_places(ranks)
        places = tuple((means.argsort(kind="stable").argsort() + 1).tolist())
        if len(set(means.round(9))) == 4 and places not in optima:
            np.testing.assert_array_equal(spearman(ranks).ranks, expected_ranks(optima))
            found = True
    assert found
