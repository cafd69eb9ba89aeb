"""Alignment from files: ranking logs or their report, and a CSV file by people."""

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from tests.analysis.peers.builders import read_panels, reviews
from tests.ranking_logs.builders import listed, write_log
from tests.tables.builders import write
from tiebreak.analysis.alignment import align, align_panels
from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.peers.review import peer_report
from tiebreak.rankers import Resampling
from tiebreak.tables import TableError, read_human_ranking

HOW = Resampling(level=0.9, draws=50, seed=2)


@pytest.mark.slow
def test_files_and_what_is_read_of_them_say_the_same(tmp_path: Path) -> None:
    panel = [reviews(f"q{k}", {"a": "abcd", "b": "badc", "x": "dcba"}) for k in range(3)]
    log = write_log(tmp_path / "peers.eval", panel)
    human = write(tmp_path / "arena.csv", "model,rank\na,1\nb,2\nc,3\nd,4\n")
    people = read_human_ranking(human)
    expected = align_panels(read_panels([log]), people, methods=["borda"], how=HOW)
    found = [
        align([str(log)], str(human), methods=["borda"], how=HOW),
        align([tmp_path], people, methods=["borda"], how=HOW),
        align(peer_report([log], how=HOW), human, methods=["borda"], how=HOW),
    ]
    for one in found:
        np.testing.assert_equal(asdict(one), asdict(expected))


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    log = write_log(tmp_path / "seal.eval", [listed("q1", None)])
    human = write(tmp_path / "arena.csv", "model,rank\na,1\nb,2\nc,3\n")
    with pytest.raises(TableError, match="does not exist"):
        align([log], tmp_path / "nothing.csv")
    with pytest.raises(AnalysisError, match="no item could be ranked"):
        align([log], human)
