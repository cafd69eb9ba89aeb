"""The rows of leaderboards and rankings: what stands in them, and that nothing undefined is 0."""

import io
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.publish.judged_runs import rows_in, run_of, sha256, write_both
from tests.ranking_logs.builders import bracket, call, graded, item, match, write_shards
from tests.ranking_logs.planted_votes import items_of, votes_of, write_votes
from tests.ranking_logs.test_newcomers import logs, play
from tiebreak.analysis import frames
from tiebreak.analysis.frames import item_ballots
from tiebreak.publish.runs import read_runs
from tiebreak.publish.tables import (
    ROWS_PER_GROUP,
    ballot_rows,
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
from tiebreak.scorers.ballots import Verdict, Vote


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
    orders = enumerate(("abc", "acb", "bac", "abc"))
    run = run_of(tmp_path, *(bracket(f"q{i}", *order) for i, order in orders))
    rows = rows_in(to_parquet(table_of("leaderboard", leaderboard_rows(run))))
    [board] = run.boards
    for column in ("lower", "upper", "rank_lower", "rank_upper", "rank", "unscored_rate"):
        expected = {row.model: getattr(row, column) for row in board.rows}
        assert by_model(rows, "normalized_borda", column) == expected
    for view in board.views:
        strengths = by_model(rows, f"{view.method}_strength", "value")
        assert strengths == {row.model: row.strength for row in view.rows}
    metrics = ("normalized_borda", "native_score", "least_squares_strength")
    assert {row["metric"] for row in rows} == {*metrics, "bradley_terry_strength"}
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


def test_an_unknown_price_is_null(tmp_path: Path) -> None:
    run = run_of(tmp_path, bracket("q0", "a", "b", "c", calls=[call(cost=1.0), call(cost=None)]))
    rows = rows_in(to_parquet(table_of("leaderboard", leaderboard_rows(run))))
    assert {row["cost"] for row in rows} == {None}
    # One item: nothing to resample, so there are no intervals, and none is made up.
    assert by_model(rows, "normalized_borda", "lower") == dict.fromkeys("abc")


def test_without_a_direction_no_ranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metric = Metric("mean_margin", "Mean margin of its matches", "−1 to 1", None)
    column = BoardColumn(("margin",), Column("Margin"), lambda row, board: number(row.margin))
    monkeypatch.setattr("tiebreak.publish.tables.COLUMNS", (column._replace(metric=metric),))
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
    expected = {
        "log_names": ["seal.eval"],
        "log_sha256": [sha256(log)],
        "eval_ids": ["E1"],
        "arguments": '{"swap": "close"}',
        **{"seed": 5, "prompts_sha256": "c" * 64, "tiebreak_version": "0.1.0"},
        **{"rubric": "math_reasoning", "run_id": run.run_id},
    }
    assert {name: row[name] for name in expected} == expected
    assert len(row["rubric_sha256"]) == 64


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


def test_ballots_are_those_of_a_second_reading(tmp_path: Path) -> None:
    """Of shards, of newcomers joined to the others, of people, and of models with new names."""
    principles = {"P1": Vote(vote="left", confidence=0.5)}
    verdict = Verdict(first="b", margin=0.5, principles=principles)
    match_of_two = replace(match("a", "b", 0.5), verdicts=(verdict, replace(verdict, first="a")))
    shards = [[item(f"q{n}", [match_of_two])] for n in range(3)]
    played = (play("full_pairwise", models, range(4)) for models in ("abc", "abcx"))
    votes = list(votes_of(items_of(4), ["ann", "ben"]))
    for paths in (
        write_shards(tmp_path / "shards", shards),
        logs(tmp_path, *played),
        [write_votes(tmp_path / "votes.db", items_of(4), votes)],
        [write_both(tmp_path / "renamed")],
    ):
        [run], _ = read_runs(paths, how=Resampling(draws=10))
        ballots = (sample.ballots for sample in run.again() if sample.ballots)
        again = [row for given in ballots for row, _ in item_ballots(given)]
        for row, other in zip(ballot_rows(run), again, strict=True):
            row |= frames.votes_of(row)
            assert {name: row[name] for name in other} == other | frames.votes_of(other)
