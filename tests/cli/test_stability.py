"""The verb `stability`: rows, stars, and what it says when it is used wrongly."""

from functools import partial
from pathlib import Path

import pytest

from tests.analysis.test_comparison import Folder, full
from tests.cli.handed import tiebreak
from tests.fair.analysis.test_star_stability import rounds

run = partial(tiebreak, "stability")


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Folder(tmp_path_factory.mktemp("logs"))
    folder.add(*full(4))
    folder.add(*full(4, "bacd"), repeat=2)
    return folder.path


def test_rows(logs: Path) -> None:
    first, *_ = sorted(logs.iterdir())
    assert run(str(first), "--csv").stdout.startswith("benchmark,name,log,share")
    both = run(str(logs), "--csv")
    assert both.exit_code == 1
    assert "here are 2 (parts of the items, run against run)" in both.output


@pytest.mark.slow
def test_elo_and_its_plot(tmp_path: Path) -> None:
    rounds(tmp_path / "logs", (60,))
    done = run(str(tmp_path / "logs"), "--elo", "--seeds", "5", "--plot", str(tmp_path / "e.svg"))
    assert done.exit_code == 0, done.output
    assert "Bradley–Terry" in done.output
    assert "Ranking" not in done.stdout
    assert done.stderr.endswith(f"Plot: {tmp_path / 'e.svg'}\n")
    assert (tmp_path / "e.svg").read_text().startswith("<?xml")


def test_dates_causes_and_scores_elsewhere(tmp_path: Path) -> None:
    rounds(tmp_path / "logs", (30,))
    files = {
        "dates": "model,date,series\na,2025-06-07,X\nb,2024,X\n",
        "causes": "item_id,model,cause\nq1,a,misunderstanding\nq2,b,Format compliance\n",
        "against": "model,C-Eval\na,90\nb,80\nc,70\n",
    }
    for name, content in files.items():
        (tmp_path / f"{name}.csv").write_text(content)
    given = [(f"--{name}", str(tmp_path / f"{name}.csv")) for name in files]
    done = run(str(tmp_path / "logs"), *(part for one in given for part in one))
    assert done.exit_code == 0, done.output
    for words in ("2024-01-01", "C-Eval", "format compliance", "Scores by stars and scores"):
        assert words in done.output
    for one in given:
        assert run(str(tmp_path / "logs"), *one, "--csv").stdout.count("\n") > 1
    several = run(str(tmp_path / "logs"), *given[0], *given[1], "--elo", "--seeds", "5", "--csv")
    assert several.exit_code == 1
    refused = "CSV is one table, and here are 3 (--elo, --dates, --causes): ask for one of them"
    assert refused in " ".join(several.output.split())
    elo = run(str(tmp_path / "logs"), "--elo", "--seeds", "5", "--csv").stdout.splitlines()
    assert elo[0] == "benchmark,method,n_clusters,mean,lower,upper,error,undefined"
    assert len(elo) > 1
