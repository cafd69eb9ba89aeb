from random import Random

import numpy as np
import pytest

from tests.rankers.contests.cases import CASES, Case
from tests.rankers.contests.reference import contest
from tiebreak.rankers.contests.engine import out_flag, schedule, sorting_network


def test_the_network_sorts() -> None:
    # A network sorts everything when it sorts every sequence of zeros and ones.
    for size in range(1, 12):
        values = (np.arange(2**size)[:, None] >> np.arange(size)) & 1
        for low, high in sorting_network(size):
            pair = np.sort(values[:, [low, high]], axis=1)
            values[:, [low, high]] = pair
        assert np.all(np.diff(values, axis=1) >= 0)


def test_by_hand() -> None:
    # Five models, T = 1. Round 0: two matches, the last has the bye: scores 1 0 1 0 0.
    # Round 1: of the group {1, 3, 4} place 1 is eliminated; 0 meets 2 and 3 meets 4.
    first, second = schedule(5, (1, 0))
    assert first.active.tolist() == [0, 1, 2, 3, 4]
    assert first.matches.tolist() == [[0, 1], [2, 3]]
    assert first.score.tolist() == [1, 0, 1, 0, 0]
    assert second.active.tolist() == [0, 1, 2, 3, 4]
    assert second.matches.tolist() == [[3, 4], [0, 2]]
    assert second.score.tolist() == [2, 0 + out_flag(2), 1, 1, 0]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_scores_of_a_contest_are_no_chance(case: Case) -> None:
    last = schedule(case.models, case.each)[-1]
    expected = sorted(last.score & (out_flag(len(case.each)) - 1))
    for seed in range(20):
        assert sorted(contest(case.wins, case.each, Random(seed))) == expected
