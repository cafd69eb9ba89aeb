"""The verb `calibrate`: JSON, plots, and what it says when it is used wrongly."""

import json
from functools import partial
from pathlib import Path

import pytest

from tests.analysis.test_calibration import GOOD, MODELS, POOR, TRUTH
from tests.cli.handed import tiebreak
from tests.ranking_logs.builders import write_log
from tests.tables.builders import write

run = partial(tiebreak, "calibrate")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("calibrate")
    write_log(path / "logs" / "good.eval", GOOD, eval_id="E1", task_id="T1")
    write_log(path / "logs" / "poor.eval", POOR, eval_id="E2", task_id="T2")
    rows = [
        f"q{k},{model},{TRUTH[k, m]},ann,{1 + k % 2}"
        for k in range(80)
        for m, model in enumerate(MODELS)
    ]
    rows += [f"q{k},b,{min(3, TRUTH[k, 1] + 1)},ben,{1 + k % 2}" for k in range(30)]
    write(path / "stars.csv", "\n".join(["item_id,model,stars,rater,round", *rows]))
    return path


def test_json(folder: Path) -> None:
    done = run(str(folder / "logs"), "--human", str(folder / "stars.csv"), "--json")
    data = json.loads(done.stdout)
    assert (data["format"], data["version"]) == ("tiebreak/calibration", 1)
    assert data["judges"] == ["j/good", "j/poor"]
    assert data["rounds"] == ["1", "2"]
    keys = [(one["judge"], one["round"], one["model"], one["subject"]) for one in data["cells"]]
    # Subjects alternate with the rounds here, so that a round has one subject.
    assert len(keys) == len(set(keys)) == 2 * (3 * 3 + 2 * 3 * 2)
    assert data["cells"][0]["kappa"]["value"] > 0.8
    assert data["verdict"].startswith("j/good agrees best")


@pytest.mark.slow
def test_plot(folder: Path, tmp_path: Path) -> None:
    arguments = [str(folder / "logs"), "--human", str(folder / "stars.csv")]
    done = run(*arguments, "--plot", str(tmp_path / "kappa.svg"))
    assert done.exit_code == 0, done.output
    assert done.stderr.startswith(f"Plot: {tmp_path}")
    files = sorted(path.name for path in tmp_path.iterdir())
    names = ("kappa-labels-2", "kappa-labels", "kappa")
    assert files == [f"{name}{end}" for name in names for end in (".caption.txt", ".svg")]
    assert "people with each other" in (tmp_path / "kappa.svg").read_text(encoding="utf-8")
    assert run(*arguments, "--plot", "kappa.jpg").exit_code == 1


def test_a_judge_s_file_without_a_log(folder: Path, tmp_path: Path) -> None:
    rows = [f"q{k},b,{min(3, TRUTH[k, 1])},gpt" for k in range(80)]
    judge = write(tmp_path / "gpt.csv", "\n".join(["item_id,model,stars,rater", *rows, "q1,b,9,x"]))
    arguments = ["--judge", str(judge), "--human", str(folder / "stars.csv")]
    refused = run(*arguments)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "gpt.csv, line 82, column 'stars': 9 stars" in refused.stderr
    done = run(*arguments, "--skip-faulty", "--json")
    assert json.loads(done.stdout)["judges"] == ["gpt"]
    assert run("--human", str(folder / "stars.csv")).exit_code == 2
