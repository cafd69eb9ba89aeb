"""`rank --people`: sheets, JSON, CSV, and wrong use."""

import csv
import io
import json
from functools import partial
from pathlib import Path

import pytest

from tests.analysis.test_anchored import PEOPLE, judged
from tests.cli.handed import tiebreak, wrong_use
from tests.ranking_logs.builders import write_log
from tests.tables.builders import write

run = partial(tiebreak, "rank")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("people")
    write_log(path / "log.eval", judged("points", "round_robin"))
    rows = [
        f"q{k},{'ab'[k % 2]},c,{'a' if PEOPLE[k, k % 2] > PEOPLE[k, 2] else 'b'},ann"
        for k in range(40)
    ]
    write(path / "votes.csv", "\n".join(["item_id,model_a,model_b,winner,rater", *rows]))
    write(path / "faulty.csv", (path / "votes.csv").read_text() + "\nq50,a,c,x,ann")
    (path / "torn.jsonl").write_text('{"item_id":')
    (path / "latin.csv").write_bytes("item_id,modèle".encode("latin-1"))
    return path


def test_a_sheet(folder: Path) -> None:
    done = run(str(folder / "log.eval"), "--people", str(folder / "votes.csv"))
    assert done.exit_code == 0, done.output
    shown = " ".join(done.output.split())
    for text in (
        "gsm8k · round_robin · anchored by people",
        "(40 labels on 40 items of 60)",
        "Judge − people",
        "weight of the judge 0.",
    ):
        assert text in shown, text


def test_data(folder: Path) -> None:
    args = (str(folder / "log.eval"), "--people", str(folder / "votes.csv"))
    data = json.loads(run(*args, "--json").stdout)
    assert (data["format"], data["version"]) == ("tiebreak/anchored", 1)
    [board] = data["boards"]
    assert {row["model"] for row in board["rows"]} == {"a", "b", "c"}
    rows = list(csv.DictReader(io.StringIO(run(*args, "--csv").stdout)))
    for row, held in zip(rows, board["rows"], strict=True):
        assert float(row["score"]) == held["score"]["value"]
        assert float(row["excess_upper"]) == held["excess"]["upper"]


@pytest.mark.parametrize("verb", ["rank", "stability"])
def test_faulty_rows_are_left_out(
    verb: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given = (*verb.split(), str(folder / "log.eval"), "--people", str(folder / "faulty.csv"))
    assert "line 42" in tiebreak(*given).stderr
    done = tiebreak(*given, "--skip-faulty", "--format", "markdown")
    assert done.exit_code == 0, done.output
    assert "line 42" in done.output


def test_wrong_use(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    wrong_use(__file__, "people.txt")
