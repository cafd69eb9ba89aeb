"""Panels: the arrays of a peer-review log, by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.analysis.peers.builders import identical, panel_of, read_panels, reviews
from tests.ranking_logs.builders import bracket, listed, write_log
from tiebreak.analysis.peers.panel import NoPeerReviewError
from tiebreak.candidates import PROTOCOL_KEY

NAN = np.nan


def test_arrays_by_hand(tmp_path: Path) -> None:
    native = {"a": 1.0, "b": 0.5, "c": None}
    of_q2: dict[str, Any] = {"models": "abc", "native": native, "aggregator": "borda"}
    panel = panel_of(
        tmp_path,
        identical("q1", "abc"),
        reviews("q2", {"a": "bc=a", "X1": "cb"}, shown={"a": "cab", "X1": "cba"}, **of_q2),
        reviews("q3", {"a": "ba", "X1": None}, groups=["bc"], shown={"a": "ab", "X1": "ba"}),
    )
    assert (panel.benchmark, panel.models, panel.own) == ("gsm8k", ("a", "b", "c"), (0, None))
    assert [one.name for one in panel.reviewers] == ["a", "X1"]
    assert (panel.item_ids, panel.items.tolist()) == (("q1", "q2", "q3"), [0, 1, 2])
    # Nobody was asked in q1, whose ballots cannot tell what the run would have asked for.
    assert panel.aggregator == "borda"
    nobody = [[NAN] * 3] * 2
    # In q3 the answers of b and c are one.
    ranks = [nobody, [[2, 1, 2], [NAN, 2, 1]], [[2, 1, 1], [NAN] * 3]]
    np.testing.assert_array_equal(panel.ranks, ranks)
    shown = [nobody, [[2, 3, 1], [3, 2, 1]], [[1, 2, 2], [2, 1, 1]]]
    np.testing.assert_array_equal(panel.shown, shown)
    np.testing.assert_array_equal(panel.native[1], [1, 0.5, NAN])


@pytest.mark.parametrize(("degree", "read"), [(3, 3), (None, None), ("3", None)])
def test_degree(tmp_path: Path, degree: object, read: int | None) -> None:
    assert panel_of(tmp_path, reviews("q1", {"a": "ab", "b": "ab"}), degree=degree).degree == read


def test_other_protocols_and_items_cut_short_are_passed_over(tmp_path: Path) -> None:
    cut = reviews("q3", {"a": "ab", "b": "ab"}, complete=False)
    items = [reviews("q1", {"a": "ab"}), reviews("q2", {"a": "ab", "b": "ba"}, models="ab"), cut]
    write_log(tmp_path / "1.eval", items)
    write_log(tmp_path / "2.eval", [bracket("q1", "a", "b", "c")], task_id="T2")
    [panel] = read_panels([tmp_path])
    assert panel.item_ids == ("q1", "q2")
    # A reviewer who was not asked in an item has no ranks there.
    np.testing.assert_array_equal(panel.ranks[:, 1], [[NAN, NAN], [2, 1]])


def test_without_any_peer_review(tmp_path: Path) -> None:
    write_log(tmp_path / "1.eval", [bracket("q1", "a", "b", "c")])
    write_log(tmp_path / "2.eval", [listed("q1", ["a", "b"])], task_id="T2")
    with pytest.raises(NoPeerReviewError, match=r"2 ranking logs[^\n]*\n.*model-role 'peers="):
        read_panels([tmp_path])
    cut = reviews("q1", {"a": "ab", "b": "ab"}, complete=False)
    said = {PROTOCOL_KEY: "peer_review"}
    path = write_log(tmp_path / "3.eval", [cut], status="error", metadata=said)
    with pytest.raises(NoPeerReviewError, match="run `inspect eval-retry "):
        read_panels([path])
