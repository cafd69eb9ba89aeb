"""`rank` of a file of matches: what it prints, as `expected/matches.txt` has it."""

from functools import partial
from pathlib import Path

import pytest

from tests.analysis.test_votes import votes
from tests.cli.handed import tiebreak, wrong_use
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


def test_what_it_prints(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    wrong_use(__file__, "matches.txt")
