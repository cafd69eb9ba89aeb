"""Scores of a pool: means of native scores, and errors that hold paired differences."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from tiebreak.candidates import Candidate, CandidatePool, Item, ItemKey, write_parquet
from tiebreak.tables import TableError, read_scores
from tiebreak.tables.pool_scores import paired_errors, pool_scores

RNG = np.random.default_rng(2)


def pool(scores: dict[tuple[str, str, int], dict[str, float]]) -> CandidatePool:
    items: list[Item] = []
    candidates: dict[ItemKey, dict[str, Candidate]] = {}
    for (benchmark, name, epoch), row in scores.items():
        key = ItemKey(benchmark, name, epoch)
        items.append(Item(key=key, input_hash=name, prompt="?", target="!"))
        candidates[key] = {
            model: Candidate(key, model, "!", native_score=score, native_metric="acc")
            for model, score in row.items()
        }
    return CandidatePool(tuple(items), candidates)


POOL = pool(
    {
        ("maths", "1", 1): {"x": 1.0, "y": 0.0},
        ("maths", "1", 2): {"x": 0.0, "y": 0.0},
        ("maths", "2", 1): {"x": 1.0, "y": 1.0},
        ("maths", "3", 1): {"x": float("nan"), "y": 1.0},
        ("law", "1", 1): {"x": 1.0, "z": 0.0},
    }
)


def test_means_of_items_that_all_have(tmp_path: Path) -> None:
    table = pool_scores(POOL)
    assert (table.models, table.benchmarks) == (("x", "y", "z"), ("maths", "law"))
    np.testing.assert_array_equal(table.scores, [[0.75, 1], [0.5, np.nan], [np.nan, 0]])
    assert table.notes[0] == "maths: 1 of 3 items have not native scores of all models; left out"
    assert table.public_notes == table.notes
    assert table.errors is not None
    assert np.isnan(table.errors[:, 1]).all()  # of one item
    assert np.isfinite(table.errors[:2, 0]).all()
    path = write_parquet(POOL, tmp_path / "pool.parquet")
    read = read_scores(path)
    np.testing.assert_array_equal(read.scores, table.scores)
    assert read.sources == (str(path),)
    with pytest.raises(TableError, match="comes alone"):
        read_scores([path, tmp_path])
    (tmp_path / "bad.parquet").write_bytes(b"no")
    with pytest.raises(TableError):
        read_scores(tmp_path / "bad.parquet")


@pytest.mark.parametrize("n_models", [2, 3, 8])
def test_errors_hold_those_of_paired_differences(n_models: int) -> None:
    difficulty = RNG.normal(size=(400, 1)) * 2
    noise = RNG.normal(size=(400, n_models)) * np.linspace(0.5, 1.5, n_models)
    table = 1 / (1 + np.exp(-difficulty - noise))
    errors = paired_errors(table)
    pairs = list(combinations(range(n_models), 2))
    true = [np.std(table[:, i] - table[:, j], ddof=1) / 20 for i, j in pairs]
    shown = [np.hypot(errors[i], errors[j]) for i, j in pairs]
    np.testing.assert_allclose(shown, true, rtol=0.1)
    # Far less than errors that know nothing of pairs.
    assert np.all(errors < 0.75 * table.std(axis=0, ddof=1) / 20)


def test_errors_of_few() -> None:
    assert paired_errors([[0.0], [1.0]]) == pytest.approx([0.5])
    assert np.isnan(paired_errors([[0.0, 1.0]])).all()
    assert paired_errors(np.ones((8, 3))) == pytest.approx(np.full(3, (0.1 * 0.9 / 8) ** 0.5))
