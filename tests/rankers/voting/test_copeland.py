import numpy as np
import pytest

from tests.rankers.ballots import partial, tied, uniform
from tests.rankers.voting.tables import table
from tiebreak.rankers.voting import copeland


def test_victories_minus_defeats() -> None:
    # a beats b 2–1 and c 2–1, b beats c 3–0; d loses all.
    result = copeland([[1, 2, 3, 4], [1, 2, 3, 4], [3, 1, 2, 4]])
    np.testing.assert_array_equal(result.scores, [3, 1, -1, -3])
    np.testing.assert_array_equal(result.ranks, [1, 2, 3, 4])
    assert not result.ascending


def test_a_drawn_pair_and_a_pair_that_nobody_compares_count_nothing() -> None:
    # a and b 1–1; b beats c 1–0; no ballot ranks a and c.
    result = copeland(table("12-", "21-", "-12"))
    np.testing.assert_array_equal(result.scores, [0, 1, -1])
    np.testing.assert_array_equal(result.ranks, [2, 1, 3])


def test_the_majority_is_of_the_ballots_that_compare_the_pair() -> None:
    # One of four ballots ranks both: that one decides.
    result = copeland(table("12", "11", "1-", "-1"))
    np.testing.assert_array_equal(result.scores, [1, -1])


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
