"""Samples of items judged by stars: their sizes, and what few rounds or items do not show."""

import math
from pathlib import Path

import numpy as np
import pytest

from tests.analysis.test_stars import write
from tests.ranking_logs.builders import starred
from tiebreak.analysis.star_table import StarTable, star_table
from tiebreak.fair.analysis.star_samples import RoundScores, _drawn, star_samples
from tiebreak.ranking_logs.read import read_ranking_logs


def table_of(folder: Path, *clusters: int) -> StarTable:
    """A table of two models, with so many items in each of its clusters."""
    items = [
        starred(f"q{c}-{k}", {"a": 3, "b": (c + k) % 4}, cluster=f"c{c}")
        for c, size in enumerate(clusters)
        for k in range(size)
    ]
    write(folder / "1.eval", items)
    return star_table(read_ranking_logs(folder))


def test_a_sample_holds_whole_clusters_and_at_least_one(tmp_path: Path) -> None:
    table = table_of(tmp_path, 3, 3, 3)
    for size, n_items in ((1, 3), (3, 3), (5, 3), (6, 6), (8, 6)):
        scores, items, drawn = _drawn(table, size, 4, seed=0)
        assert (items, drawn) == ([n_items] * 4, [n_items // 3] * 4)
        assert scores.shape == (4, 2)


@pytest.mark.filterwarnings("error")
def test_one_round_has_no_variance() -> None:
    scores = np.array([[50.0, 40.0], [60.0, math.nan]])
    rounds = RoundScores(scores, 2 * scores, np.ones((2, 5, 2)))
    both, once = (rounds.of_model(k, "m", 0.95, whole=60, sizes=()) for k in (0, 1))
    assert (both.variance, both.absolute_variance) == (200.0, 50.0)
    assert not math.isnan(both.expected.value)
    assert (once.mean, once.rounds[0]) == (80.0, 80.0)
    assert np.isnan([once.variance, once.absolute_variance, once.expected.value]).all()


def test_native_scores_stand_in_the_table(tmp_path: Path) -> None:
    native = [{"a": 1.0, "b": None}, {"a": 0.0, "b": 0.5}]
    items = [starred(f"q{k}", {"a": 3, "b": 1}, native=own) for k, own in enumerate(native)]
    write(tmp_path / "1.eval", items)
    found = star_table(read_ranking_logs(tmp_path)).native
    assert np.array_equal(found, [[1.0, math.nan], [0.0, 0.5]], equal_nan=True)


def test_a_model_with_items_of_one_question_has_no_spread(tmp_path: Path) -> None:
    items = [starred(f"q{k}", {"a": 3, "b": k % 4}, cluster=f"c{k}") for k in range(6)]
    items += [starred("q6", {"a": 2, "b": 1, "c": 1}, cluster="c6")]
    items += [starred("q7", {"a": 1, "b": 1, "c": 2}, cluster="c6")]
    write(tmp_path / "1.eval", items)
    logs = read_ranking_logs(tmp_path)
    found = star_samples("gsm8k", logs, sizes=(4,), reference="a", n_draws=2)
    expected = {row.model: row.sizes[0].expected for row in found.models}
    assert math.isnan(expected["c"])
    assert expected["b"] > 0
