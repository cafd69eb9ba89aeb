"""What sampling error does to scores of rounds: enumeration, draws, and the paper's table 9."""

from itertools import combinations

import numpy as np
import pytest

from tiebreak.rankers.linked import (
    expected_variance,
    linked_scores,
    relative_influence,
    variance_at,
    within_pool,
)

TABLE_9 = {
    "Doubao-1.5-Thinking-Pro": ((100.0, 100.0, 100.0, 100.0, 100.0), 100.0, 0.0),
    "DeepSeek-V3": ((96.48, 96.87, 98.10, 98.02, 97.53), 97.40, 0.51),
    "Qwen-3-32B": ((92.21, 92.58, 93.93, 94.15, 93.45), 93.26, 0.71),
    "GPT-4o": ((88.08, 90.21, 91.50, 90.69, 90.48), 90.19, 1.63),
    "o3-mini": ((84.13, 85.31, 86.69, 85.56, 86.18), 85.57, 0.95),
}
"""LLMEval-Fair, table 9: relative scores of three rounds of 1000, one of 2000, one of 4000."""


@pytest.mark.parametrize("model", TABLE_9)
def test_the_variance_of_table_9_is_that_of_its_rows_with_n_less_one(model: str) -> None:
    scores, mean, variance = TABLE_9[model]
    assert np.mean(scores) == pytest.approx(mean, abs=0.006)
    assert np.var(scores, ddof=1) == pytest.approx(variance, abs=0.01)  # of rounded scores


def test_the_variance_of_the_main_text_is_that_of_no_columns_of_table_9() -> None:
    """§3.4 says 1.68 for DeepSeek-V3; no choice of two columns or more varies as much."""
    scores, _, _ = TABLE_9["DeepSeek-V3"]
    chosen = [one for n in range(2, 6) for one in combinations(scores, n)]
    assert max(np.var(one, ddof=1) for one in chosen) < 1.32


def test_expected_variance_of_independent_rounds_is_the_mean_of_theirs() -> None:
    found = expected_variance(np.diag([1.0, 2.0, 6.0]))
    assert found.value == pytest.approx(3.0)
    assert found.lower < 3 < found.upper


def test_equal_rounds_have_the_chi_square_distribution() -> None:
    from scipy.stats import chi2

    found = expected_variance(2.0 * np.eye(4), level=0.9)
    assert found.lower == pytest.approx(2 * chi2.ppf(0.05, 3) / 3)
    assert found.upper == pytest.approx(2 * chi2.ppf(0.95, 3) / 3)


def test_correlated_rounds_by_drawing_them() -> None:
    rng = np.random.default_rng(0)
    root = rng.standard_normal((4, 4))
    covariance = root @ root.T
    drawn = (rng.standard_normal((200_000, 4)) @ root.T).var(axis=1, ddof=1)
    assert expected_variance(covariance).value == pytest.approx(drawn.mean(), rel=0.02)


@pytest.mark.parametrize("covariance", [np.eye(1), np.full((2, 2), np.nan)])
def test_unknown(covariance: np.ndarray) -> None:
    assert np.isnan(expected_variance(covariance).value)


def test_a_reference_never_varies() -> None:
    assert expected_variance(np.zeros((3, 3))).upper == 0


def test_draws_of_a_pool_by_enumeration() -> None:
    """Every choice of 3 of 6 items: the variance of their mean is the formula's, exactly."""
    items = np.array([0.0, 1.0, 1.0, 0.5, 0.25, 0.0])
    means = [np.mean(chosen) for chosen in combinations(items, 3)]
    of_all = items.var(ddof=1) / 6
    independent = variance_at(of_all, 6, 3)
    assert independent == pytest.approx(items.var(ddof=1) / 3)
    assert np.var(means) == pytest.approx(float(within_pool(independent, 6, 3)))


def test_relative_influence_is_the_derivative_of_the_share() -> None:
    rng = np.random.default_rng(1)
    scores = rng.integers(0, 4, (50, 3)) / 3
    found = linked_scores(scores, link=False)
    moves = relative_influence(found.score, found.influence, 2)
    # A little more weight on the first item, by finite differences.
    step = 1e-6
    weights = np.ones(50)
    weights[0] += step
    one = np.average(scores, axis=0, weights=weights)
    changed = (one / one[2] - found.score / found.score[2]) / step
    assert moves[0] == pytest.approx(changed, abs=1e-5)
    assert moves[:, 2] == pytest.approx(np.zeros(50))
