"""The verb `write-back`: lines, JSON, and what it says when it is used wrongly."""

from functools import partial
from pathlib import Path

import pytest

from tests.candidates.builders import make_rows, write_inspect_log
from tests.cli.handed import tiebreak, wrong_use
from tests.publish.write_back.builders import brackets, write_logs, write_ranking

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
def test_names_from_logs_cannot_steer_the_terminal(logs: Path) -> None:
    write_inspect_log("logs/e.eval", "[red]e[/red]\x1b[31m\nwritten", make_rows(2))
    done = run("logs", "--into", "logs")
    assert "\x1b" not in done.output
    assert r"[red]e[/red]\x1b[31m written" in done.output


@pytest.mark.slow
def test_wrong_use(logs: Path) -> None:
    wrong_use(__file__, "write_back.txt")
