import math
from fractions import Fraction
from functools import reduce
from operator import add

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.rankers.ballots import partial, tied, uniform
from tests.rankers.voting.tables import table
from tiebreak.rankers.errors import UnknownMethodError
from tiebreak.rankers.voting import irv


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
def test_against_the_definition(seed: int, ties: str) -> None:
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


def test_an_unknown_option() -> None:
    with pytest.raises(UnknownMethodError, match="'coin'"):
        irv([[1, 2]], ties="coin")  # type: ignore[arg-type]
