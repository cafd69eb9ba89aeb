"""The verb `peers`: tables, items, and what it says when it is used wrongly."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.analysis.peers.builders import by_scores, identical
from tests.analysis.peers.test_self_preference import planted
from tests.cli.handed import tiebreak, wrong_use
from tests.ranking_logs.builders import bracket, write_log

FAST = ("--draws", "100")


run = partial(tiebreak, "peers", env={"COLUMNS": "80"})


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    write_log(folder / "1.eval", by_scores(planted(12, np.random.default_rng(1))))
    write_log(folder / "2.eval", [bracket("q1", "a", "b", "c")], task_id="T2")
    write_log(folder / "none" / "3.eval", [identical("q1", "ab")], task_id="T3")
    return folder


@pytest.mark.slow
def test_items(logs: Path) -> None:
    [one] = json.loads(run(str(logs), "--json", "--items", *FAST).stdout)["reviews"]
    assert len(one["items"]) == 12
    assert one["items"][0]["election"]["results"][0]["kemeny"]["optimal"] is True


def test_what_it_prints(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(logs)
    wrong_use(__file__, "peers.txt")
