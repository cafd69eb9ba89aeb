import math
from fractions import Fraction
from functools import reduce
from itertools import pairwise, permutations
from operator import add

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.rankers.ballots import partial, tied, uniform
from tests.rankers.voting.tables import table
from tiebreak.rankers.profile import within_ballots
from tiebreak.rankers.voting import average, borda, irv, spearman


def test_average_by_hand() -> None:
    # a: (1 + 2.5 + 1) / 3, b: (2 + 1 + 2) / 3, c: (3 + 2.5) / 2
    result = average(table("123", "212", "12-"))
    np.testing.assert_allclose(result.scores, [4.5 / 3, 5 / 3, 5.5 / 2])
    np.testing.assert_array_equal(result.ranks, [1, 2, 3])
    assert result.ascending
    assert (result.used, result.dropped) == (3, 0)


def test_equal_fractions_are_ties() -> None:
    # Means of one and of three ballots that are equal as fractions: a 2, b (1 + 2 + 3) / 3.
    result = average(table("-12", "-21", "231"))
    assert result.scores[0] == result.scores[1] == 2
    np.testing.assert_array_equal(result.ranks, [2.5, 2.5, 1])


def slow_borda(ranks: NDArray[np.float64]) -> list[Fraction]:
    """The definition, pair by pair, in fractions."""
    n_ballots, n = ranks.shape
    scores = []
    for column in range(n):
        points, possible = Fraction(0), 0
        for ballot in ranks:
            for other in range(n):
                if other == column or np.isnan(ballot[[column, other]]).any():
                    continue
                possible += 1
                points += Fraction(1, 2) * (
                    int(ballot[column] < ballot[other]) + int(ballot[column] <= ballot[other])
                )
        scores.append(points / possible * n_ballots * (n - 1))
    return scores


@pytest.mark.parametrize("seed", range(20))
def test_against_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ranks = partial(tied(uniform(rng, 6, 5), 3 + seed % 3), rng, 0.4)
    ranks = ranks[~np.isnan(ranks).all(axis=1)]
    ours, expected = borda(ranks), slow_borda(ranks)
    np.testing.assert_allclose(ours.scores, [float(score) for score in expected], rtol=1e-14)
    places = [
        0.5 + sum(other > own for other in expected) + 0.5 * expected.count(own) for own in expected
    ]
    np.testing.assert_array_equal(ours.ranks, places)


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


def slow_irv(ranks: NDArray[np.float64], borda: bool) -> list[set[int]]:
    """The groups that go out, first to last, in fractions."""
    left = set(range(ranks.shape[1]))
    out: list[set[int]] = []
    while left:
        votes = dict.fromkeys(left, Fraction(0))
        net = dict.fromkeys(left, 0)
        for ballot in ranks:
            here = {column: ballot[column] for column in left if not math.isnan(ballot[column])}
            tops = [column for column in here if here[column] == min(here.values())]
            for column in tops:
                votes[column] += Fraction(1, len(tops))
            for one in here:
                net[one] += sum(bool(here[one] < here[other]) for other in here)
                net[one] -= sum(bool(here[one] > here[other]) for other in here)
        fewest = {column for column in left if votes[column] == min(votes.values())}
        if borda:
            least = min(net[column] for column in fewest)
            fewest = {column for column in fewest if net[column] == least}
        out.append(fewest)
        left -= fewest
    return out


def test_thirds_and_sixths_are_counted_exactly() -> None:
    # Six sixths make one vote (floats, added one by one, 0.9999999999999999): all seven are equal.
    ballots = table(*["111111-"] * 6, "------1")
    assert reduce(add, [1 / 6] * 6) < 1
    np.testing.assert_array_equal(irv(ballots).ranks, [4] * 7)


@pytest.mark.parametrize("ties", ["borda", "together"])
@pytest.mark.parametrize("seed", range(30))
def test_against_the_definition_of_irv(seed: int, ties: str) -> None:
    rng = np.random.default_rng(seed)
    ranks = uniform(rng, 3 + seed % 5, 6)
    if seed % 3:
        ranks = partial(tied(ranks, 2 + seed % 4), rng, 0.4)
    result = irv(ranks, ties=ties)  # type: ignore[arg-type]
    groups = [set(group) for group in reversed(result.groups)]
    assert groups == slow_irv(ranks, borda=ties == "borda")
    for number, group in enumerate(groups, start=1):
        assert set(result.scores[list(group)]) == {number}


def test_sizes_whose_common_multiple_exceeds_64_bits() -> None:
    # Ballot k ties the first k candidates at the top: lcm(1 … 60) > 2⁶³. Votes fall with the
    # column, Σ_{k ≥ j} 1/k, so the order of the columns is the result.
    n = 60
    assert math.lcm(*range(1, n + 1)) > 2**63
    ballots = np.array([[1.0 if column < k else 2.0 for column in range(n)] for k in range(1, n)])
    np.testing.assert_array_equal(irv(ballots).ranks, np.arange(1, n + 1))


def test_the_only_candidate_is_first() -> None:
    result = borda([[1.0], [1.0]])
    np.testing.assert_array_equal(result.ranks, [1])
    np.testing.assert_array_equal(result.scores, [0])
