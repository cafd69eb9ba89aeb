import math
from fractions import Fraction
from functools import reduce
from itertools import pairwise, permutations, product
from operator import add

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tests.rankers.ballots import partial, tied, uniform
from tests.rankers.voting.tables import table
from tiebreak.rankers import normalized_borda
from tiebreak.rankers.profile import within_ballots
from tiebreak.rankers.voting import average, borda, irv, spearman


def test_average_by_hand() -> None:
    # a: (1 + 2.5 + 1) / 3, b: (2 + 1 + 2) / 3, c: (3 + 2.5) / 2
    result = average(table("123", "212", "12-"))
    np.testing.assert_allclose(result.scores, [4.5 / 3, 5 / 3, 5.5 / 2])
    np.testing.assert_array_equal(result.ranks, [1, 2, 3])
    assert result.ascending
    assert (result.used, result.dropped) == (3, 0)


def test_a_ballot_over_two_gives_the_ranks_one_and_two() -> None:
    # The third ballot says "c before b" and nothing else: c 1, b 2, whatever numbers it writes.
    result = average([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [math.nan, 90.0, 10.0]])
    np.testing.assert_allclose(result.scores, [1, 2, 7 / 3])


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


def test_the_classical_count() -> None:
    # Three ballots a > b > c and two b > c > a: a 3·2, b 3·1 + 2·2, c 2·1.
    result = borda([[1, 2, 3]] * 3 + [[3, 1, 2]] * 2)
    np.testing.assert_array_equal(result.scores, [6, 7, 2])
    np.testing.assert_array_equal(result.ranks, [2, 1, 3])
    assert not result.ascending
    assert (result.used, result.dropped) == (5, 0)


def test_complete_ballots_give_n_minus_rank() -> None:
    ranks = uniform(np.random.default_rng(1), 7, 5)
    np.testing.assert_array_equal(borda(ranks).scores, (5 - ranks).sum(axis=0))
    np.testing.assert_array_equal(borda(ranks, unranked="last").scores, (5 - ranks).sum(axis=0))
    np.testing.assert_allclose(borda(ranks[:1]).scores / 4, normalized_borda(ranks[:1])[0])


def test_ties_get_half_a_point() -> None:
    # a ~ b > c: a and b ½ + 1; then all tied: ½ + ½ each.
    np.testing.assert_array_equal(borda([[1, 1, 2], [5, 5, 5]]).scores, [2.5, 2.5, 1])


def test_partial_ballots_compare_only_what_they_rank() -> None:
    # a > b > c and a > b, N = 3, M = 2, so scores are shares times 4.
    # a won 3 of 3, b 1 of 3, c 0 of 2.
    ballots = table("123", "12-")
    np.testing.assert_allclose(borda(ballots).scores, [4, 4 / 3, 0])
    # c last in both: a 2 + 2, b 1 + 1, c 0.
    np.testing.assert_array_equal(borda(ballots, unranked="last").scores, [4, 2, 0])


def test_unranked_candidates_are_tied_last_on_request() -> None:
    # a > {b, c, d}: a beats three, the others tie with two.
    result = borda(table("1---", "1234"), unranked="last")
    np.testing.assert_array_equal(result.scores, [3 + 3, 1 + 2, 1 + 1, 1 + 0])


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


def test_the_only_candidate_is_first() -> None:
    result = borda([[1.0], [1.0]])
    np.testing.assert_array_equal(result.ranks, [1])
    np.testing.assert_array_equal(result.scores, [0])


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


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_the_largest_total_correlation(seed: int) -> None:
    ranks = uniform(np.random.default_rng(seed), 5, 5)
    totals = {
        places: sum(stats.spearmanr(places, ballot).statistic for ballot in ranks)
        for places in permutations(range(1, 6))
    }
    order = spearman(ranks).ranks.argsort(kind="stable").argsort() + 1
    assert totals[tuple(order.tolist())] == pytest.approx(max(totals.values()), abs=1e-12)


