"""`pairs`: lines, JSON, and wrong use, as `expected/pairs.txt` has it."""

from pathlib import Path

import pytest

from tests.analysis.test_preference_pairs import study
from tests.cli.handed import wrong_use
from tests.ranking_logs.builders import write_log
from tests.tables.builders import write


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_log(tmp_path / "log.eval", study()[0])
    rows = [f"q{k},a,b,{'a' if k < 30 else 'b'}" for k in range(40)]
    write(tmp_path / "votes.csv", "\n".join(["item_id,model_a,model_b,winner", *rows]))
    return tmp_path


def test_what_it_prints(here: Path) -> None:
    write(here / "faulty.csv", (here / "votes.csv").read_text() + "\nq1,a,a,b")
    wrong_use(__file__, "pairs.txt")
    assert not (here / "p.jsonl").exists()
    assert len((here / "out" / "pairs.jsonl").read_text(encoding="utf-8").splitlines()) == 40
