"""The rows of leaderboards and rankings: what stands in them, and that nothing undefined is 0."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.peers.builders import reviews
from tests.publish.judged_runs import rows_in, sha256, write_both
from tests.ranking_logs.builders import bracket, by_native, call, graded, item, match, write_log
from tiebreak.publish.runs import Run, read_runs
from tiebreak.publish.tables import (
    ROWS_PER_GROUP,
    leaderboard_rows,
    ranking_rows,
    schema,
    table_of,
    to_parquet,
)
from tiebreak.rankers import Resampling
from tiebreak.report.cells import number
from tiebreak.report.columns import METRICS, BoardColumn, Metric
from tiebreak.report.sheet import Column
from tiebreak.scorers.ballots import ItemBallots


def run_of(path: Path, *items: ItemBallots, **fields: Any) -> Run:
    [run], _ = read_runs(
        [write_log(path / "1.eval", list(items), **fields)], how=Resampling(draws=200)
    )
    return run


def by_model(rows: list[dict[str, Any]], metric: str, column: str) -> dict[str, Any]:
    return {row["model"]: row[column] for row in rows if row["metric"] == metric}


@pytest.mark.slow
def test_borda_by_hand(tmp_path: Path) -> None:
    # a is 1st, 1st, 3rd of three: Borda 1, 1, 0; b 2nd, 3rd, 1st: ½, 0, 1; c 3rd, 2nd, 2nd.
    run = run_of(
        tmp_path,
        bracket("q0", "a", "b", "c", calls=[call(cost=0.25), call("seed", cost=0.5, cached=True)]),
        bracket("q1", "a", "c", "b"),
        bracket("q2", "b", "c", "a"),
        item("q3", complete=False, calls=[call(cost=1.0)]),
    )
    rows = leaderboard_rows(run)
    borda = by_model(rows, "normalized_borda", "value")
    assert borda == pytest.approx({"a": 2 / 3, "b": 1 / 2, "c": 1 / 3})
    assert by_model(rows, "normalized_borda", "rank") == {"a": 1, "b": 2, "c": 3}
    assert by_model(rows, "normalized_borda", "n") == {"a": 3, "b": 3, "c": 3}
    first = rows[0]
    assert (first["n_items"], first["n_unranked"], first["n_calls"], first["n_cached"]) == (
        *(3, 1, 3, 1),
    )
    assert first["cost"] == 1.75  # 0.25 + 0.5 + 1.0: what was cut short was paid for as well
    assert (first["input_tokens"], first["output_tokens"]) == (300, 30)
    assert first["judge"] == "j/judge"
    assert {row["higher_is_better"] for row in rows} == {True}
    bounded = [row for row in rows if not math.isnan(row["lower"])]
    assert all(row["lower"] <= row["value"] <= row["upper"] for row in bounded)
    assert len(bounded) == 4 * 3


@pytest.mark.slow
def test_the_rows_say_what_the_board_says(tmp_path: Path) -> None:
    """Every number of the leaderboard comes back out of the file, for each metric."""
    run = run_of(
        tmp_path,
        *(bracket(f"q{i}", *order) for i, order in enumerate(("abc", "acb", "bac", "abc"))),
    )
    rows = rows_in(to_parquet(table_of("leaderboard", leaderboard_rows(run))))
    [board] = run.boards
    for mine in board.rows:
        [row] = [r for r in rows if (r["model"], r["metric"]) == (mine.model, "normalized_borda")]
        for column in ("lower", "upper", "rank_lower", "rank_upper", "rank"):
            assert row[column] == getattr(mine, column)
        assert row["unscored_rate"] == mine.unscored_rate
    for view in board.views:
        strengths = by_model(rows, f"{view.method}_strength", "value")
        assert strengths == {row.model: row.strength for row in view.rows}
    assert {row["metric"] for row in rows} == {
        *("normalized_borda", "native_score"),
        *("least_squares_strength", "bradley_terry_strength"),
    }
    assert {row["level"] for row in rows} == {0.95}


def test_native_scores_by_hand(tmp_path: Path) -> None:
    native = [{"a": 1.0, "b": 0.0, "c": None}, {"a": 1.0, "b": 1.0, "c": None}]
    run = run_of(
        tmp_path, *(bracket(f"q{i}", "c", "a", "b", native=own) for i, own in enumerate(native))
    )
    rows = leaderboard_rows(run)
    found = [row for row in rows if row["metric"] == "native_score"]
    assert [(row["model"], row["rank"], row["n"]) for row in found] == [
        *(("a", 1, 2), ("b", 2, 2), ("c", None, 0)),
    ]
    assert [row["value"] for row in found[:2]] == [1.0, 0.5]
    assert math.isnan(found[2]["value"])
    in_file = rows_in(to_parquet(table_of("leaderboard", rows)))
    assert by_model(in_file, "native_score", "value")["c"] is None
    [board] = run.boards
    assert by_model(rows, "native_score", "value")["a"] == board.rows[1].native


def test_points_and_unscored(tmp_path: Path) -> None:
    run = run_of(tmp_path, graded("q0", {"a": 0.9, "b": 0.5}), graded("q1", {"a": 0.7, "b": None}))
    rows = leaderboard_rows(run)
    assert by_model(rows, "mean_points", "value") == pytest.approx({"a": 0.8, "b": 0.5})
    assert by_model(rows, "mean_points", "unscored_rate") == {"a": 0.0, "b": 0.5}


def test_nobody_asked(tmp_path: Path) -> None:
    rows = leaderboard_rows(run_of(tmp_path, by_native("q0", {"a": 1.0, "b": 0.0})))
    assert {row["judge"] for row in rows} == {None}
    assert {row["n_calls"] for row in rows} == {0}


def test_an_unknown_price_is_null(tmp_path: Path) -> None:
    run = run_of(tmp_path, bracket("q0", "a", "b", "c", calls=[call(cost=1.0), call(cost=None)]))
    rows = rows_in(to_parquet(table_of("leaderboard", leaderboard_rows(run))))
    assert {row["cost"] for row in rows} == {None}
    # One item: nothing to resample, so there are no intervals, and none is made up.
    assert by_model(rows, "normalized_borda", "lower") == dict.fromkeys("abc")


def test_peer_review(tmp_path: Path) -> None:
    # Consensus of q0: a b c (all agree); of q1: b a c. Mean ranks: a 1.5, b 1.5, c 3.
    run = run_of(
        tmp_path,
        reviews("q0", {"a": "abc", "b": "abc", "c": "abc"}),
        reviews("q1", {"a": "bac", "b": "bac", "c": "bac"}),
    )
    rows = leaderboard_rows(run)
    assert by_model(rows, "mean_rank", "value") == {"a": 1.5, "b": 1.5, "c": 3.0}
    assert by_model(rows, "mean_rank", "rank") == {"a": 1, "b": 1, "c": 3}
    assert by_model(rows, "mean_rank", "higher_is_better") == dict.fromkeys("abc", False)
    kemeny = by_model(rows, "kemeny_rank", "value")
    assert kemeny["c"] == 3
    assert sorted(kemeny.values()) == [1, 2, 3]
    assert rows[0]["judge"] == "m/a, m/b, m/c"
    intervals = [row for row in rows if row["metric"] == "mean_rank" and row["model"] == "c"]
    assert intervals[0]["lower"] <= 3.0 <= intervals[0]["upper"]


def test_every_metric_has_a_direction() -> None:
    assert {name: metric.higher_is_better for name, metric in METRICS.items()} == {
        **dict.fromkeys(("normalized_borda", "mean_points", "native_score"), True),
        **dict.fromkeys(("least_squares_strength", "bradley_terry_strength"), True),
        **dict.fromkeys(("mean_rank", "kemeny_rank"), False),
    }


def test_a_figure_without_a_direction_ranks_no_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric = Metric("mean_margin", "Mean margin of its matches", "−1 to 1", None)
    column = BoardColumn(("margin",), Column("Margin"), lambda row, board: number(row.margin))
    monkeypatch.setattr("tiebreak.publish.tables.COLUMNS", (replace(column, metric=metric),))
    monkeypatch.setattr("tiebreak.publish.tables.METRICS", METRICS | {metric.name: metric})
    run = run_of(tmp_path, bracket("q0", "b", "a", "c"))
    rows = rows_in(to_parquet(table_of("leaderboard", leaderboard_rows(run))))
    margins = [row for row in rows if row["metric"] == "mean_margin"]
    assert [row["model"] for row in margins] == ["a", "b", "c"]
    assert {(row["rank"], row["higher_is_better"]) for row in margins} == {(None, None)}
    assert margins[1]["value"] > margins[0]["value"]


@pytest.mark.slow
def test_where_a_row_comes_from(tmp_path: Path) -> None:
    log = write_both(tmp_path, metadata={"tiebreak_prompts": "c" * 64, "seed": 5})
    [run], _ = read_runs([log], how=Resampling(draws=10))
    row = rows_in(to_parquet(table_of("leaderboard", leaderboard_rows(run))))[0]
    assert row["log_names"] == ["seal.eval"]
    assert row["log_sha256"] == [sha256(log)]
    assert row["eval_ids"] == ["E1"]
    assert json.loads(row["arguments"]) == {"swap": "close"}
    assert (row["seed"], row["prompts_sha256"], row["tiebreak_version"]) == (5, "c" * 64, "0.1.0")
    assert (row["rubric"], len(row["rubric_sha256"])) == ("math_reasoning", 64)
    assert row["run_id"] == run.run_id


def test_rankings_by_hand(tmp_path: Path) -> None:
    # a and b gave the same answer, which beat c's: ranks 1.5, 1.5, 3; Borda (3 − rank) / 2.
    twins = item("q0", [match("a", "c", 0.5)], groups=(("a", "b"), ("c",)))
    rows = rows_in(to_parquet(table_of("rankings", ranking_rows(run_of(tmp_path, twins)))))
    assert [
        (row["model"], row["rank"], row["normalized_borda"], row["tied_group"], row["margin"])
        for row in rows
    ] == [("a", 1.5, 0.75, 1, 0.5), ("b", 1.5, 0.75, 1, 0.5), ("c", 3.0, 0.0, 2, -0.5)]
    assert [row["judged_answer_of"] for row in rows] == ["a", "a", "c"]
    assert {row["n_models"] for row in rows} == {3}


def test_what_has_no_rank_has_no_row(tmp_path: Path) -> None:
    unscored = item("q1", [match("a", "b", None)])
    graded_once = graded("q2", {"a": 0.5, "b": 0.25, "c": None})
    run = run_of(tmp_path, bracket("q0", "a", "b", "c"), unscored, item("q3", complete=False))
    assert {row["item_id"] for row in ranking_rows(run)} == {"q0"}
    run = run_of(tmp_path / "points", graded_once)
    assert {row["model"] for row in ranking_rows(run)} == {"a", "b"}


def test_tables_are_small_groups_with_an_index() -> None:
    import io

    import pyarrow.parquet as pq

    rows = [
        {"run_id": "r", "benchmark": "b", "protocol": "p", "item_id": str(i), "input_hash": "h"}
        | {"repetition": 1, "ballot": i, "about": "x", "text": "y"}
        for i in range(ROWS_PER_GROUP + 1)
    ]
    table = table_of("judge_texts", rows)
    assert table.schema == schema("judge_texts")
    file = pq.ParquetFile(io.BytesIO(to_parquet(table)))
    assert file.num_row_groups == 2
    assert file.metadata.row_group(0).column(0).has_offset_index
