import asyncio
import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.candidates.builders import Row, make_rows, write_inspect_log, write_lm_eval_run
from tiebreak.candidates import (
    Candidate,
    CandidateError,
    CandidatePool,
    Item,
    ItemKey,
    load_candidates,
    write_parquet,
)
from tiebreak.text import natural_key


def other_ids(rows: Sequence[Row], seed: int = 0) -> list[dict[str, Any]]:
    """The same rows under other ids and in another order."""
    renamed = [dict(row) | {"id": f"doc-{9 - i}"} for i, row in enumerate(rows)]
    random.Random(seed).shuffle(renamed)
    return renamed


def answers(pool: CandidatePool) -> dict[str, list[str]]:
    return {item.item_id: [c.text for c in row.values()] for item, row in pool}


def both_harnesses(folder: Path) -> Path:
    rows = make_rows(6)
    for model in ("openai/a", "openai/b"):
        write_inspect_log(folder / "logs", model, rows, task="inspect_evals/gsm8k")
    for model in ("org/c", "org/d"):
        write_lm_eval_run(folder / "out", model, other_ids(rows), task="tiebreak_gsm8k")
    return folder


@pytest.mark.slow
def test_neither_the_order_of_files_nor_of_rows_matters(tmp_path: Path) -> None:
    rows = make_rows(12)
    files = [
        write_inspect_log(tmp_path / "1" / f"{model}.eval", model, rows) for model in ("a", "b")
    ]
    files += [write_lm_eval_run(tmp_path / "1", model, other_ids(rows)) for model in ("c", "d")]
    expected = load_candidates(files)
    assert [item.item_id for item in expected.items] == [f"q{i}" for i in range(12)]
    rng = random.Random(1)
    for seed in range(5):
        rng.shuffle(files)
        assert load_candidates(files) == expected
        shuffled = rng.sample(rows, len(rows))
        write_inspect_log(tmp_path / "1" / "a.eval", "a", shuffled)
        write_lm_eval_run(tmp_path / "1", "c", other_ids(rows, seed))
        assert load_candidates(files) == expected


@pytest.mark.parametrize("second", ["the start", "another draw", "no draw"])
def test_items_that_all_runs_drew_alike_stay_in_that_order(tmp_path: Path, second: str) -> None:
    rows = make_rows(12)
    longer = random.Random(1).sample(rows, 9)
    shorter = longer[:7]
    if second == "another draw":
        shorter = shorter[::-1]
    files = [
        write_inspect_log(tmp_path / "z.eval", "z", longer, drawn=True),
        write_inspect_log(tmp_path / "a.eval", "a", shorter, drawn=second != "no draw"),
    ]
    ids = [row["id"] for row in longer[:7]]
    assert ids != sorted(ids, key=natural_key)
    for given in (files, files[::-1]):
        pool = load_candidates(given, mode="intersect")
        kept = ids if second == "the start" else sorted(ids, key=natural_key)
        assert [item.item_id for item in pool.items] == kept
        # Written it keeps that order, and beside a log of the longer draw.
        file = write_parquet(pool, tmp_path / "pool.parquet")
        log = write_inspect_log(tmp_path / "n.eval", "n", longer, drawn=True)
        for again in ([file], [file, log]):
            assert load_candidates(again, mode="intersect").items == pool.items


def test_a_pool_of_both_harnesses_keeps_their_settings_apart(tmp_path: Path) -> None:
    pool = load_candidates(both_harnesses(tmp_path / "logs"))
    write_parquet(pool, tmp_path / "pool.parquet")
    read = load_candidates(tmp_path / "pool.parquet", same_settings=True)
    assert (read.settings, read.notes) == (pool.settings, ())


def test_models_are_named_by_any_spelling_of_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both_harnesses(tmp_path)
    monkeypatch.chdir(tmp_path)
    for given in ("logs", str(tmp_path / "logs")):
        for named in ("out/org__c", str(tmp_path / "out" / "org__c")):
            assert "mine" in load_candidates([given, "out"], names={named: "mine"}).models
    write_parquet(load_candidates("logs"), "pool.parquet")
    with pytest.raises(CandidateError, match=r"no log at 'pool\.parquet'"):
        load_candidates("pool.parquet", names={"pool.parquet": "mine"})


