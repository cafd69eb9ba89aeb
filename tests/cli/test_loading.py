"""The options that say how candidates are loaded, on logs of both harnesses."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from inspect_ai.log import EvalPlan, EvalPlanStep, read_eval_log, write_eval_log
from inspect_ai.model import GenerateConfig

from tests.candidates.builders import make_rows, write_inspect_log, write_lm_eval_run
from tests.cases import cases
from tests.cli.handed import tiebreak

DIFFERENT = (
    "the models were asked in different ways: solver: generate() (a, b), react() (c); "
    "temperature: 0.0 (a), 1.0 (b), not set (c)"
)


def said(done: Result) -> str:
    return " ".join(done.output.split())


def write_asked(
    folder: Path, model: str, solver: str = "generate", temperature: float | None = None
) -> None:
    """A log of a model that was asked in some way."""
    path = write_inspect_log(folder / f"{model}.eval", model, make_rows(3, answer=f"{model} {{i}}"))
    log = read_eval_log(str(path))
    log.plan = EvalPlan(
        steps=[EvalPlanStep(solver=solver, params={})],
        config=GenerateConfig(temperature=temperature),
    )
    write_eval_log(log, str(path))


def write_different(folder: Path) -> Path:
    write_asked(folder, "a", temperature=0)
    write_asked(folder, "b", temperature=1)
    write_asked(folder, "c", "react")
    return folder


@pytest.mark.parametrize("verb", ["candidates", "diagnose"])
def test_settings_that_differ_are_noted_once(verb: str, tmp_path: Path) -> None:
    write_different(tmp_path)
    assert said(tiebreak(verb, str(tmp_path))).count(DIFFERENT) == 1
    data = json.loads(tiebreak(verb, str(tmp_path), "--json").output)
    notes = data["notes"] if verb == "candidates" else data["benchmarks"][0]["notes"]
    assert DIFFERENT in str(notes)


@pytest.mark.parametrize("mode", ["strict", "intersect"])
@pytest.mark.parametrize(
    "verb",
    [
        ("candidates",),
        ("diagnose",),
        ("estimate", "--judge", "openai/gpt-5"),
        ("estimate", "--judge", "openai/gpt-5", "--calls", "100"),
        ("score-code", "--out", "pool.parquet"),
    ],
    ids=" ".join,
)
def test_same_settings_refuses_others(
    verb: Sequence[str], mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_different(tmp_path / "logs")
    done = tiebreak(*verb, "logs", "--same-settings", "--mode", mode)
    assert done.exit_code == 1
    assert said(done).count(DIFFERENT) == 1
    assert "Leave out --same-settings to compare the models as they were asked." in done.output


def test_same_settings_takes_what_was_asked_alike(tmp_path: Path) -> None:
    for model in "ab":
        write_asked(tmp_path, model, temperature=0.5)
    done = tiebreak("candidates", str(tmp_path), "--same-settings")
    assert (done.exit_code, "settings differ" in done.output) == (0, False)


def test_where_no_item_is_common_settings_are_not_compared(tmp_path: Path) -> None:
    write_different(tmp_path)
    options = ("--protocol", "stars", "--mode", "union", "--judge", "openai/gpt-5")
    done = tiebreak("estimate", str(tmp_path), *options, "--same-settings")
    assert done.exit_code == 1
    assert "Mode union does not compare settings: use mode intersect." in done.output


def write_twice(folder: Path, harness: str) -> dict[str, Path]:
    """Two runs of one model, each in a folder of its own, and a third model."""
    logs = {}
    for place, model in (("hot", "m"), ("cold", "m"), ("other", "n")):
        rows = make_rows(2, answer=f"{place} {{i}}")
        if harness == "inspect":
            logs[place] = write_inspect_log(folder / place / "a=b.eval", model, rows)
        else:
            logs[place] = write_lm_eval_run(folder / place, model, rows)
    return logs


@pytest.mark.parametrize("whole", [True, False], ids=["folder", "file"])
@pytest.mark.parametrize("harness", ["inspect", "lm-eval"])
def test_a_log_or_a_folder_is_given_a_model(
    harness: str, whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    logs = write_twice(Path("logs"), harness)
    twice = tiebreak("candidates", "logs")
    assert twice.exit_code == 1
    assert "'m' has 2 logs" in twice.output
    assert "name them with --name PATH=MODEL" in twice.output
    names = {place: f"{path.parent if whole else path}=m {place}" for place, path in logs.items()}
    given = ("--name", names["hot"], "--name", f"./{names['cold']}")
    done = tiebreak("candidates", "logs", *given, "--out", "pool.parquet", "--json")
    assert done.exit_code == 0, done.output
    [found] = json.loads(done.output)["benchmarks"]
    assert [one["model"] for one in found["models"]] == ["m cold", "m hot", "n"]
    # A pool has the names that it was written with.
    again = tiebreak("diagnose", "pool.parquet", "--json")
    standings = json.loads(again.output)["benchmarks"][0]["standings"]
    assert {one["model"] for one in standings} == {"m cold", "m hot", "n"}


def test_mode_union_takes_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_twice(Path("logs"), "inspect")
    given = ("--protocol", "stars", "--mode", "union", "--judge", "openai/gpt-5", "--price", "1,2")
    assert "'m' has 2 logs" in tiebreak("estimate", "logs", *given).output
    done = tiebreak("estimate", "logs", *given, "--name", "logs/hot=hot", "--json")
    assert done.exit_code == 0, done.output


def test_a_name_for_what_is_not_read(tmp_path: Path) -> None:
    write_different(tmp_path)
    done = tiebreak("candidates", str(tmp_path), "--name", "elsewhere=m")
    assert done.exit_code == 1
    assert "name: no log at 'elsewhere'" in done.output
    assert "--name PATH=MODEL a log, or a folder with logs, that is read" in done.output


SCORES: dict[str, dict[str, Any]] = cases(__file__, "scores")


def write_scored(folder: Path, *models: str) -> str:
    for model in models:
        rows = make_rows(2, answer=f"{model} {{i}}", native=None)
        scored = [row | {"scores": SCORES[model]} for row in rows]
        write_inspect_log(folder / f"{model}.eval", model, scored)
    return str(folder)


@pytest.mark.parametrize(
    ("models", "options", "metric", "means"),
    cases(__file__, "one_metric"),
)
def test_one_native_metric_for_all(
    models: list[str], options: tuple[str, ...], metric: str, means: list[float], tmp_path: Path
) -> None:
    done = tiebreak("candidates", write_scored(tmp_path, *models), *options, "--json")
    assert done.exit_code == 0, done.output
    [found] = json.loads(done.output)["benchmarks"]
    assert {name for one in found["models"] for name in one["native_metrics"]} == {metric}
    assert [one["native_mean"] for one in found["models"]] == means


@pytest.mark.parametrize(
    ("models", "options", "words"),
    cases(__file__, "no_metric"),
)
def test_no_native_metric_for_all(
    models: list[str], options: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    done = tiebreak("candidates", write_scored(tmp_path, *models), *options)
    assert done.exit_code == 1
    assert words in said(done)
    assert "--metric NAME" in done.output
    assert tiebreak("candidates", str(tmp_path), *options, "--mode", "intersect").exit_code == 0
