"""The options that say how candidates are loaded, on logs of both harnesses."""

import json
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalPlan, EvalPlanStep, read_eval_log, write_eval_log
from inspect_ai.model import GenerateConfig

from tests.candidates.builders import make_rows, write_inspect_log, write_lm_eval_run
from tests.cases import cases
from tests.cli.handed import tiebreak, wrong_use

DIFFERENT = (
    "the models were asked in different ways: solver: generate() (a, b), react() (c); "
    "temperature: 0.0 (a), 1.0 (b), not set (c)"
)


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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models asked in different ways and alike; two runs of one, and another, of both harnesses."""
    path = tmp_path_factory.mktemp("loading")
    write_different(path / "different")
    for model in "ab":
        write_asked(path / "alike", model, temperature=0.5)
    for place, model in (("hot", "m"), ("cold", "m"), ("other", "n")):
        rows = make_rows(2, answer=f"{place} {{i}}")
        write_inspect_log(path / "inspect" / place / "a=b.eval", model, rows)
        write_lm_eval_run(path / "lm-eval" / place, model, rows)
    return path


def test_settings_and_names(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    wrong_use(__file__, "loading.txt")


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
    assert words in " ".join(done.output.split())
    assert "--metric NAME" in done.output
    assert tiebreak("candidates", str(tmp_path), *options, "--mode", "intersect").exit_code == 0
