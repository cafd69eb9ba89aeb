"""Data frames of ranking logs, against the leaderboards and the ballots themselves."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.analysis.peers.builders import reviews
from tests.ranking_logs.builders import (
    bracket,
    call,
    graded,
    item,
    listed,
    match,
    sample,
    skipped,
    write_log,
)
from tiebreak.analysis.frames import (
    BALLOTS,
    LEADERBOARD,
    RANKINGS,
    ballots_df,
    leaderboard_df,
    rankings_df,
)
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.rankers import Resampling
from tiebreak.ranking_logs import RankingLogError, read_ranking_logs

FRAMES: list[tuple[Callable[..., pd.DataFrame], Mapping[str, str]]] = [
    (leaderboard_df, LEADERBOARD),
    (rankings_df, RANKINGS),
    (ballots_df, BALLOTS),
]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Four protocols over two benchmarks; an item cut short, and items without a ranking."""
    folder = tmp_path_factory.mktemp("frames")
    write_log(
        folder / "seal.eval",
        [
            bracket("q1", "a", "b", "c", calls=[call("match", model="j/judge")]),
            bracket("q1", "c", "b", "a", benchmark="mmlu", native={"a": 0.0, "b": 1.0}),
            # b and c gave one answer, judged twice and lost.
            item("q3", [match("a", "b", 0.4, second_order=0.2)], groups=(("a",), ("b", "c"))),
            item("q4", [match("a", "b", None), match("a", "c", None, round=2)]),
            sample(item("q5", [match("a", "b", 0.4)], complete=False), error="it broke"),
            skipped("q6", 3, 4),
            sample(None, "q7", error="it broke"),
        ],
    )
    points = [graded("q1", {"a": 0.75, "b": None, "c": 0.25})]
    write_log(folder / "pointwise.eval", points, eval_id="E2", task_id="T2")
    lists = [listed("q1", ["b", "ca"]), listed("q2", None)]
    write_log(folder / "listwise.eval", lists, eval_id="E3", task_id="T3")
    panel = [reviews("q1", {"a": "abc", "b": "b=ac", "c": None})]
    write_log(folder / "peers.eval", panel, eval_id="E4", task_id="T4")
    return [folder]


@pytest.mark.parametrize(("frame", "columns"), FRAMES)
def test_columns_and_dtypes_are_those_that_are_documented(
    frame: Callable[..., pd.DataFrame], columns: Mapping[str, str], logs: list[Path], tmp_path: Path
) -> None:
    write_log(tmp_path / "a.eval", [sample(None, "q", error="it broke")])
    found, empty = frame(logs), frame([tmp_path])
    assert len(found) > 0
    assert len(empty) == 0
    for one in (found, empty):
        assert {name: str(kind) for name, kind in one.dtypes.items()} == dict(columns)


@pytest.mark.parametrize("frame", [frame for frame, _ in FRAMES])
def test_no_log(frame: Callable[..., pd.DataFrame], tmp_path: Path) -> None:
    with pytest.raises(RankingLogError, match="does not exist"):
        frame([tmp_path / "nowhere"])


@pytest.mark.slow
def test_leaderboards_row_for_row(logs: list[Path]) -> None:
    how = Resampling(level=0.9, draws=150, seed=3)
    rows = leaderboard_df(logs, how=how).to_dict("records")
    boards = leaderboards(logs, how=how)
    expected = [(board, row) for board in boards for row in board.rows]
    assert len(rows) == len(expected) == 5 * 3
    for found, (board, row) in zip(rows, expected, strict=True):
        assert (found["log"], found["eval_id"]) == (board.log, board.eval_id)
        assert (found["benchmark"], found["protocol"]) == (board.benchmark, board.protocol)
        assert (found["n_items"], found["level"]) == (board.n_items, 0.9)
        for name in ("rank", "model", "borda", "lower", "upper", *row.__slots__):
            value = getattr(row, name)
            missing = value is None or (isinstance(value, float) and math.isnan(value))
            assert pd.isna(found[name]) if missing else found[name] == value


