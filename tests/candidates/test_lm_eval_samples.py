import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.candidates.builders import make_rows, write_lm_eval_run
from tests.cases import cases
from tiebreak.candidates import (
    CandidateError,
    CandidatePool,
    ItemKey,
    load_candidates,
    read_parquet,
    write_parquet,
)
from tiebreak.candidates.question import bare_id, tools_of

TOOL = {"name": "gcd", "parameters": {"type": "dict", "properties": {"a": {}, "b": {}}}}


@pytest.mark.parametrize(("doc", "found"), cases(__file__, "bare id"))
def test_bare_id(doc: dict[str, Any], found: str | int | None) -> None:
    assert bare_id(doc) == found


@pytest.mark.parametrize("shape", [[TOOL], json.dumps([TOOL]), [json.dumps(TOOL)]])
def test_tools_of(shape: Any) -> None:
    assert tools_of({"function": shape}) == (TOOL,)


def pair(folder: Path, rows: list[dict[str, Any]], **options: Any) -> CandidatePool:
    for model in ("org/a", "org/b"):
        write_lm_eval_run(folder, model, rows, task="tiebreak_gsm8k", **options)
    return load_candidates(folder)


def test_metrics_of_older_files_are_found_without_a_list_of_them(tmp_path: Path) -> None:
    pair(tmp_path, make_rows(1))
    for path in tmp_path.rglob("samples_*.jsonl"):
        row = json.loads(path.read_text())
        del row["metrics"], row["filter"]
        path.write_text(json.dumps(row))
    found = load_candidates(tmp_path).candidates[ItemKey("gsm8k", "q0")]["org/a"]
    assert (found.native_metric, found.native_score) == ("exact_match", 1.0)


def test_a_filter_is_taken_of_tasks_that_have_filters(tmp_path: Path) -> None:
    """A task that names no filter has nothing to choose from, and stays beside one that does."""
    filtered = [row | {"filter": "strict"} for row in make_rows(2)]
    for model in ("org/a", "org/b"):
        write_lm_eval_run(tmp_path, model, filtered, task="gsm8k")
        write_lm_eval_run(tmp_path, model, make_rows(3), task="mmlu")
    pool = load_candidates(tmp_path, filter="strict")
    metrics = {key.benchmark: row["org/a"].native_metric for key, row in pool.candidates.items()}
    assert metrics == {"gsm8k": "exact_match,strict", "mmlu": "exact_match"}
    assert {note.what for note in pool.notes} == {
        "has no filters, 'strict' neither; its score is taken as it is"
    }
    with pytest.raises(CandidateError, match="has no filter 'nope'; its filters: strict"):
        load_candidates(tmp_path, filter="nope")


@pytest.mark.parametrize(("summary", "name"), cases(__file__, "where a model gets its name"))
def test_where_a_model_gets_its_name(tmp_path: Path, summary: Any, name: str) -> None:
    samples = write_lm_eval_run(tmp_path, "org/a", make_rows(1))
    (results,) = samples.parent.glob("results_*.json")
    results.write_text("{broken" if summary is None else json.dumps(summary))
    write_lm_eval_run(tmp_path, "org/b", make_rows(1))
    pool = load_candidates(tmp_path)
    assert set(pool.models) == {name, "org/b"}
    assert [note.kind for note in pool.notes] == ["model_name"] * (name == "org__a")


def test_an_output_path_that_names_a_file(tmp_path: Path) -> None:
    samples = write_lm_eval_run(tmp_path, "org/a", make_rows(1))
    (results,) = samples.parent.glob("results_*.json")
    results.rename(results.with_name(results.name.replace("results", "mine")))
    write_lm_eval_run(tmp_path, "org/b", make_rows(1))
    assert load_candidates(tmp_path).models == ("org/a", "org/b")


@pytest.mark.slow
def test_unicode_and_a_megabyte(tmp_path: Path) -> None:
    long = "π 日本語 🦊\u2028\n" * 60_000
    [(_, row)] = pair(tmp_path, make_rows(1, answer=long))
    assert row["org/a"].text == long


