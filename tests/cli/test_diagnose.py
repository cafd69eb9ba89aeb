"""The verb `diagnose`: the verdict, the next command, and exit codes."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.candidates.builders import make_rows, write_inspect_log, write_lm_eval_run
from tiebreak.cli.diagnose import diagnose


def run(*arguments: str) -> Result:
    return CliRunner().invoke(diagnose, arguments, env={"COLUMNS": "100"})


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "two words"
    for model in ("a", "b"):
        rows = make_rows(8, answer=f"{model}: {{i}}")
        write_inspect_log(folder, model, rows)
    return folder


@pytest.mark.slow
def test_a_verdict_and_the_next_command(logs: Path) -> None:
    done = run(str(logs))
    assert done.exit_code == 0, done.output
    assert "gsm8k · 2 models · 8 items" in done.output
    assert "Saturated: native scores do not tell the 2 models apart" in done.output
    assert f"tiebreak estimate '{logs}' --judge MODEL" in done.output


@pytest.mark.slow
def test_no_next_command_where_judging_cannot_help(tmp_path: Path) -> None:
    for model in ("a", "b"):
        write_inspect_log(tmp_path, model, make_rows(8, answer="A"), task="mmlu")
    done = run(str(tmp_path))
    assert done.exit_code == 0, done.output
    assert "Judging cannot help: all answers are identical in all 8 items." in done.output
    assert "estimate" not in done.output


def test_json(logs: Path) -> None:
    done = run(str(logs), "--json", "--level", "0.9", "--power", "0.9")
    assert done.exit_code == 0, done.output
    [found] = json.loads(done.output)["benchmarks"]
    assert found["verdict"]["kind"] == "saturated"
    assert (found["evidence"]["level"], found["power"]) == (0.9, 0.9)


def test_options_reach_the_loader(tmp_path: Path) -> None:
    rows = make_rows(8)
    scores = [row | {"native": None, "scores": {"one": 1.0, "two": 0.5}} for row in rows]
    write_inspect_log(tmp_path / "a", "a", scores, task="gsm8k")
    write_inspect_log(tmp_path / "b", "b", scores[:7], task="maths")
    done = run(
        *(str(tmp_path / "a"), str(tmp_path / "b"), "--rename", "maths=gsm8k"),
        *("--mode", "intersect", "--metric", "two", "--json"),
    )
    assert done.exit_code == 0, done.output
    [found] = json.loads(done.output)["benchmarks"]
    assert (found["evidence"]["n_rows"], found["n_dropped"]) == (7, 1)
    assert [standing["native"] for standing in found["standings"]] == [0.5, 0.5]
    assert found["metrics"] == ["two"]


def test_the_filter_reaches_the_loader(tmp_path: Path) -> None:
    rows = [
        row | {"filter": name, "doc_id": i, "native": float(name == "strict")}
        for i, row in enumerate(make_rows(3))
        for name in ("flexible", "strict")
    ]
    for model in ("a", "b"):
        write_lm_eval_run(tmp_path, model, rows)
    done = run(str(tmp_path), "--filter", "strict", "--json")
    assert done.exit_code == 0, done.output
    [found] = json.loads(done.output)["benchmarks"]
    assert [standing["native"] for standing in found["standings"]] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nowhere"], 1, "nowhere"),
        ([], 2, "Missing argument"),
        (["x", "--rename", "a"], 2, "OLD=NEW"),
        (["x", "--level", "2"], 2, "--level"),
    ],
)
def test_wrong_use(arguments: list[str], code: int, words: str) -> None:
    done = run(*arguments)
    assert done.exit_code == code
    assert words in done.output
    assert "Traceback" not in done.output


def test_one_model_in_the_logs_is_an_error(tmp_path: Path) -> None:
    write_inspect_log(tmp_path, "a", make_rows(3))
    done = run(str(tmp_path))
    assert done.exit_code == 1
    assert "only one model" in done.output
