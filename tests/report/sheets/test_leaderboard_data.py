import csv
import io
from dataclasses import fields
from pathlib import Path

import pytest

from tests.ranking_logs.builders import bracket, call, item, match, skipped, write_log
from tests.report.showing import round_trip
from tiebreak.analysis.judge.biases import Flips, Length, Position
from tiebreak.analysis.judge.figures import Correctness, Cycles, JudgeFigures, JudgeReplies
from tiebreak.analysis.leaderboard import Leaderboard, LeaderboardRow, leaderboards
from tiebreak.analysis.receipt import KindCalls, Receipt, Settled, Usage
from tiebreak.analysis.strengths import StrengthRow, StrengthView
from tiebreak.analysis.trust import Trust
from tiebreak.report.csv import text as csv_text
from tiebreak.report.json import keys_of
from tiebreak.report.sheets.leaderboard import columns_of, data_of, rows_of


def to_csv(boards: list[Leaderboard]) -> str:
    return csv_text(rows_of(boards), columns_of())


@pytest.fixture
def boards(tmp_path: Path) -> list[Leaderboard]:
    samples = [
        bracket("q1", 'm/"x", [bold]', "b", "c", calls=[call(cost=None)]),
        item("q1", [match("a", "b", None)], groups=(("a",), ("b",)), benchmark="mmlu"),
        skipped("q2", after=1, of=2),
    ]
    return leaderboards([write_log(tmp_path / "r.eval", samples)])


def test_json_is_valid_and_has_the_documented_shape(boards: list[Leaderboard]) -> None:
    data = round_trip(data_of(boards))
    assert (data["format"], data["version"]) == ("tiebreak/leaderboards", 2)
    first = data["leaderboards"][0]
    parts = {
        LeaderboardRow: first["rows"][0],
        StrengthView: first["views"][0],
        StrengthRow: first["views"][0]["rows"][0],
        JudgeFigures: first["judge"],
        Position: first["judge"]["position"],
        Flips: first["judge"]["flips"],
        Length: first["judge"]["length"],
        Correctness: first["judge"]["correctness"],
        Cycles: first["judge"]["cycles"],
        JudgeReplies: first["judge"]["replies"][0],
        Trust: first["verdict"]["trust"],
        Receipt: first["receipt"],
        KindCalls: first["receipt"]["kinds"][0],
        Usage: first["receipt"]["usage"][0],
        Settled: first["settled"],
    }
    assert set(first) == {field.name for field in fields(Leaderboard)} | {"resolution_gain"}
    for kind, part in parts.items():
        assert list(part) == keys_of(kind)
        assert f"`{kind.__name__}`" in (data_of.__doc__ or ""), f"{kind} is not documented"


def test_undefined_numbers_are_null(boards: list[Leaderboard]) -> None:
    first = data_of(boards)["leaderboards"][0]
    row = first["rows"][0]
    assert row["model"] == 'm/"x", [bold]'
    assert (row["borda"], row["lower"], row["rank_lower"]) == (1.0, None, None)
    assert first["judge"]["flips"]["rate"] is None
    assert first["receipt"]["cost"] is None
    assert first["resolution_gain"] is None
    assert first["judge"]["length"]["gain"] is None
    assert [view["rows"] == [] for view in first["views"]] == [False, True]


def test_csv_has_one_line_per_model_and_leaves_the_undefined_empty(
    boards: list[Leaderboard],
) -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(boards))))
    assert [row["model"] for row in rows] == ['m/"x", [bold]', "b", "c"]  # mmlu has no ranked item
    assert (rows[0]["rank"], rows[0]["borda"], rows[0]["lower"]) == ("1", "1.0", "")
    assert (rows[0]["benchmark"], rows[0]["protocol"], rows[0]["level"]) == (
        "gsm8k",
        "seal",
        "0.95",
    )
    # x beat b, b beat c: strengths 1, 0, -1 over one item. x never lost, so no finite log-odds.
    strengths = [float(row["least_squares_strength"]) for row in rows]
    assert strengths == pytest.approx([1, 0, -1])
    assert [row["least_squares_rank"] for row in rows] == ["1", "2", "3"]
    assert (rows[0]["least_squares_lower"], rows[0]["bradley_terry_rank"]) == ("", "")


def test_csv_of_nothing_is_a_header() -> None:
    assert to_csv([]).startswith("benchmark,protocol,log,eval_id,n_items,rank,model,borda,")
    assert to_csv([]).endswith(",bradley_terry_lower,bradley_terry_upper,bradley_terry_rank\n")
    assert to_csv([]).count("\n") == 1
