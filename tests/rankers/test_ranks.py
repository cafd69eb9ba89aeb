import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.stats import rankdata

from tiebreak.rankers import competition_ranks, mean_ranks, normalized_borda, spread

NAN = math.nan

# A busy machine is no failure.
patient = settings(deadline=None)


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([], {}),
        ([["a"]], {"a": 1.0}),
        ([["a"], ["b"], ["c"]], {"a": 1.0, "b": 2.0, "c": 3.0}),
        ([["a"], ["b", "c"]], {"a": 1.0, "b": 2.5, "c": 2.5}),  # (2 + 3) / 2
        ([["a", "b", "c"], ["d"]], {"a": 2.0, "b": 2.0, "c": 2.0, "d": 4.0}),  # (1 + 2 + 3) / 3
    ],
)
def test_mean_ranks(groups: list[list[str]], expected: dict[str, float]) -> None:
    assert mean_ranks(groups) == expected


@pytest.mark.parametrize(
    ("scores", "tiebreaker", "expected"),
    [
        ([0.9, 0.5, 0.5, 0.1], None, [1, 2, 2, 4]),
        ([0.9, 0.5, 0.5, 0.1], [0, 0.2, 0.3, 9], [1, 3, 2, 4]),
        ([0.5, 0.5, 0.5], [NAN, -0.9, NAN], [2, 1, 2]),  # no margin comes after every margin
        ([0.5, NAN, 0.7], [0, 9, 0], [2, NAN, 1]),
        ([0.1 + 0.2, 0.3], None, [1, 1]),  # 0.30000000000000004 is 0.3
        ([], None, []),
    ],
)
def test_competition_ranks(
    scores: list[float], tiebreaker: list[float] | None, expected: list[float]
) -> None:
    np.testing.assert_array_equal(competition_ranks(scores, tiebreaker), expected)


@pytest.mark.slow
@patient
@given(arrays(np.int64, st.integers(1, 12), elements=st.integers(-3, 3)))
def test_competition_ranks_agree_with_scipy(scores: NDArray[np.int64]) -> None:
    np.testing.assert_array_equal(competition_ranks(scores), rankdata(-scores, method="min"))


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ([1, 2, 3, 4, 5], [1, 0.75, 0.5, 0.25, 0]),  # (5 - rank) / 4
        ([1, 2.5, 2.5], [1, 0.25, 0.25]),  # (3 - 2.5) / 2
        ([2, 2, 2], [0.5, 0.5, 0.5]),
        ([2, NAN, 1], [0, NAN, 1]),  # two present: (2 - rank) / 1
        ([1, NAN, NAN], [NAN, NAN, NAN]),  # alone: nobody to compare with
        ([NAN, NAN, NAN], [NAN, NAN, NAN]),
    ],
)
def test_normalized_borda(ranks: list[float], expected: list[float]) -> None:
    np.testing.assert_allclose(normalized_borda([ranks]), [expected])


tables = arrays(
    np.int64, st.tuples(st.integers(1, 6), st.integers(2, 6)), elements=st.integers(0, 4)
)


def borda_of(scores: NDArray[np.int64] | NDArray[np.float64]) -> NDArray[np.float64]:
    return normalized_borda(rankdata(-scores, axis=1))


@pytest.mark.slow
@patient
@given(tables)
def test_borda_is_the_share_of_the_others_left_behind(scores: NDArray[np.int64]) -> None:
    # Oracle: count wins and half-wins pair by pair.
    n = scores.shape[1]
    wins = (scores[:, :, None] > scores[:, None, :]).sum(axis=2)
    ties = (scores[:, :, None] == scores[:, None, :]).sum(axis=2) - 1
    np.testing.assert_allclose(borda_of(scores), (wins + ties / 2) / (n - 1))


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ([0.0, 0.5, 1.0], 2 / 3),  # (0.5 + 1 + 0.5) / 3
        ([0.2, 0.2], 0.0),
        ([0.2, NAN, 0.6], 0.4),
        ([0.2], NAN),
        ([], NAN),
    ],
)
def test_spread(means: list[float], expected: float) -> None:
    assert spread(means) == pytest.approx(expected, nan_ok=True)
