"""The verb `stability`: rows, stars, and what it says when it is used wrongly."""

from functools import partial
from pathlib import Path

import pytest

from tests.analysis.test_comparison import Folder, full
from tests.cases import cases
from tests.cli.handed import tiebreak, wrong_use
from tests.fair.analysis.test_star_stability import rounds

run = partial(tiebreak, "stability")


def test_what_it_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Folder(Path("logs"))
    folder.add(*full(4))
    folder.add(*full(4, "bacd"), repeat=2)
    rounds(Path("stars"), (30,))
    for name, content in cases(__file__, "tables").items():
        Path(f"{name}.csv").write_text(content)
    wrong_use(__file__, "stability.txt")


@pytest.mark.slow
def test_elo_and_its_plot(tmp_path: Path) -> None:
    rounds(tmp_path / "logs", (60,))
    done = run(str(tmp_path / "logs"), "--elo", "--seeds", "5", "--plot", str(tmp_path / "e.svg"))
    assert done.exit_code == 0, done.output
    assert "Bradley–Terry" in done.output
    assert "Ranking" not in done.stdout
    assert done.stderr.endswith(f"Plot: {tmp_path / 'e.svg'}\n")
    assert (tmp_path / "e.svg").read_text().startswith("<?xml")
