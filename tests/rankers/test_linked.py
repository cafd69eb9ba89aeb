"""Scores over shared, partly shared and different items: brute force and limiting cases."""

import numpy as np
import pytest

from tiebreak.rankers.linked import linked_scores
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


def test_a_lucky_draw_of_fresh_items_is_corrected() -> None:
    rng = np.random.default_rng(2)
    gaps = []
    for _ in range(200):
        table = linked(answers(rng, 200, 2, rho=0.9), 100)
        found = linked_scores(table)
        gaps.append((found.own[0] - found.own[1], found.score[0] - found.score[1]))
    plain, corrected = np.std(gaps, axis=0)
    assert corrected < 0.8 * plain


def test_without_a_shared_item_samples_are_independent() -> None:
    table = linked(answers(np.random.default_rng(3), 80, 2), 0)
    found = linked_scores(table)
    assert not found.corrected
    assert np.isnan(found.correlation)
    assert found.score == pytest.approx(found.own)
    assert found.covariance[0, 1] == 0
    apart = np.nanvar(table, axis=0) / 40
    assert np.diag(found.covariance) == pytest.approx(apart * 80 / 79)


def test_copies_of_an_item_count_once() -> None:
    table = answers(np.random.default_rng(4), 50, 2)
    once = linked_scores(table)
    thrice = linked_scores(np.repeat(table, 3, axis=0), np.repeat(np.arange(50), 3))
    assert thrice.score == pytest.approx(once.score)
    assert thrice.error == pytest.approx(once.error)
    assert thrice.n_clusters.tolist() == [50, 50]


def test_siblings_pair_models_that_share_no_item() -> None:
    """Two variants of one question are as hard as each other."""
    table = answers(np.random.default_rng(5), 50, 2, rho=0.95)
    holes = linked(np.repeat(table, 2, axis=0), 0)
    apart = linked_scores(holes)
    siblings = linked_scores(holes, np.repeat(np.arange(50), 2))
    assert siblings.covariance[0, 1] > 0.8 * siblings.covariance[0, 0]
    assert apart.covariance[0, 1] == 0


def test_models_without_a_score() -> None:
    table = np.array([[1.0, NAN], [0.5, NAN], [0.0, NAN]])
    found = linked_scores(table)
    assert found.score[0] == 0.5
    assert np.isnan(found.score[1])
    assert np.isnan(found.error[1])
    assert found.n_rows.tolist() == [3, 0]
