import csv
import io
import json
from dataclasses import fields
from pathlib import Path

import pytest

from tests.report.builders import bracket, call, item, match, write_log
from tiebreak.report import (
    Leaderboard,
    LeaderboardRow,
    PositionBias,
    Receipt,
    as_dict,
    leaderboards,
    to_csv,
)


@pytest.fixture
def boards(tmp_path: Path) -> list[Leaderboard]:
    samples = [
        bracket("q1", 'm/"x", [bold]', "b", "c", calls=[call(cost=None)]),
        item("q1", [match("a", "b", None)], groups=(("a",), ("b",)), benchmark="mmlu"),
    ]
    return leaderboards([write_log(tmp_path / "r.eval", samples)])


def test_json_is_valid_and_has_the_documented_shape(boards: list[Leaderboard]) -> None:
    text = json.dumps(as_dict(boards), allow_nan=False)
    data = json.loads(text)
    assert (data["format"], data["version"]) == ("tiebreak/leaderboards", 1)
    first = data["leaderboards"][0]
    assert set(first) == {field.name for field in fields(Leaderboard)} | {"resolution_gain"}
    assert set(first["rows"][0]) == {field.name for field in fields(LeaderboardRow)}
    assert set(first["bias"]) == {field.name for field in fields(PositionBias)}
    assert set(first["receipt"]) == {field.name for field in fields(Receipt)}
    for key in [*first, *first["rows"][0], *first["bias"], *first["receipt"]]:
        assert f'"{key}"' in (as_dict.__doc__ or ""), f"{key} is not documented"


def test_undefined_numbers_are_null(boards: list[Leaderboard]) -> None:
    first = as_dict(boards)["leaderboards"][0]
    row = first["rows"][0]
    assert row["model"] == 'm/"x", [bold]'
    assert (row["borda"], row["lower"], row["rank_lower"]) == (1.0, None, None)
    assert first["bias"]["flip_rate"] is None
    assert first["receipt"]["cost"] is None
    assert first["resolution_gain"] is None


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


def test_csv_of_nothing_is_a_header() -> None:
    assert to_csv([]).startswith("benchmark,protocol,log,eval_id,n_items,rank,model,borda,")
    assert to_csv([]).count("\n") == 1
