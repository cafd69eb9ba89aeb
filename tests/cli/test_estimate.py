"""The verb `estimate`: `expected/estimate.txt` has what it says; and nobody is asked."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from inspect_ai.model import Model, ModelAPI
from rich.cells import cell_len

from tests.candidates.builders import make_rows, write_inspect_log
from tests.cli.handed import tiebreak, wrong_use
from tests.harness import ROOT
from tests.ranking_logs.builders import item, match, sample, write_log
from tiebreak.scorers.ballots import Call

PANEL = "x/a,y/b,openai/gpt-5"
# Whose verdicts lie beside the answers, on which benchmark, and on how many items.
PILOTS = {
    "used": ("openai/gpt-5", "gsm8k", 10),
    "too-few": ("openai/gpt-5", "gsm8k", 9),
    "other-benchmark": ("openai/gpt-5", "mmlu", 10),
    "other-judge": ("j/other", "gsm8k", 10),
}


def write_answers(folder: Path) -> None:
    """Four models and six items: one of identical answers, one that only one model solved."""
    for model in "abcd":
        rows = make_rows(6, answer=f"{model}: {{i}}")
        rows[0]["answer"] = "the same"
        rows[1]["native"] = float(model == "a")
        write_inspect_log(folder, model, rows)


def write_pilot(path: Path, judge: str, benchmark: str = "gsm8k", n_items: int = 1) -> None:
    """A ranking log of close matches."""
    call = Call(kind="match", role="judge", model=judge, input_tokens=1000, output_tokens=500)
    items = [
        item(f"q{number}", matches=(match("a", "b", 0.01),), calls=(call,) * 4)
        for number in range(n_items)
    ]
    judged = [item.model_copy(update={"benchmark": benchmark}) for item in items]
    write_log(path, [sample(item) for item in judged])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("estimate")
    write_answers(path / "logs")
    write_pilot(path / "pilot.eval", "j/other")
    for name, pilot in PILOTS.items():
        write_answers(path / name)
        write_pilot(path / name / "pilot.eval", *pilot)
    for model in "ab":
        write_inspect_log(path / "long", model, make_rows(1, answer=f"{model} word" * 200_000))
    (path / "champion_stays.py").symlink_to(ROOT / "examples" / "champion_stays.py")
    return path


@pytest.fixture(autouse=True)
def _here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


@pytest.mark.slow
def test_what_is_said() -> None:
    wrong_use(__file__, "estimate.txt")


def estimate(*arguments: str, judge: str = "openai/gpt-5", **env: str) -> Result:
    done = tiebreak("estimate", "logs", "--judge", judge, *arguments, env=env)
    assert done.exit_code == 0, done.output
    return done


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 120])
def test_no_table_is_too_wide(width: int) -> None:
    protocols = "all,swiss:rounds=3,swap=never,peer_review,peer_review:degree=2"
    given = ("--protocol", protocols, "--peers", PANEL, "--price", "2,17")
    shown = estimate(*given, COLUMNS=str(width)).output
    assert max(cell_len(line.rstrip()) for line in shown.splitlines()) <= width
    assert "…" not in shown


@pytest.mark.slow
@pytest.mark.parametrize("judge", ["planted/x", "openai/gpt-5", "openai/gpt-99", "hf/no/weights"])
def test_nobody_is_asked(judge: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    happened: list[str] = []

    def never(name: str) -> Any:
        return lambda *arguments, **more: happened.append(name)

    for of, name in ((Model, "generate"), (Model, "__init__")):
        monkeypatch.setattr(of, name, never(name))
    if judge != "openai/gpt-99":  # Inspect looks such a model up through an idle client
        monkeypatch.setattr(ModelAPI, "__init__", never("provider"))
    calls = tmp_path / "calls"
    protocols = ("--protocol", "seal,fixed_rubric,peer_review", "--peers", f"{judge},planted/y")
    estimate(*protocols, judge=judge, PLANTED_CALLS=str(calls))
    assert not set(happened) - ({"__init__"} if judge == "openai/gpt-99" else set())
    assert not calls.exists()
