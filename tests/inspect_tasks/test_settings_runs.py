"""How models were asked, from their own runs through judging to the board and the page."""

import json
from pathlib import Path

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import match
from inspect_ai.solver import Solver, generate, system_message

from tests.cli.handed import tiebreak
from tests.inspect_tasks.runs import judge_in_process
from tiebreak.prerequisite import PrerequisiteError

pytestmark = pytest.mark.slow

THINK = [system_message("Think first."), generate()]
NOTE = (
    "The models were asked in different ways: solver: generate() (candidate/0.2, "
    'candidate/0.5), system_message(template="Think first.") generate() '
    "(candidate/0.9); temperature: 0.0 (candidate/0.2, candidate/0.9), 1.0 (candidate/0.5)"
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three models' logs of a real run, and what a judge said of them in two protocols."""
    folder = tmp_path_factory.mktemp("asked")
    asked: dict[str, tuple[Solver | list[Solver], float]] = {
        "candidate/0.2": (generate(), 0.0),
        "candidate/0.5": (generate(), 1.0),
        "candidate/0.9": (THINK, 0.0),
    }
    samples = [Sample(id=f"q{n}", input=f"What is {n} + 1?", target="no") for n in range(3)]
    for model, (solver, temperature) in asked.items():
        eval(
            Task(name="sums", dataset=MemoryDataset(samples), solver=solver, scorer=match()),
            model=model,
            temperature=temperature,
            log_dir=str(folder / "logs"),
            display="none",
            log_realtime=False,
        )
    judge_in_process(["round_robin", "stars"], folder / "logs", folder / "out")
    return folder


def test_a_board_says_how_models_were_asked(runs: Path) -> None:
    done = tiebreak("rank", str(runs / "out"))
    assert " ".join(done.output.split()).count(f"Note: {NOTE}") == 2  # of each protocol one
    data = json.loads(tiebreak("rank", str(runs / "out"), "--json").output)
    found = [one["settings_differ"] for one in (*data["leaderboards"], *data["stars"]["boards"])]
    temperature = {"0.0": ["candidate/0.2", "candidate/0.9"], "1.0": ["candidate/0.5"]}
    assert [one["temperature"] for one in found] == [temperature] * 3
    assert [one.keys() for one in found] == [{"solver", "temperature"}] * 3


def test_the_page_says_it(runs: Path, tmp_path: Path) -> None:
    done = tiebreak("report", str(runs / "out"), "-o", str(tmp_path / "page"))
    assert done.exit_code == 0, done.output
    page = (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
    assert page.count(NOTE.replace('"', "&#34;")) == 2


def test_a_pool_keeps_it(runs: Path, tmp_path: Path) -> None:
    pool = tmp_path / "pool.parquet"
    assert tiebreak("candidates", str(runs / "logs"), "--out", str(pool)).exit_code == 0
    judge_in_process("full_pairwise", pool, tmp_path / "out")
    assert f"Note: {NOTE}" in " ".join(tiebreak("rank", str(tmp_path / "out")).output.split())


def test_a_judging_run_can_refuse_it(runs: Path, tmp_path: Path) -> None:
    with pytest.raises(PrerequisiteError, match=r"temperature: 0\.0"):
        judge_in_process("seal", runs / "logs", tmp_path / "out", same_settings=True)