def test_a_pool_joins_new_logs_by_its_ids(tmp_path: Path) -> None:
    rows = make_rows(6)
    first = write_parquet(load_candidates(both_harnesses(tmp_path / "old")), tmp_path / "p.parquet")
    log = write_inspect_log(tmp_path / "e.eval", "e", rows)
    out = write_lm_eval_run(tmp_path / "new", "f", other_ids(rows, seed=3))
    pool = load_candidates([first, log, out])
    assert pool.models == ("e", "f", "openai/a", "openai/b", "org/c", "org/d")
    assert [item.item_id for item in pool.items] == [f"q{i}" for i in range(6)]
    assert all(len(set(texts)) == 1 for texts in answers(pool).values())
    assert pool.candidates[ItemKey("gsm8k", "q0")]["org/c"].source.endswith(".jsonl")


def test_a_renamed_pool_and_its_epochs(tmp_path: Path) -> None:
    rows = [*make_rows(2), *(row | {"epoch": 2} for row in make_rows(2))]
    for model in "ab":
        write_inspect_log(tmp_path / "logs", model, rows, epochs=2)
    path = write_parquet(load_candidates(tmp_path / "logs", epochs="all"), tmp_path / "p.parquet")
    pool = load_candidates(path, rename={"gsm8k": "sums"})
    assert [item.key for item in pool.items] == [ItemKey("sums", "q0"), ItemKey("sums", "q1")]
    assert {row["a"].key.benchmark for _, row in pool} == {"sums"}
    assert "epochs" in {note.kind for note in pool.notes}
    assert len(load_candidates(path, epochs="all")) == 4


@pytest.mark.slow
def test_a_file_that_is_given_twice_is_read_once(tmp_path: Path) -> None:
    folder = both_harnesses(tmp_path)
    again = next(folder.rglob("*.eval"))
    assert load_candidates([folder, again, folder / "logs" / ".."]) == load_candidates(folder)


@pytest.mark.parametrize("options", [{"mode": "loose"}, {"epochs": "last"}])
def test_unknown_options_are_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be one of"):
        load_candidates(tmp_path, **options)


@pytest.mark.slow
def test_loading_works_inside_an_event_loop(tmp_path: Path) -> None:
    async def load() -> CandidatePool:
        return load_candidates(tmp_path)

    both_harnesses(tmp_path)
    assert asyncio.run(load()) == load_candidates(tmp_path)


def test_a_pool_is_shown_by_its_sizes() -> None:
    def item(benchmark: str, number: int) -> Item:
        return Item(ItemKey(benchmark, f"q{number}"), "h", "a long prompt" * 99, "")

    items = (*(item("gsm8k", n) for n in range(1_319)), item("mmlu", 0))
    row = {model: Candidate(items[0].key, model, "a long answer" * 99) for model in "abcdefgh"}
    pool = CandidatePool(items, dict.fromkeys((one.key for one in items), row))
    assert repr(pool) == ("CandidatePool(gsm8k: 1,319 items × 8 models, mmlu: 1 item × 8 models)")
    assert repr(CandidatePool((), {})) == "CandidatePool(no items)"


@pytest.mark.parametrize("name", ["a.eval", "a.json", "samples_gsm8k.jsonl", "a.parquet"])
def test_a_pipe_or_a_device_is_not_waited_for(tmp_path: Path, name: str) -> None:
    for model in "ab":
        write_inspect_log(tmp_path / "logs", model, make_rows(2))
    (tmp_path / "device").mkdir()
    os.mkfifo(pipe := tmp_path / name)
    (device := tmp_path / "device" / name).symlink_to("/dev/zero")
    with pytest.raises(CandidateError) as caught:
        load_candidates([tmp_path / "logs", pipe, device])
    whats = {note.where: note.what for note in caught.value.notes}
    assert whats[pipe.as_posix()].startswith("is a pipe, not a file")
    assert whats[device.as_posix()].startswith("is a device, not a file")
    assert len(load_candidates([tmp_path / "logs", pipe, device], "intersect")) == 2


def test_a_pipe_in_the_place_of_a_summary_is_not_waited_for(tmp_path: Path) -> None:
    path = write_lm_eval_run(tmp_path, "org/a", make_rows(2), results=False)
    os.mkfifo(path.with_name("results_2026-01-01T00-00-00.000000.json"))
    assert load_candidates(path, alone=True).models == ("org__a",)


@pytest.mark.parametrize("path", ["x" * 5_000, "x/" * 5_000, "a\0b", "\ud800.eval"])
def test_a_path_that_cannot_be_is_named(path: str) -> None:
    with pytest.raises(CandidateError, match=r"File name too long|is no path|does not exist"):
        load_candidates(path)


def test_no_path_is_an_error() -> None:
    with pytest.raises(CandidateError, match="no path was given"):
        load_candidates([])
