import numpy as np
import pytest

from tiebreak.rankers.csd import csd, perturb
from tiebreak.rankers.errors import RankingError

SCORES = np.random.default_rng(0).normal(0.6, 0.05, size=(10, 8)) + np.linspace(0, 0.2, 10)[:, None]


def test_a_failed_round_hurts_the_mean_more() -> None:
    """Example 1 of the paper's §4.2, on synthetic scores: two zeros of a strong model."""
    found = perturb(SCORES, 9, [2, 3], iterations=5000)
    before = csd(SCORES, iterations=5000)
    np.testing.assert_array_equal(found.before.expected_wins, before.expected_wins)
    spoilt = SCORES.copy()
    spoilt[9, 2:4] = 0
    after = csd(spoilt, iterations=5000)
    np.testing.assert_array_equal(found.after.expected_wins, after.expected_wins)
    np.testing.assert_allclose(found.mean_after, spoilt.mean(axis=1))
    assert found.csd_ranks == (1, int(found.after.rank[9]))
    assert found.mean_ranks == (1, 9)
    assert found.csd_ranks[1] < 5
    np.testing.assert_array_equal(SCORES[9, 2:4] > 0, [True, True])  # the input is left alone


def test_nothing_changes_nothing() -> None:
    found = perturb(SCORES, 4, [0], value=SCORES[4, 0], iterations=500)
    np.testing.assert_array_equal(found.before.expected_wins, found.after.expected_wins)
    assert found.mean_ranks[0] == found.mean_ranks[1]


def test_the_mean_is_over_the_benchmarks_of_the_rounds() -> None:
    found = perturb(SCORES, 0, [7], rounds=[[0, 1], [2]], iterations=100)
    np.testing.assert_allclose(found.mean_before, SCORES[:, :3].mean(axis=1))
    np.testing.assert_array_equal(found.mean_before, found.mean_after)


@pytest.mark.parametrize(
    ("model", "benchmarks", "value", "match"),
    [(10, [0], 0.0, "no model 10"), (-1, [0], 0.0, "no model"), (0, [], 0.0, "benchmarks"),
     (0, [8], 0.0, "benchmarks"), (0, [0], float("nan"), "finite")],
)  # fmt: skip
def test_bad_input(model: int, benchmarks: list[int], value: float, match: str) -> None:
    with pytest.raises(RankingError, match=match):
        perturb(SCORES, model, benchmarks, value, iterations=10)
