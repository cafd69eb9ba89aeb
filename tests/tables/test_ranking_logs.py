"""Ranking logs as ballots: every ranked item is one, over the models."""

from pathlib import Path

import numpy as np
import pytest
from inspect_ai.log import EvalSample

from tests.ranking_logs.builders import bracket, item, match, sample, write_log
from tests.tables.builders import write
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.tables import TableError, read_ballots

Samples = list[EvalSample | ItemBallots]

LATER = "2026-02-02T00:00:00+00:00"


def test_items_are_ballots(tmp_path: Path) -> None:
    log = write_log(
        tmp_path / "a.eval",
        [
            bracket("q1", "a", "b", "c"),
            bracket("q1", "c", "b", "a", benchmark="mmlu"),
            bracket("q2", "c", "a", "b"),
            # b and c gave one answer, which lost to a's: they share places 2 and 3.
            item("q3", [match("a", "b", 0.4)], groups=(("a",), ("b", "c"))),
        ],
    )
    ballots, other = read_ballots(log)
    assert (ballots.name, other.name) == ("gsm8k · seal", "mmlu · seal")
    assert ballots.profile.names == ("a", "b", "c")
    np.testing.assert_array_equal(ballots.profile.ranks, [[1, 2, 3], [2, 3, 1], [1, 2.5, 2.5]])
    assert ballots.items == ("q1", "q2", "q3")
    assert {*ballots.reviewers} == {ballots.source}
    assert ballots.notes == ()


def test_two_judges_are_two_ballots_and_a_retry_is_one(tmp_path: Path) -> None:
    first: Samples = [bracket("q1", "a", "b", "c"), sample(None, "q2", error="it broke")]
    write_log(tmp_path / "1.eval", first, task_id="T1", eval_id="E1", status="error")
    retry = [bracket("q1", "a", "c", "b"), bracket("q2", "b", "c", "a")]
    write_log(tmp_path / "2.eval", retry, task_id="T1", eval_id="E2", created=LATER)
    other = [bracket("q1", "c", "b", "a")]
    write_log(tmp_path / "3.eval", other, task_id="T2", eval_id="E3", created=LATER)
    [ballots] = read_ballots(tmp_path)
    assert sorted(zip(ballots.items, map(tuple, ballots.profile.ranks.tolist()), strict=True)) == [
        ("q1", (1, 3, 2)),  # by the retry, no more by the run that it repeats
        ("q1", (3, 2, 1)),
        ("q2", (3, 1, 2)),
    ]
    assert not any("Items without a ranking" in note for note in ballots.notes)
    items, batch = ballots.batch()
    assert dict(zip(items, batch.shape[:1] * 2, strict=False)) == {"q1": 2, "q2": 2}


def test_what_could_not_be_ranked_is_said(tmp_path: Path) -> None:
    unscored = item("q3", [match("a", "b", None), match("a", "c", None, round=2)])
    broken = sample(None, "q2", error="it broke")
    bad = bracket("q4", "a", "b", "c").model_copy(update={"seeds": ("a", "b", "z")})
    write_log(tmp_path / "a.eval", [bracket("q1", "a", "b", "c"), broken, unscored, bad])
    write(tmp_path / "b.eval", "no zip file")
    [ballots] = read_ballots(tmp_path)
    assert ballots.items == ("q1",)
    said = "\n".join(ballots.notes)
    assert "left out: 3: 'q2' (error: it broke), 'q3' (no match has" in said
    assert "'q4' (its ballots" in said
    assert "b.eval cannot be read as an Inspect log" in said
    assert len(ballots.notes) == len(set(ballots.notes))
    write_log(tmp_path / "a.eval", [broken])
    with pytest.raises(TableError, match=r"a\.eval: no item could be ranked \(error: it broke"):
        read_ballots(tmp_path / "a.eval")


def test_no_ranking_log(tmp_path: Path) -> None:
    write(tmp_path / "votes.csv", "a,b\n1,2\n")
    with pytest.raises(TableError, match=r"No ranking log in .* given by name, not by folder"):
        read_ballots(tmp_path)
