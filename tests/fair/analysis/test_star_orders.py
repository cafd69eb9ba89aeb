"""Orders of fewer questions: matches of stars, curves, and what cannot be compared."""

import math

import numpy as np
import pytest

from tests.analysis.test_stars import drawn, items_of, log_of
from tests.cases import some
from tests.fair.analysis.test_star_course import table_of
from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.star_table import star_table
from tiebreak.fair.analysis.star_samples import OrderKept, _kept, matches_of, star_orders


def test_more_stars_win_the_match() -> None:
    table = table_of(12, "abc")
    matches = some(matches_of(table))
    wins = (np.ones(12) @ matches.wins_per_item()).reshape(3, 3)
    expected = np.zeros((3, 3))
    for row in table.scores:
        expected += (row[:, None] > row) + 0.5 * (row[:, None] == row) * ~np.eye(3, dtype=bool)
    assert wins == pytest.approx(expected)


def test_curves_rise_to_one_and_have_the_same_draws() -> None:
    found = star_orders("fair", table_of(300), n_draws=10)
    assert [*found.curves] == ["mean stars", "win rate", "Bradley–Terry", "Elo"]
    for points in found.curves.values():
        assert points[0].mean < points[-1].mean
        assert all(p.lower <= p.upper <= 1 for p in points)
    assert found == star_orders("fair", table_of(300), n_draws=10)


def test_mean_stars_of_draws_by_hand() -> None:
    from scipy.stats import spearmanr

    table = table_of(100)
    point = star_orders("fair", table, n_draws=4, seed=3).curves["mean stars"][2]
    assert point.n_clusters == 10
    names = np.array(sorted(set(table.clusters)))
    rhos = []
    for seed in range(3, 7):
        kept = names[np.random.default_rng(seed).permutation(100)[:10]]
        rows = np.isin(table.clusters, kept)
        means = table.scores[rows].mean(axis=0).round(12)
        rhos.append(spearmanr(means, table.scores.mean(axis=0).round(12)).statistic)
    assert point.mean == pytest.approx(np.mean(rhos))


def test_too_few_models_and_no_common_question() -> None:
    with pytest.raises(AnalysisError, match="three models"):
        star_orders("fair", table_of(10, "ab"))
    own = [log_of(items_of(drawn(5), 100 * k, own=m)) for k, m in enumerate("abc")]
    with pytest.raises(AnalysisError, match="no question"):
        star_orders("fair", star_table(own))


@pytest.mark.parametrize(
    ("n", "sizes"),
    [(3, [2]), (10, [2, 4, 6, 8]), (50, [2, 5, 10, 20, 30, 40]), (100, [2, 5, 10, 20, 40, 60, 80])],
)
def test_how_many_questions_are_drawn(n: int, sizes: list[int]) -> None:
    found = star_orders("fair", table_of(n, "abc"), n_draws=1)
    assert (found.n_clusters, found.n_models, found.n_draws, found.seed) == (n, 3, 1, 0)
    for points in found.curves.values():
        assert [point.n_clusters for point in points] == sizes
        assert all(math.isnan(point.error) for point in points)


def test_draws_in_which_an_order_is_undefined_are_left_out() -> None:
    nan = math.nan
    told = _kept(np.array([0.5, nan, 1.0, nan, nan]), 7)
    assert told == OrderKept(7, 0.75, 0.525, 0.975, 0.25, 3)
    none = _kept(np.array([nan, nan]), 7)
    assert (none.n_clusters, none.undefined) == (7, 2)
    assert all(map(math.isnan, (none.mean, none.lower, none.upper, none.error)))
