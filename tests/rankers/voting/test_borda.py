from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.rankers.ballots import partial, tied, uniform
from tests.rankers.voting.tables import table
from tiebreak.rankers import normalized_borda
from tiebreak.rankers.errors import NeverComparedError, RankingError, UnknownMethodError
from tiebreak.rankers.voting import borda


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


def test_a_candidate_without_comparison_is_named() -> None:
    with pytest.raises(NeverComparedError, match="'2'") as error:
        borda(table("12-", "--1"))
    assert isinstance(error.value, RankingError)
    np.testing.assert_array_equal(borda(table("12-", "--1"), unranked="last").used, 2)


def test_an_unknown_option() -> None:
    with pytest.raises(UnknownMethodError, match="'first'"):
        borda([[1, 2]], unranked="first")  # type: ignore[arg-type]
