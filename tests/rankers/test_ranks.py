import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.stats import rankdata

from tests.cases import cases
from tiebreak.rankers import competition_ranks, mean_ranks, normalized_borda, spread

NAN = math.nan

# A busy machine is no failure.
patient = settings(deadline=None)


@pytest.mark.parametrize(("groups", "expected"), cases(__file__, "mean ranks"))
def test_mean_ranks(groups: list[list[str]], expected: dict[str, float]) -> None:
    assert mean_ranks(groups) == expected


@pytest.mark.parametrize(("scores", "tiebreaker", "expected"), cases(__file__, "competition ranks"))
def test_competition_ranks(
    scores: list[float], tiebreaker: list[float] | None, expected: list[float]
) -> None:
    np.testing.assert_array_equal(competition_ranks(scores, tiebreaker), expected)


@pytest.mark.slow
@patient
@given(arrays(np.int64, st.integers(1, 12), elements=st.integers(-3, 3)))
def test_competition_ranks_agree_with_scipy(scores: NDArray[np.int64]) -> None:
    np.testing.assert_array_equal(competition_ranks(scores), rankdata(-scores, method="min"))


@pytest.mark.parametrize(("ranks", "expected"), cases(__file__, "normalized Borda"))
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
