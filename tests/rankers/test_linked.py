"""Scores over shared, partly shared and different items: brute force and limiting cases."""

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
from tiebreak.rankers.pairwise_tests import separation

NAN = float("nan")


def answers(rng: np.random.Generator, n: int, models: int, rho: float = 0.5) -> np.ndarray:
    common = rng.standard_normal((n, 1))
    own = rng.standard_normal((n, models))
    return np.asarray(0.2 * (np.sqrt(rho) * common + np.sqrt(1 - rho) * own) + 0.6)


def linked(table: np.ndarray, anchors: int) -> np.ndarray:
    """The same with all models in the first rows, and one model in each of the others."""
    holes = table.copy()
    rows, models = table.shape
    for row in range(anchors, rows):
        holes[row, np.arange(models) != row % models] = NAN
    return holes


def test_full_tables_are_plain_means_and_paired() -> None:
    table = answers(np.random.default_rng(0), 60, 3)
    found = linked_scores(table, link=True)
    assert found.score == pytest.approx(table.mean(axis=0))
    assert found.covariance == pytest.approx(np.cov(table.T) / 60)
    assert found.pseudo == pytest.approx(table)
    by_items = separation(table, range(3))
    assert [p.p_adjusted for p in separation(found.pseudo, range(3)).pairs] == pytest.approx(
        [p.p_adjusted for p in by_items.pairs]
    )


def test_generalised_least_squares_by_brute_force() -> None:
    table = linked(answers(np.random.default_rng(1), 40, 3), 10)
    found = linked_scores(table)
    known = ~np.isnan(table)
    own = np.nanmean(table, axis=0)
    sd = np.nanstd(table, axis=0)
    precision, right = np.zeros((3, 3)), np.zeros(3)
    for row, there in zip(table, known, strict=True):
        block = np.outer(sd[there], sd[there]) * found.correlation
        np.fill_diagonal(block, sd[there] ** 2)
        inverse = np.linalg.inv(block)
        precision[np.ix_(there, there)] += inverse
        right[there] += inverse @ row[there]
    assert found.corrected
    assert found.own == pytest.approx(own)
    assert found.score == pytest.approx(np.linalg.solve(precision, right))
    assert found.influence.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)


def test_without_a_shared_item_samples_are_independent() -> None:
    table = linked(answers(np.random.default_rng(3), 80, 2), 0)
    found = linked_scores(table)
    assert not found.corrected
    assert np.isnan(found.correlation)
    assert found.score == pytest.approx(found.own)
    assert found.covariance[0, 1] == 0
    apart = np.nanvar(table, axis=0) / 40
    assert np.diag(found.covariance) == pytest.approx(apart * 80 / 79)


def test_models_without_a_score() -> None:
    table = np.array([[1.0, NAN], [0.5, NAN], [0.0, NAN]])
    found = linked_scores(table)
    assert found.score[0] == 0.5
    assert np.isnan(found.score[1])
    assert np.isnan(found.error[1])
    assert found.n_rows.tolist() == [3, 0]


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
