"""The verb `write-back`: lines, JSON, and what it says when it is used wrongly."""

import json
from functools import partial
from pathlib import Path

import pytest

from tests.candidates.builders import make_rows, write_inspect_log
from tests.cli.handed import tiebreak, wrong_use
from tests.publish.write_back.builders import brackets, scores, write_logs, write_ranking

run = partial(tiebreak, "write-back")


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three models and their ranking in ./logs, and a fourth model that was not ranked."""
    monkeypatch.chdir(tmp_path)
    write_logs(Path("logs"))
    write_ranking(Path("logs/seal.eval"), Path("logs"), brackets())
    write_inspect_log("logs/d.eval", "d", make_rows(2))
    return Path("logs")


@pytest.mark.slow
def test_lines(logs: Path) -> None:
    (logs / "c.eval").rename("c.eval")
    done = run("logs", "--into", "logs")
    assert done.exit_code == 0, done.output
    assert done.output.splitlines() == [
        "written: logs/a.eval (a · tiebreak_seal): place 1 of 3, 2 of 2 items ranked",
        "written: logs/b.eval (b · tiebreak_seal): place 1 of 3, 2 of 2 items ranked",
        "left alone: logs/d.eval (d · tiebreak_seal): d is not among the models of logs/seal.eval",
        "no log: c (gsm8k · seal): no Inspect log of it belongs to the ranking",
    ]
    again = run("logs/seal.eval", "--into", "logs", "--into", "c.eval", "--dry-run")
    assert [line[:21] for line in again.output.splitlines()] == [
        *("unchanged: logs/a.eva", "unchanged: logs/b.eva", "left alone: logs/d.ev"),
        *("to write: c.eval (c ·", "Dry run: 1 score to w"),
    ]
    assert scores(Path("c.eval")) == {}
    run("logs", "--into", "c.eval")
    assert scores(Path("c.eval")).keys() == {"q0", "q1"}
    last = run("logs", "--into", "logs", "--into", "c.eval")
    assert last.exit_code == 0
    assert last.output.splitlines()[-1] == "Nothing changed: these ranks are in the logs already"


@pytest.mark.slow
def test_json(logs: Path) -> None:
    (logs / "c.eval").unlink()
    data = json.loads(run("logs", "--into", "logs", "--json").stdout)
    assert data["dry_run"] is False
    assert data["rankings"] == [
        {
            "benchmark": "gsm8k",
            "protocol": "seal",
            "score": "tiebreak_seal",
            "log": "logs/seal.eval",
            "eval_id": "E1",
            "run": "f00d",
            "judges": [],
            "models": 3,
        }
    ]
    assert [(one["model"], one["state"], one["place"]) for one in data["logs"]] == [
        *(("a", "written", 1), ("b", "written", 1), ("d", "left_alone", None)),
    ]
    assert data["models_without_log"] == [{"model": "c", "benchmark": "gsm8k", "protocol": "seal"}]
    assert data["notes"] == []


@pytest.mark.slow
def test_names_from_logs_cannot_steer_the_terminal(logs: Path) -> None:
    write_inspect_log("logs/e.eval", "[red]e[/red]\x1b[31m\nwritten", make_rows(2))
    done = run("logs", "--into", "logs")
    assert "\x1b" not in done.output
    assert r"[red]e[/red]\x1b[31m written" in done.output


@pytest.mark.slow
def test_wrong_use(logs: Path) -> None:
    wrong_use(__file__, "write_back.txt")