ODD_ROWS: dict[str, dict[str, Any]] = cases(__file__, "odd rows") | {
    "deep tools as text": {"doc": {"question": "Q?", "tools": "[" * 100_000}},
    "deep question as text": {"doc": {"question": "[" * 100_000}},
    "deep target": {"target": "[{" + "[" * 100_000},
    "long number for a target": {"target": "0." + "0" * 100_000 + "1x"},
    "an id of digits": {"doc": {"id": "9" * 5_000, "question": "Q?"}},
}


@pytest.mark.parametrize("odd", ODD_ROWS)
def test_a_row_that_lm_eval_may_write_is_read(tmp_path: Path, odd: str) -> None:
    for model in ("a", "b"):
        path = write_lm_eval_run(tmp_path, model, make_rows(3))
        changed(path, lambda row: {**row, **ODD_ROWS[odd]})
    pool = load_candidates(tmp_path, native=["exact_match"], mode="intersect")
    assert len(pool) == 3
    assert read_parquet(write_parquet(pool, tmp_path / "pool.parquet")).items == pool.items


def test_half_of_a_pair_of_surrogates_is_replaced(tmp_path: Path) -> None:
    for model in ("a", "b"):
        path = write_lm_eval_run(tmp_path, model, make_rows(1))
        changed(path, lambda row: row | {"resps": [[r"\ud83e\udd86 \ud83e"]], "target": "\udd86"})
        text = path.read_text()
        path.write_text(text.replace(r"\\ud83e\\udd86", r"\ud83e\udd86 \\ud83e \ud83e"))
    [(item, row)] = load_candidates(tmp_path)
    assert item.target == "\ufffd"
    assert row["a"].text == "🦆 \\ud83e \ufffd \\ud83e"


def test_a_run_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    paths = [write_lm_eval_run(tmp_path, model, make_rows(2)) for model in ("org/a", "org/b")]
    plain = load_candidates(tmp_path)
    for path in (*paths, *tmp_path.rglob("results_*.json")):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert load_candidates(tmp_path) == plain


def changed(path: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Change the second row of a samples file, or the only one."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    at = min(1, len(rows) - 1)
    rows[at] = change(rows[at])
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize(("asked", "noted"), [(3, []), (4, ["rows_missing"]), ("4", [])])
def test_documents_that_were_asked_and_are_not_there_are_noted(
    tmp_path: Path, asked: object, noted: list[str]
) -> None:
    path = write_lm_eval_run(tmp_path, "a", make_rows(3))
    [summary] = tmp_path.rglob("results_*.json")
    counts = {"gsm8k": {"original": 9, "effective": asked}, "mmlu": {"effective": 9}}
    summary.write_text(json.dumps(json.loads(summary.read_text()) | {"n-samples": counts}))
    notes = load_candidates(path, alone=True).notes
    assert [note.kind for note in notes] == noted
    assert all("holds 3 of the 4 documents that its run was asked" in str(one) for one in notes)


def packed(samples: Path) -> Path:
    done = samples.with_name(f"{samples.name}.gz")
    done.write_bytes(gzip.compress(samples.read_bytes()))
    samples.unlink()
    return done


def test_packed_samples_are_the_samples(tmp_path: Path) -> None:
    files = [
        write_lm_eval_run(tmp_path, model, make_rows(3, answer=model)) for model in ("org/a", "b")
    ]
    plain = load_candidates(tmp_path)
    ends = [packed(file) for file in files]
    for given in (tmp_path, ends):
        pool = load_candidates(given)
        assert pool.items == plain.items
        assert pool.models == plain.models == ("b", "org/a")
        for (_, one), (_, other) in zip(pool, plain, strict=True):
            same = {name: replace(answer, source="") for name, answer in one.items()}
            assert same == {name: replace(answer, source="") for name, answer in other.items()}
            assert {answer.source for answer in one.values()} == {end.as_posix() for end in ends}
    # The ids of a pool are still those of lm-eval, so it joins with logs of other models.
    write_parquet(pool, tmp_path / "pool.parquet")
    write_lm_eval_run(tmp_path / "c", "c", make_rows(3, answer="c"))
    joined = load_candidates([tmp_path / "pool.parquet", tmp_path / "c"])
    assert len(joined.models) == len(joined) == 3
