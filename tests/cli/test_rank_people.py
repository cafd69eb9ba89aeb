"""`rank --people`: sheets, CSV, and wrong use, as `expected/people.txt` has it."""

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


def test_what_it_prints(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    wrong_use(__file__, "people.txt")
