import math

import numpy as np

from tests.rankers.voting.tables import table
from tiebreak.rankers.voting import average


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
