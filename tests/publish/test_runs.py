"""Runs: one name per run, whatever the order and the folders; shards are one run."""

import shutil
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from tests.cases import cases
from tests.publish import judged_runs
from tests.publish.judged_runs import run_of, write_both, write_candidates, write_ranking
from tests.ranking_logs.builders import bracket, item, shard_metadata, write_log, write_shards
from tiebreak.candidates import CandidatePool, load_candidates, write_parquet
from tiebreak.publish.answers import judged_pool
from tiebreak.publish.errors import PublishError
from tiebreak.publish.runs import read_runs, run_id, utc
from tiebreak.rankers import Resampling


@pytest.mark.parametrize(
    ("created", "wanted"),
    cases(__file__, "utc"),
)
def test_utc(created: str, wanted: str) -> None:
    assert utc(created) == wanted


def test_run_id() -> None:
    when = "2026-11-22T12:35:43Z"
    name = run_id(when, "seal", ["E2", "E1"])
    # Only its form, and what it depends on.
    assert name.startswith("20261122T123543Z-seal-")
    assert name == run_id(when, "seal", ["E1", "E2"])
    later, both = "2026-11-22T12:35:44Z", ["E1", "E2"]
    others = [(when, "seal", ["E1"]), (when, "seal", ["E1E2"]), (when, "swiss", both)]
    assert len({name, *(run_id(*other) for other in (*others, (later, "seal", both)))}) == 5


@pytest.mark.parametrize("protocol", ["../../etc", "a/b", "", "x" * 300, "<script>", "ü b\n", "."])
def test_a_run_id_is_safe_in_a_path(protocol: str) -> None:
    name = run_id("2026-11-22T12:35:43Z", protocol, ["E1"])
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyzTZ0123456789-")
    assert len(name) < 120


@pytest.mark.slow
def test_the_order_of_paths_does_not_matter(tmp_path: Path) -> None:
    parts = [[bracket(f"q{i}", "a", "b", "c")] for i in range(2)]
    files = write_shards(tmp_path / "shards", parts)
    other = write_log(tmp_path / "x.eval", [bracket("q", "b", "a", "c")], eval_id="X", task_id="TX")
    found = set()
    for paths in permutations([*files, other]):
        runs, _ = read_runs(paths, how=Resampling(draws=10))
        found.add(tuple((run.run_id, run.created, len(run.judged)) for run in runs))
    [names] = found
    assert [(created, n) for _, created, n in names] == [
        ("2026-01-01T00:00:00Z", 1),
        ("2026-01-01T00:00:01Z", 2),  # that of the oldest shard
    ]
    shutil.copytree(tmp_path / "shards", tmp_path / "elsewhere")
    [moved], _ = read_runs([tmp_path / "elsewhere"], how=Resampling(draws=10))
    assert moved.run_id == names[1][0]
    assert [fact.shard for fact in moved.facts] == ["1/2", "2/2"]


def test_of_several_attempts_one_counts(tmp_path: Path) -> None:
    write_log(tmp_path / "1.eval", [bracket("q0", "a", "b", "c")], eval_id="E1", status="error")
    both = [bracket(f"q{i}", "a", "b", "c") for i in range(2)]
    write_log(tmp_path / "2.eval", both, eval_id="E2", created="2026-01-02T00:00:00+00:00")
    [run], notes = read_runs([tmp_path], how=Resampling(draws=10))
    assert run.created == "2026-01-02T00:00:00Z"
    assert any("1.eval is left out" in note for note in notes)


def test_runs_without_a_result_are_refused(tmp_path: Path) -> None:
    log = write_log(tmp_path / "1.eval", [bracket("q0", "a", "b", "c")], status="started")
    with pytest.raises(PublishError, match=r"1\.eval.*eval-retry"):
        read_runs([log])
    with pytest.raises(PublishError, match="tiebreak rank"):
        read_runs([write_log(log, [], expected=3, status="error")])


def test_what_does_not_count(tmp_path: Path) -> None:
    items = (bracket("q0", "a", "b", "c"), item("q1", complete=False))
    run = run_of(tmp_path, *items, status="error")
    samples = [
        (sample.ballots and sample.ballots.item_id, sample.problem is None) for sample in run.judged
    ]
    assert samples == [("q0", True), ("q1", False)]


def test_names_lose_the_folders_of_a_machine(tmp_path: Path) -> None:
    names = ("hf//home/me/x", "hf//data/x", "hf/x")
    pool = load_candidates(write_candidates(tmp_path / "candidates", names))
    log = write_ranking(tmp_path / "seal.eval", pool, ranked=names)
    [run], _ = read_runs([log], how=Resampling(draws=10))
    # Those that would have the name of another one get a number, by the order of their own names.
    assert run.names == {"hf/x (2)": "hf//data/x", "hf/x (3)": "hf//home/me/x"}
    assert [row.model for row in run.boards[0].rows] == ["hf/x (3)", "hf/x (2)", "hf/x"]
    for items in (run.judged, run.again()):
        assert "/home/me" not in str([sample.ballots for sample in items])
    assert "/home/me" not in str(run.boards)


@pytest.mark.slow
def test_a_rubric_is_a_file_name_and_a_hash(tmp_path: Path) -> None:
    log = write_both(tmp_path)
    [run], _ = read_runs([log], how=Resampling(draws=10))
    assert len({sample.metadata["rubric"] for sample in run.judged}) == 1
    own = bracket("q0", "a", "b", "c").model_copy(update={"rubric": "/home/me/own.yaml"})
    run = run_of(tmp_path, own)
    assert run.ballots[0].rubric == run.log.items[0].rubric == "own.yaml"
    assert run.judged[0].metadata == {}  # a log that does not tell


def test_shards_have_a_run_in_common(tmp_path: Path) -> None:
    metadata = shard_metadata(1, 1)
    run = run_of(tmp_path, bracket("q", "a", "b", "c"), metadata=metadata)
    assert run.log.run == "f00d"


def test_a_rubric_in_any_order_of_its_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digests: list[str | None] = []
    for rubric in (
        {"a": 1, "b": {"c": [1, 2], "d": 3}},
        {"b": {"d": 3, "c": [1, 2]}, "a": 1},
        {"a": 1, "b": {"c": [2, 1], "d": 3}},
    ):
        monkeypatch.setattr(judged_runs, "RUBRIC", rubric)
        [run], _ = read_runs(write_both(tmp_path), how=Resampling(draws=1))
        digests += {item.metadata["rubric"] for item in run.judged}
    first, reordered, other = digests
    assert first == reordered != other


def test_metadata_says_nothing_of_a_machine_and_answers_stay(tmp_path: Path) -> None:
    pool = load_candidates(write_candidates(tmp_path / "candidates"))
    here = {"file": "/home/alice/gsm8k.json", "level": 3}
    items = tuple(replace(item, metadata=here) for item in pool.items)
    text = "It is in /home/alice/answer.txt"
    rows = {
        key: {name: replace(one, text=text + name) for name, one in row.items()}
        for key, row in pool.candidates.items()
    }
    path = write_parquet(CandidatePool(items, rows), tmp_path / "pool.parquet")
    [run], _ = read_runs([write_ranking(tmp_path / "x.eval", load_candidates(path))])
    found = judged_pool(run, [[path]])
    assert [item.metadata for item in found.items] == [{"file": "gsm8k.json", "level": 3}] * 3
    texts = {one.text for row in found.candidates.values() for one in row.values()}
    assert texts == {text + name for name in "abc"}
