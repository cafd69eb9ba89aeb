"""`rank` of a file of matches: sheets, JSON, CSV, and wrong use."""

import csv
import io
import json
from functools import partial
from pathlib import Path

import pytest

from tests.analysis.test_votes import votes
from tests.cli.handed import tiebreak, wrong_use
from tests.expected import check
from tests.ranking_logs.builders import bracket, write_log
from tests.tables.builders import write
from tests.tables.test_matches import written

run = partial(tiebreak, "rank")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("matches")
    written(path, "m.parquet", votes())
    write_log(path / "logs" / "log.eval", [bracket(f"q{k}", "a", "b", "c") for k in range(3)])
    write(path / "faulty.csv", "model_a,model_b,winner\na,b,a\na,b,c\n")
    return path


def test_a_sheet(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    done = run("m.parquet")
    assert done.exit_code == 0, done.output
    check(__file__, "rank_matches.txt", done.stdout)


def test_data(folder: Path) -> None:
    path = str(folder / "m.parquet")
    data = json.loads(run(path, path, "--json", "--seed", "4").stdout)
    assert (data["format"], data["version"]) == ("tiebreak/votes", 1)
    board, same = data["boards"]
    assert board == same
    assert (board["seed"], board["by"]) == (4, "item")
    rows = [*csv.DictReader(io.StringIO(run(path, "--csv").stdout))]
    for row, held in zip(rows, board["rows"], strict=True):
        assert row["model"] == held["model"]
        assert float(row["score"]) == held["score"]["value"]
        assert float(row["margin_upper"]) == held["margin"]["upper"]


def test_faulty_rows_are_left_out_where_that_is_asked_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    done = run("faulty.csv", "--skip-faulty")
    assert done.exit_code == 0, done.output
    assert "1 faulty row left out: line 3 (the winner is 'c'" in " ".join(done.output.split())


def test_wrong_use(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    wrong_use(__file__, "matches.txt")
