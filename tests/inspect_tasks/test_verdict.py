"""The end of a judging run: its verdict is in its log, and the board's first lines are shown."""

import asyncio
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from inspect_ai import Task, eval, eval_retry, score
from inspect_ai.dataset import Sample
from inspect_ai.hooks import RunEnd
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log, write_eval_log

from tests.harness import run, run_on_terminal
from tests.inspect_tasks.runs import judge_in_process, write_pool
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.publish.write_back import verdict
from tiebreak.publish.write_back.verdict import BOARDS, MODELS, VERDICT_KEY, RunOutcome, first_lines
from tiebreak.scorers.ranking import ranking


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
        "sentence": str(board.verdict.sentence),
        "tiers": [["m2"], ["m1"], ["m0"]],
        "trust": board.verdict.trust.state,
        "n_items": 12,
    }
    assert "m2 is first" in str(board.verdict.sentence)
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
    # Below Inspect's own results, once.
    [log] = (tmp_path / "out").glob("*.eval")
    assert shown.count("All of it: tiebreak rank") == 1
    end = shown[shown.index(f"Log: out/{log.name}") :]
    for line in ("gsm8k · original · 12 items", "No two of the 3 models", "95% interval"):
        assert line in end
    assert f"\nAll of it: tiebreak rank out/{log.name}\n" in end
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


@pytest.mark.slow
def test_on_a_terminal_with_inspects_full_display(pool: Path, tmp_path: Path) -> None:
    args = ("tiebreak/original", "-T", f"candidates={pool}", "--log-dir", "out")
    shown, code = run_on_terminal(
        *("inspect", "eval", *args, "--display", "full"), cwd=tmp_path, COLUMNS="120"
    )
    assert code == 0
    [log] = (tmp_path / "out").glob("*.eval")
    left = shown[shown.rindex("\x1b[?1049l") :]  # the display has gone, this stays
    assert "gsm8k · original · 12 items" in left
    assert left.count(f"All of it: tiebreak rank out/{log.name}") == 1


@pytest.mark.slow
def test_who_wants_no_display_gets_none_and_other_tasks_are_left_alone(
    pool: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [log] = judge_in_process("original", pool, tmp_path / "out", eval_args={"display": "none"})
    assert log.status == "success"
    other = Task(dataset=[Sample(input="?")], solver=[])
    eval(other, model="planted/x", log_dir=str(tmp_path / "other"), display="log")
    assert capsys.readouterr().out == ""


@pytest.mark.slow
def test_an_error_in_the_last_lines_does_not_harm_the_run(
    pool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verdict, "first_lines", Mock(side_effect=RuntimeError("no")))
    [log] = judge_in_process("original", pool, tmp_path / "out")
    assert log.status == "success"
    assert kept(log)


@pytest.mark.slow
def test_of_many_boards_and_models_the_first_are_shown(tmp_path: Path) -> None:
    for number in range(BOARDS + 1):
        write_pool(tmp_path / "logs", MODELS + 1, 2, task=f"task{number}")
    [log] = judge_in_process("original", tmp_path / "logs", tmp_path / "out")
    told = first_lines(leaderboards([log.location]), f"file://{Path.cwd()}/a b.eval", "1/2")
    assert told.count("… and 1 more model\n") == told.count("\ntask") == BOARDS
    assert "\n… and 1 more board\n" in told
    assert "About the items of shard 1/2 only: " in told
    assert told.endswith("\nAll of it: tiebreak rank 'a b.eval'\n")
    assert first_lines([], "a.eval") == ""


@pytest.mark.parametrize(
    ("eval_set", "status", "told"),
    [(None, "success", 1), (None, "error", 1), ("set", "success", 1), ("set", "error", 0)],
)
def test_what_an_eval_set_tries_again_is_told_once(
    eval_set: str | None,
    status: str,
    told: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(verdict, "missing_from_log", Mock(return_value=None))
    log = Mock(status=status)
    log.eval.eval_id = "one"
    watch = verdict._Watch()
    watch._done["one"] = RunOutcome(boards="THE BOARD")
    end = RunEnd(eval_set_id=eval_set, run_id="", exception=None, logs=[log])  # type: ignore[arg-type]
    for _ in range(2):
        asyncio.run(watch.on_run_end(end))
    # On standard error where the display is `none`, as it may be in tests.
    assert "".join(capsys.readouterr()).count("THE BOARD") == told
    asyncio.run(watch.on_eval_set_end(Mock()))
    # What failed for good is told at the end.
    assert "".join(capsys.readouterr()).count("THE BOARD") == 1 - told
