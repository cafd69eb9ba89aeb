"""The verb `compare`: plots, and what it says when it is used wrongly."""

import json
from functools import partial
from pathlib import Path

import pytest

from tests.analysis.test_comparison import Folder, full, lists
from tests.cli.handed import tiebreak, wrong_use

FAST = ("--draws", "100")


run = partial(tiebreak, "compare")


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Folder(tmp_path_factory.mktemp("logs"))
    folder.add(*full(3))
    folder.add(*lists(3, "bacd"))
    return folder.path


@pytest.mark.slow
def test_plot_beside_json(logs: Path, tmp_path: Path) -> None:
    plot = tmp_path / "plot.svg"
    done = run(str(logs), "--json", "--plot", str(plot), "--against", "depth", *FAST)
    assert done.exit_code == 0, done.output
    json.loads(done.stdout)
    assert done.stderr == f"Plot: {plot}\n"
    assert "calls in a row per item" in plot.read_text(encoding="utf-8")


def test_wrong_use(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(logs)
    wrong_use(__file__, "compare.txt")
