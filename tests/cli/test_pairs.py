"""`pairs`: lines, JSON, and wrong use."""

import json
from pathlib import Path

import pytest

from tests.analysis.test_preference_pairs import study
from tests.cli.handed import tiebreak, wrong_use
from tests.ranking_logs.builders import write_log
from tests.tables.builders import write


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_log(tmp_path / "log.eval", study()[0])
    rows = [f"q{k},a,b,{'a' if k < 30 else 'b'}" for k in range(40)]
    write(tmp_path / "votes.csv", "\n".join(["item_id,model_a,model_b,winner", *rows]))
    return tmp_path


def test_lines(here: Path) -> None:
    done = tiebreak("pairs", "log.eval", "--out", "out/pairs.jsonl", "--people", "votes.csv")
    assert done.exit_code == 0, done.output
    shown = " ".join(done.output.split())
    for text in (
        "out/pairs.jsonl: 40 pairs of 40 matches j/judge says what people say of 75.0% (",
        "%) of 40 pairs",
    ):
        assert text in shown, text
    assert len((here / "out" / "pairs.jsonl").read_text(encoding="utf-8").splitlines()) == 40
    write(here / "faulty.csv", (here / "votes.csv").read_text() + "\nq1,a,a,b")
    given = ("pairs", "log.eval", "--out", "some.jsonl", "--people", "faulty.csv")
    assert [tiebreak(*given, *more).exit_code for more in ((), ("--skip-faulty",))] == [1, 0]


def test_data(here: Path) -> None:
    done = tiebreak("pairs", "log.eval", "--out", "pairs.parquet", "--json")
    data = json.loads(done.stdout)
    assert (data["out"], data["n_pairs"], data["n_matches"]) == ("pairs.parquet", 40, 40)
    assert (data["left_out"], data["judges"], data["logs"]) == ({}, [], ["log.eval"])


def test_wrong_use(here: Path) -> None:
    wrong_use(__file__, "pairs.txt")
    assert not (here / "p.jsonl").exists()
