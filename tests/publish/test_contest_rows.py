"""Rows of contests, whole, and which of a dataset's contests are the current ones."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.publish.test_contests import ERRORS, play, table_of
from tests.publish.test_latest import row
from tiebreak.analysis.consensus import Election, elect
from tiebreak.analysis.contests import contest_report
from tiebreak.publish import contests
from tiebreak.publish.contests import contest_manifest, contest_of, contest_rows, score_rows
from tiebreak.publish.latest import current, newest
from tiebreak.rankers.contests.expected_wins import CsdOptions
from tiebreak.tables import read_order

SCORES = "model,maths,code,law\nada,9,8,\nben,7,,1\ncleo,5,6,7\n"


def test_rows_of_scores(tmp_path: Path) -> None:
    """In the table's order, with the round that each benchmark is in; a hole stays one."""
    table = table_of(tmp_path, SCORES)
    rounds = read_order("law,maths", table.benchmarks)
    options: CsdOptions = {"iterations": 400, "missing": "worst"}
    contest = contest_of(contest_report(table, rounds, options=options))
    rows = score_rows(contest)
    assert {one["contest_id"] for one in rows} == {contest.contest_id}
    found = [(r["model"], r["benchmark"], r["round"], r["score"]) for r in rows]
    assert found[:2] == [("ada", "maths", 2, 9.0), ("ada", "code", None, 8.0)]
    assert found[3] == ("ben", "maths", 2, 7.0)
    assert found[5] == ("ben", "law", 1, 1.0)
    assert found[6:] == [
        ("cleo", "maths", 2, 5.0),
        ("cleo", "code", None, 6.0),
        ("cleo", "law", 1, 7.0),
    ]
    assert (found[2][:3], found[4][:3]) == (("ada", "law", 1), ("ben", "code", None))
    assert math.isnan(found[2][3])
    assert math.isnan(found[4][3])
    assert all(math.isnan(one["standard_error"]) for one in rows)
    assert contest.played == ("maths", "law")
    assert "In no round, so not used: code" in contest.notes


def test_standard_errors_stand_beside_the_scores(tmp_path: Path) -> None:
    errors = ERRORS.replace("ben,1,1,1,1", "ben,1,2,3,4")
    rows = score_rows(contest_of(play(table_of(tmp_path, errors=errors))))
    assert [one["standard_error"] for one in rows] == [1, 1, 1, 1, 1, 2, 3, 4, *[1] * 8]
    assert [one["round"] for one in rows] == [1, 2, 3, 4] * 4


def test_only_a_proven_order_is_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another machine may be quicker, and what is published never changes."""
    given: dict[str, Any] = {}

    def unproven(ballots: Any, methods: Any, **options: Any) -> Election:
        given.update(options, methods=methods)
        found = elect(ballots, methods, **options)
        assert found.kemeny is not None
        return replace(found, kemeny=replace(found.kemeny, optimal=False))

    report = play(table_of(tmp_path))
    usual = contest_of(report)
    monkeypatch.setattr(contests, "elect", unproven)
    contest = contest_of(report)
    assert given["time_limit"] == 120
    assert "dodgson" not in given["methods"]
    assert set(usual.election.consensuses) - set(contest.election.consensuses) == {"kemeny_young"}
    assert contest.left_out == (
        *usual.left_out,
        "kemeny_young: no result: no order was proven optimal in 120 s",
    )
    manifest = contest_manifest(contest)
    assert (manifest["proof"], manifest["notes"][-1]) == ([], contest.left_out[-1])
    assert contest_manifest(usual)["proof"] != []
    assert "kemeny_young" not in {one["method"] for one in contest_rows(contest)}
    assert contest.contest_id == usual.contest_id


def test_both_zeros_are_one(tmp_path: Path) -> None:
    table = table_of(tmp_path, errors=ERRORS)
    assert table.errors is not None
    zeros = [
        replace(
            table,
            scores=np.where(table.scores == 9, zero, table.scores),
            errors=np.where(np.eye(4) == 1, zero, table.errors),
        )
        for zero in (0.0, -0.0)
    ]
    first, second = (contest_of(play(one)).contest_id for one in zeros)
    assert first == second != contest_of(play(table)).contest_id


def test_the_rows_of_t_and_of_rounds(tmp_path: Path) -> None:
    """T by round where it differs; intervals and tiers are those of the first T alone."""
    report = play(table_of(tmp_path, errors=ERRORS), eliminate=(0, 1), performance_tiers=2)
    rows = [one for one in contest_rows(contest_of(report)) if one["method"] == "csd"]
    assert [one["eliminate"] for one in rows] == [0] * 4 + [1] * 4
    assert [one["n"] for one in rows] == [4] * 8
    for one in rows[:4]:
        assert one["tier"] in (1, 2)
        assert one["lower"] <= one["value"] <= one["upper"]
    for one in rows[4:]:
        assert one["tier"] is None
        assert not {"lower", "upper", "rank_lower", "rank_upper"} & one.keys()
    alone = contest_rows(contest_of(play(table_of(tmp_path))))
    assert not {"slope", "slope_error", "label", "lower"} & alone[0].keys()
    assert all(one["tier"] is None for one in alone if one["method"] == "csd")


def contest(name: str, benchmarks: str, model: str = "a") -> dict[str, Any]:
    return {"contest_id": name, "method": "csd", "model": model, "benchmarks": list(benchmarks)}


@pytest.mark.parametrize(
    ("contests", "kept"),
    [
        ([("new", "xy"), ("old", "xy")], ["new"]),
        ([("new", "xy"), ("old", "x")], ["new"]),
        ([("new", "x"), ("old", "xy")], ["new", "old"]),
        ([("new", "x"), ("mid", "y"), ("old", "xy")], ["new", "mid", "old"]),
        ([("new", "xy"), ("mid", "x"), ("old", "z")], ["new", "old"]),
        ([], []),
    ],
)
def test_current_contests(contests: list[tuple[str, str]], kept: list[str]) -> None:
    rows = [contest(name, played, model) for model in "ab" for name, played in contests]
    found = current(rows)
    assert [(one["contest_id"], one["model"]) for one in found] == [
        (name, model) for name in kept for model in "ab"
    ]


def test_the_newest_run_by_its_time_and_then_its_name() -> None:
    rows = [
        row("r2", "2026-01-01", model="a"),
        row("r1", "2026-01-02", model="b"),
        row("r3", "2026-01-02", model="c"),
        row("r0", "2026-01-03", model="d", judge="k"),
        row("r0", "2025-01-03", model="e", benchmark="arc"),
        row("r0", "2025-01-03", model="f", protocol="swiss"),
        # The same row twice is one.
        row("r3", "2026-01-02", model="c", value=0.75),
    ]
    for given in (rows, rows[::-1]):
        found = newest(iter(given))
        assert [one["model"] for one in found] == ["e", "c", "d", "f"]


def test_metrics_are_in_their_order_and_those_of_a_later_version_come_last() -> None:
    metrics = ["zeal", "native_score", "elo", "normalized_borda"]
    rows = [row("r", "t", metric=metric, judge=None) for metric in metrics]
    found = [one["metric"] for one in newest(rows)]
    assert found == ["normalized_borda", "native_score", "elo", "zeal"]


def test_a_contest_keeps_its_name(tmp_path: Path) -> None:
    """What was published under it is looked for under it by every later version."""
    plain, errors = table_of(tmp_path), table_of(tmp_path, errors=ERRORS)
    names = [contest_of(play(one)).contest_id for one in (plain, errors)]
    assert names == ["contest-1174eb930ffa3336", "contest-0ba7207f00c173b1"]
