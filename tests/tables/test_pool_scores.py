"""Scores of pools, alone and beside logs: means, and errors that hold paired differences."""

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from tests.candidates.builders import make_rows, write_inspect_log
from tests.tables.builders import cells, task_values, write, write_summary
from tiebreak.candidates import Candidate, CandidatePool, Item, ItemKey, write_parquet
from tiebreak.tables import TableError, UnreadableFileError, read_scores
from tiebreak.tables.pool_scores import item_scores, paired_errors, read_item_scores
from tiebreak.tables.reading import NO_SCORE

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
    path = write_parquet(POOL, tmp_path / "pool.parquet")
    table = read_scores(path)
    assert (table.models, table.benchmarks) == (("x", "y", "z"), ("law", "maths"))
    np.testing.assert_array_equal(table.scores, [[1, 0.75], [np.nan, 0.5], [0, np.nan]])
    assert "maths: 1 of 3 items have not" in table.notes[0]
    assert (table.public_notes, table.sources) == (table.notes, (str(path),))
    assert table.errors is not None
    # One item has no error.
    assert np.isnan(table.errors).tolist() == [[True, False], [True, False], [True, True]]
    # Rows that a file lacks are holes.
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(path).slice(1), path)
    table = read_scores(path)
    assert "maths: 2 of 3 items have not native scores" in table.notes[0]
    assert cells(table)["x", "maths"] == 1  # of the one item that both have


def scored(rows: Mapping[str, list[float]], benchmark: str = "code") -> CandidatePool:
    """A pool of one benchmark out of each model's native scores by item."""
    columns = zip(*rows.values(), strict=True)
    return pool(
        {
            (benchmark, f"q{k}", 1): dict(zip(rows, row, strict=True))
            for k, row in enumerate(columns)
        }
    )


NAN = float("nan")


def test_a_model_or_benchmark_without_scores_is_named(tmp_path: Path) -> None:
    parts = [
        scored({"x": [1, 0], "y": [1, 1], "z": [NAN, NAN]}, "law"),
        scored({"x": [NAN, NAN], "w": [NAN, NAN]}, "code"),
        scored({"x": [NAN, 1], "y": [0, NAN]}, "maths"),
    ]
    items = tuple(item for part in parts for item in part.items)
    whole = {key: row for part in parts for key, row in part.candidates.items()}
    path = write_parquet(CandidatePool(items, whole), tmp_path / "pool.parquet")
    table = read_scores(path)
    # One model without scores takes none from the others.
    assert cells(table) == {("x", "law"): 0.5, ("y", "law"): 1.0}
    assert (table.models, table.benchmarks) == (("x", "y"), ("law",))
    assert table.notes == (
        f"law is left out for 'z': {NO_SCORE}",
        f"code is left out for 'w', 'x': {NO_SCORE}",
        "maths: no item has native scores of all of 'x', 'y'; left out",
    )


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A folder with a pool of `code` and runs of lm-eval, one of them of `code`, too."""
    write_parquet(scored({"a": [1, 0, 1, 1], "b": [0, 0, 1, 1]}), tmp_path / "pool.parquet")
    law = {"law": task_values(8, acc=0.5)}
    write_summary(tmp_path / "a" / "results_x.json", "a", law)
    write_summary(tmp_path / "b" / "results_x.json", "b", {"code": {"alias": "code"}, **law})
    write_summary(tmp_path / "c" / "results_x.json", "c", {"code": task_values(4, native=0.5)})
    return tmp_path


def test_pools_and_logs_together_are_the_tables_apart(mixed: Path) -> None:
    apart = [read_scores(mixed / "pool.parquet"), read_scores([mixed / name for name in "abc"])]
    given = [mixed / name for name in ("pool.parquet", "a", "b", "c")]
    for together in (read_scores(given), read_scores(given[::-1]), read_scores(mixed)):
        assert cells(together) == cells(apart[0]) | cells(apart[1])
        assert together.errors is not None
        for table in apart:
            assert table.errors is not None
            rows = [together.models.index(name) for name in table.models]
            columns = [together.benchmarks.index(name) for name in table.benchmarks]
            found = together.errors[np.ix_(rows, columns)]
            known = ~np.isnan(table.scores)
            np.testing.assert_array_equal(found[known], table.errors[known])
        # The pool has what the run of b left open.
        assert not any("left out" in note for note in together.notes)
        [kinds] = [note for note in together.notes if "kind of standard error" in note]
        assert "other models' (such as 'b'), of one model's items (such as 'c')" in kinds


def test_a_pool_counts_rather_than_a_log(mixed: Path) -> None:
    values = {"code": task_values(4, native=0.25), "law": task_values(8, acc=0.5)}
    for name in "ab":
        write_summary(mixed / name / "results_x.json", name, values, date=9e9)
    table = read_scores(mixed)
    assert cells(table)["a", "code"] == 0.75
    pool, differ = table.notes[:2]
    files = f"{mixed}/pool.parquet, not {mixed}/a/results_x.json, {mixed}/b/results_x.json"
    assert pool.startswith("A pool counts rather than a log, since its errors are of paired items:")
    assert pool.endswith(f"'a', 'b' on code: {files}")
    assert f"code of 'a' is 0.75 in {mixed}/pool.parquet and 0.25 in" in differ


def test_of_several_pools_the_fullest_counts(tmp_path: Path) -> None:
    for name, n in (("a", 4), ("b", 5), ("c", 3)):
        rows = {"x": [1.0] + [0.0] * (n - 1), "y": [1.0] * n}
        write_parquet(scored(rows), tmp_path / f"{name}.parquet")
    table = read_scores(tmp_path)
    assert table.scores.tolist() == [[0.2], [1]]
    assert "most items counts: 'x', 'y' on code: " in table.notes[0]


def test_what_does_not_go_with_pools(mixed: Path) -> None:
    """Names can be replaced, a score cannot be chosen: a pool holds one."""
    assert read_scores(mixed, rename={"code": "humaneval"}).benchmarks == ("humaneval", "law")
    with pytest.raises(TableError, match="metric and filter are for logs; a pool holds"):
        read_scores([mixed / "a", mixed / "pool.parquet"], metric="acc")
    table = read_scores(mixed, metric=["acc", "native"])
    assert cells(table) == {("a", "law"): 0.5, ("b", "law"): 0.5, ("c", "code"): 0.5}
    assert f"Left out: {mixed}/pool.parquet: metric and filter are for logs" in table.notes[0]


def test_other_parquet_files_are_named(mixed: Path) -> None:
    other, bad = mixed / "other.parquet", mixed / "bad.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"a": [1]}), other)
    bad.write_bytes(b"no")
    said = read_scores(mixed).notes
    assert f"{other}: holds no results of a run; left out" in said
    assert any(note.startswith(f"Left out: {bad}: cannot be read as Parquet") for note in said)
    for path, words in ((other, "not a pool written by Tiebreak"), (bad, "be read as Parquet")):
        with pytest.raises(UnreadableFileError, match=words):
            read_scores(path)


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


# --- Scores of one benchmark, item by item.


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
