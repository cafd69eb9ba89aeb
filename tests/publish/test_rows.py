"""The rows of leaderboards and rankings: what stands in them, and that nothing undefined is 0."""

import io
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.publish.judged_runs import rows_in, run_of, sha256, write_both
from tests.ranking_logs.builders import bracket, call, item, match, write_shards
from tests.ranking_logs.planted_votes import items_of, votes_of, write_votes
from tests.ranking_logs.test_newcomers import logs, play
from tiebreak.analysis import frames
from tiebreak.analysis.frames import item_ballots
from tiebreak.publish.runs import read_runs
from tiebreak.publish.tables import (
    ROWS_PER_GROUP,
    ballot_rows,
    leaderboard_rows,
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
