"""The verdict of a judging run is in its log when the run has ended."""

from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval_retry, score
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log, write_eval_log

from tests.harness import run
from tests.inspect_tasks.runs import judge_in_process, write_pool
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.scorers.ranking import ranking
from tiebreak.write_back.verdict import VERDICT_KEY


def kept(log: EvalLog, *, header_only: bool = True) -> Any:
    """What the log's file says, as `inspect view` reads it."""
    return read_eval_log(log.location, header_only=header_only).metadata.get(VERDICT_KEY)


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    return write_pool(tmp_path / "logs", 3, 12)


@pytest.mark.slow
@pytest.mark.parametrize("log_format", ["eval", "json"])
def test_it_is_what_the_leaderboard_says(pool: Path, tmp_path: Path, log_format: str) -> None:
    [log] = judge_in_process(
        "listwise", pool, tmp_path / "out", eval_args={"log_format": log_format}
    )
    [board] = leaderboards([log.location])
    said = {
        "sentence": board.verdict.sentence,
        "tiers": [["m2"], ["m1"], ["m0"]],
        "trust": board.verdict.trust.state,
        "n_items": 12,
    }
    assert "m2 is first" in board.verdict.sentence
    assert kept(log) == kept(log, header_only=False) == {"gsm8k": said}
    whole = read_eval_log(log.location)
    assert len(whole.samples or []) == 12
    # It is an edit with its provenance: what the run said of itself is as it was.
    assert VERDICT_KEY not in (whole.eval.metadata or {})
    [update] = whole.log_updates or []
    assert update.provenance.author == "tiebreak"
    # Who started the run holds the same log.
    assert log.metadata == whole.metadata


@pytest.mark.slow
def test_from_the_command_line(pool: Path, tmp_path: Path) -> None:
    candidates = f"candidates={pool}"
    args = ("tiebreak/original", "-T", candidates, "--log-dir", "out", "--display", "plain")
    done = run("inspect", "eval", *args, cwd=tmp_path)
    shown = done.stdout + done.stderr
    # Who runs other tasks is not told of hooks that are none of theirs.
    assert "hooks enabled" not in shown
    assert "Exception calling hook" not in shown
    [info] = list_eval_logs(str(tmp_path / "out"))
    said = read_eval_log(info, header_only=True).metadata[VERDICT_KEY]["gsm8k"]
    assert said["tiers"] == [["m0", "m1", "m2"]]  # all have the same native scores
    assert "No two of the 3 models can be told apart" in said["sentence"]


@pytest.mark.slow
def test_it_outlives_scores_and_is_found_again_by_a_retry(pool: Path, tmp_path: Path) -> None:
    [log] = judge_in_process("listwise", pool, tmp_path / "out")
    said = kept(log)
    assert said
    scored = score(read_eval_log(log.location), ranking(), action="overwrite")
    write_eval_log(scored, log.location)
    assert kept(log) == said
    killed = scored.model_copy(
        update={"samples": (scored.samples or [])[:3], "status": "started", "results": None}
    )
    killed.location = str(tmp_path / "killed.eval")
    write_eval_log(killed, killed.location)
    [again] = eval_retry(killed.location, log_dir=str(tmp_path / "again"))
    assert kept(again) == said


@pytest.mark.slow
def test_a_shard_speaks_of_its_part(pool: Path, tmp_path: Path) -> None:
    [log] = judge_in_process("listwise", pool, tmp_path / "out", shard="2/3")
    said = kept(log)["gsm8k"]
    assert said["n_items"] == 4
    assert said["sentence"].startswith("About the items of shard 2/3 only: ")


@pytest.mark.slow
def test_where_nothing_is_ranked_nothing_is_kept(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "logs", 3, 2, lambda model, item: "PROVIDER FAILS")
    [log] = judge_in_process("listwise", pool, tmp_path / "out", merge_identical=False)
    assert kept(log) is None
    assert read_eval_log(log.location).log_updates is None
