import numpy as np

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
