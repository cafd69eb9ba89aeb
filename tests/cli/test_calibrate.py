"""The verb `calibrate`: JSON, plots, and what it says when it is used wrongly."""

from functools import partial
from pathlib import Path

import pytest

from tests.analysis.test_calibration import GOOD, MODELS, POOR, TRUTH
from tests.cli.handed import tiebreak, wrong_use
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


def test_what_it_prints(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    rows = [f"q{k},b,{min(3, TRUTH[k, 1])},gpt" for k in range(80)]
    write(Path("gpt.csv"), "\n".join(["item_id,model,stars,rater", *rows, "q1,b,9,x"]))
    wrong_use(__file__, "calibrate.txt")