@pytest.mark.slow
def test_the_rank_of_every_model_in_every_ranked_item(logs: list[Path]) -> None:
    frame = rankings_df(logs)
    expected = {
        (log.eval_id, item.benchmark, item.item_id, model): rank
        for log in read_ranking_logs(logs)
        for item, placement in log.ranked
        for model, rank in placement.ranks.items()
    }
    key = ["eval_id", "benchmark", "item_id", "model"]
    assert frame.set_index(key)["rank"].to_dict() == expected
    # By hand: two models that gave the answer that lost share ranks 2 and 3.
    q3 = frame[frame["item_id"] == "q3"].set_index("model")
    assert q3["rank"].to_dict() == {"a": 1.0, "b": 2.5, "c": 2.5}
    assert q3["normalized_borda"].to_dict() == {"a": 1.0, "b": 0.25, "c": 0.25}
    assert q3["judged_answer_of"].to_dict() == {"a": "a", "b": "b", "c": "b"}
    assert q3["tied_group"].to_dict() == {"a": 1, "b": 2, "c": 2}
    native = frame[frame["benchmark"] == "mmlu"].set_index("model")["native_score"]
    assert (native["a"], native["b"]) == (0.0, 1.0)
    assert np.isnan(native["c"])
    # The mean of an item's scores is the leaderboard's.
    for board in leaderboards(logs):
        mine = frame[(frame["eval_id"] == board.eval_id) & (frame["benchmark"] == board.benchmark)]
        for row in board.rows:
            own = mine[mine["model"] == row.model]["normalized_borda"]
            assert own.mean() == pytest.approx(row.borda, nan_ok=True)


@pytest.mark.slow
def test_a_row_for_every_verdict(logs: list[Path]) -> None:
    frame = ballots_df(logs)
    held = [one.ballots for log in read_ranking_logs(logs) for one in log.samples if one.ballots]
    counts = frame["kind"].value_counts().to_dict()
    assert counts == {
        "verdict": sum(len(match.verdicts) for item in held for match in item.matches),
        "points": sum(len(item.scores) for item in held),
        "listing": sum(len(item.listings) for item in held),
    }
    margins = [v.margin for item in held for match in item.matches for v in match.verdicts]
    found = frame[frame["kind"] == "verdict"]["margin"].tolist()
    assert sorted(x for x in found if not np.isnan(x)) == sorted(
        x for x in margins if x is not None
    )


@pytest.mark.slow
def test_what_a_verdict_says(logs: list[Path]) -> None:
    frame = ballots_df(logs)
    first, swapped = frame[frame["item_id"] == "q3"].to_dict("records")
    assert (first["left"], first["right"], first["margin"]) == ("a", "b", 0.4)
    assert (swapped["left"], swapped["right"], swapped["margin"]) == ("b", "a", -0.2)
    assert (first["winner"], first["ballot"], swapped["ballot"]) == ("a", 0, 1)
    assert (first["flipped"], first["counts"]) == (False, True)
    assert not frame[frame["item_id"] == "q5"]["counts"].any()
    assert (frame[frame["item_id"] == "q4"]["unscored"] == "no JSON in the reply").all()
    points = frame[frame["kind"] == "points"].set_index("candidate")
    assert points["score"].dropna().to_dict() == {"a": 0.75, "c": 0.25}
    assert points["unscored"].dropna().to_dict() == {"b": "no grades"}
    [order, none] = frame[frame["protocol"] == "listwise"].to_dict("records")
    assert order["groups"] == [["b"], ["c", "a"]]
    assert none["unscored"] == "no places"
    peers = frame[frame["protocol"] == "peer_review"].set_index("judge")
    assert peers["groups"].to_dict() == {
        "m/a": [["a"], ["b"], ["c"]],
        "m/b": [["b", "a"], ["c"]],
        "m/c": [],
    }
    seal = frame[(frame["protocol"] == "seal") & (frame["benchmark"] == "gsm8k")]
    assert seal["judge"].tolist() == ["j/judge"] * 2 + [pd.NA] * 5
