"""Scores of one benchmark, item by item."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.candidates.builders import make_rows, write_inspect_log
from tests.tables.builders import write
from tests.tables.test_pool_scores import POOL, pool
from tiebreak.candidates import write_parquet
from tiebreak.tables import TableError
from tiebreak.tables.pool_scores import item_scores, read_item_scores

NAN = float("nan")


def test_epochs_are_one_item_and_holes_are_named(tmp_path: Path) -> None:
    found = item_scores(POOL, "maths")
    assert (found.benchmark, found.models) == ("maths", ("x", "y"))
    assert found.scores.tolist() == [[0.5, 0], [1, 1]]
    assert found.notes == ("maths: 1 of 3 items have not native scores of all models; left out",)
    read = read_item_scores(write_parquet(POOL, tmp_path / "pool.parquet"), benchmark="maths")
    assert read.scores.tolist() == found.scores.tolist()


def test_a_model_without_scores_costs_no_items() -> None:
    rows = {("a", str(k), 1): {"x": 1.0, "y": 0.0, "z": NAN} for k in range(2)}
    found = item_scores(pool(rows))
    assert (found.models, found.scores.shape) == (("x", "y"), (2, 2))
    assert found.notes == ("a: without native scores, so left out: 'z'",)


ONE = {("a", "1", 1): {"x": 1.0, "y": NAN}}
APART = {("a", "1", 1): {"x": 1.0, "y": NAN}, ("a", "2", 1): {"x": NAN, "y": 1.0}}


@pytest.mark.parametrize(
    ("rows", "benchmark", "words"),
    [
        (None, None, "there are 2: 'maths', 'law'; name one"),
        (None, "math", "no benchmark 'math'; did you mean 'maths'"),
        (ONE, None, "a: only 'x' has native scores; a contest needs those of two"),
        ({("a", "1", 1): {"x": NAN, "y": NAN}}, None, "a: no model has native scores"),
        (APART, None, "no item has native scores of all of x, y"),
    ],
)
def test_what_makes_no_contest(rows: Any, benchmark: str | None, words: str) -> None:
    with pytest.raises(TableError, match=words):
        item_scores(POOL if rows is None else pool(rows), benchmark)


def test_files_of_another_kind(tmp_path: Path) -> None:
    table = write(tmp_path / "scores.csv", "model,a\nx,1\ny,2\n")
    with pytest.raises(TableError, match="holds scores of whole benchmarks"):
        read_item_scores(table)
    with pytest.raises(TableError, match="does not exist"):
        read_item_scores(tmp_path / "nothing.parquet")
    path = write_parquet(pool({("a", "1", 1): {"x": 1.0, "y": 0.0}}), tmp_path / "p.parquet")
    with pytest.raises(TableError, match="--metric and --filter are for logs"):
        read_item_scores(path, metric="acc")
    np.testing.assert_array_equal(read_item_scores(path).scores, [[1, 0]])


def test_a_benchmark_of_one_model_beside_it_stops_no_contest(tmp_path: Path) -> None:
    for model in ("a", "b"):
        write_inspect_log(
            tmp_path / f"{model}.eval", model, make_rows(3, native=float(model == "a"))
        )
    write_inspect_log(tmp_path / "alone.eval", "a", make_rows(3, native=1.0), task="law")
    found = read_item_scores(tmp_path, benchmark="gsm8k")
    assert found.scores.tolist() == [[1, 0]] * 3
    with pytest.raises(TableError, match="law: only 'a' has native scores"):
        read_item_scores(tmp_path, benchmark="law")