def test_of_ties_the_squares_count_and_not_the_total_correlation() -> None:
    # "b last and all others tied" has little to say in squares, and as much as others in ρ.
    ballots = np.array([[2.5, 2.5, 1, 4], [2, 4, 2, 2], [4, 1, 3, 2]])
    totals = {
        places: sum(stats.spearmanr(places, ballot).statistic for ballot in ballots)
        for places in permutations(range(1, 5))
    }
    assert max(totals, key=lambda places: totals[places]) == (4, 3, 1, 2)
    assert optimal_places(ballots) == [(4, 2, 1, 3)]
    np.testing.assert_array_equal(spearman(ballots).ranks, [4, 2, 1, 3])


@pytest.mark.slow
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


def test_by_hand() -> None:
    # 4 a > b > c, 3 c > b > a, 2 b > a > c. First places: a 4, b 2, c 3, so b goes out;
    # then a 6, c 3, so c goes out. (b beats a 5–4 and c 6–3 in pairs.)
    result = irv([[1, 2, 3]] * 4 + [[3, 2, 1]] * 3 + [[2, 1, 3]] * 2)
    np.testing.assert_array_equal(result.scores, [3, 1, 2])
    np.testing.assert_array_equal(result.ranks, [1, 3, 2])
    assert not result.ascending
    assert (result.used, result.dropped) == (9, 0)


def test_rounds_go_on_after_a_majority() -> None:
    # a has 3 of 5 first places. b 1, c 1: pairwise b has the better margins (b beats c 3–2).
    ballots = [[1, 2, 3], [1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1]]
    np.testing.assert_array_equal(irv(ballots).ranks, [1, 2, 3])


def test_ties_for_the_fewest_first_places() -> None:
    # First places a 2, b 0, c 0, d 0. Margins of b, c, d against the others, ±2 a pair:
    # b: −2 + 2 + 2, c: −2 − 2 + 0, d: −2 − 2 + 0. So c and d go out together, then b.
    ballots = [[1, 2, 3, 4], [1, 2, 4, 3]]
    np.testing.assert_array_equal(irv(ballots).ranks, [1, 2, 3.5, 3.5])
    np.testing.assert_array_equal(irv(ballots, ties="together").ranks, [1, 3, 3, 3])


def test_few_ballots_mostly_tie_for_the_fewest() -> None:
    # Whoever six voters of six candidates name first: all 46,656 ways.
    named = np.array(list(product(range(6), repeat=6)))
    votes = np.sum(named[:, :, None] == np.arange(6), axis=1)
    several = np.sum(votes == votes.min(axis=1, keepdims=True), axis=1) > 1
    assert round(several.mean(), 2) == 0.77


def test_a_shared_top_splits_the_vote() -> None:
    # Round 1: a 1, b ½ + ½ + 1 = 2, c ½ + ½ = 1. Margins: a loses to b 1–3 and c 1–3;
    # c beats a 3–1, and b 0–2 (two ties). So a goes out. Round 2: b and c share three ballots
    # and b has one: b wins.
    ballots = [[1, 2, 2], [2, 1, 1], [2, 1, 1], [3, 1, 2]]
    np.testing.assert_array_equal(irv(ballots).ranks, [3, 1, 2])


def test_thirds_and_sixths_are_counted_exactly() -> None:
    # Six sixths make one vote (floats, added one by one, 0.9999999999999999): all seven are equal.
    ballots = table(*["111111-"] * 6, "------1")
    assert reduce(add, [1 / 6] * 6) < 1
    np.testing.assert_array_equal(irv(ballots).ranks, [4] * 7)


def test_an_exhausted_ballot_has_no_vote_any_more() -> None:
    # First places a 2, b 2, c 1, d 1. Margins: c −2 (b before c twice), d 0 (c and d level): c goes
    # out, and its ballot passes to d. Now a 2, b 2, d 2 with margins a 2, b −2, d 0: b goes out,
    # and its ballots, which rank nobody but b and c, say no more. a and d stay level in both.
    ballots = table("12--", "12--", "-12-", "-12-", "--12", "--21")
    np.testing.assert_array_equal(irv(ballots).ranks, [1.5, 3, 4, 1.5])


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
