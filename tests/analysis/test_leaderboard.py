import math
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tests.analysis.peers.builders import identical, reviews
from tests.ranking_logs.builders import (
    bracket,
    by_native,
    call,
    graded,
    item,
    listed,
    match,
    sample,
    write_log,
)
from tiebreak.analysis.leaderboard import (
    Leaderboard,
    LeaderboardRow,
    leaderboards,
)
from tiebreak.rankers import Resampling
from tiebreak.reason import Reason
from tiebreak.scorers.ballots import ItemBallots


def board(folder: Path, *items: ItemBallots) -> Leaderboard:
    [only] = leaderboards([write_log(folder / "r.eval", items)], how=Resampling(draws=200))
    return only


def by_model(board: Leaderboard) -> dict[str, LeaderboardRow]:
    return {row.model: row for row in board.rows}


@pytest.mark.slow
def test_a_leaderboard_by_hand(tmp_path: Path) -> None:
    # Borda (3 - rank) / 2. q1: a 1, b .5, c 0. q2: a 1, c .5, b 0. q3: b 1, a .5, c 0.
    result = board(
        tmp_path,
        bracket("q1", "a", "b", "c", native={"a": 1.0, "b": 1.0, "c": 0.0}),
        bracket("q2", "a", "c", "b", native={"a": 1.0, "b": 0.0, "c": None}),
        bracket("q3", "b", "a", "c", native={"a": 0.0, "b": 1.0, "c": None}),
    )
    assert (result.benchmark, result.protocol, result.n_items) == ("gsm8k", "seal", 3)
    # Champion twice (one match each), then second: a beats c by 0.4 and loses to b by 0.2.
    assert [
        (row.rank, row.model, row.native_n, row.wins, row.losses, row.ties) for row in result.rows
    ] == [(1, "a", 3, 3, 1, 0), (2, "b", 3, 2, 2, 0), (3, "c", 1, 1, 3, 0)]
    assert [row.borda for row in result.rows] == pytest.approx([2.5 / 3, 1.5 / 3, 0.5 / 3])
    assert [row.native for row in result.rows] == pytest.approx([2 / 3, 2 / 3, 0])
    # a: q1 0.2, q2 0.2, q3 (0.4 - 0.2) / 2 = 0.1, so 0.5 / 3. c: q1 -0.4, q2 0.1, q3 -0.4.
    assert [row.margin for row in result.rows[::2]] == pytest.approx([0.5 / 3, -0.7 / 3])
    # Gaps of Borda 1/3, 1/3, 2/3; of native 0, 2/3, 2/3.
    assert (result.spread, result.native_spread) == pytest.approx((4 / 9, 4 / 9))
    assert result.resolution_gain == pytest.approx(1)
    assert all(row.lower <= row.borda <= row.upper for row in result.rows)
    assert sum(row.first_share for row in result.rows) == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize(("second", "rank_of_b"), [(-0.2, 2), (-0.6, 1)])
def test_equal_scores_go_by_margin_and_then_share_the_rank(
    tmp_path: Path, second: float, rank_of_b: int
) -> None:
    """Each model is once first and once last, so both have ½."""
    groups = (("a",), ("b",))
    items = [item(f"q{m}", [match("a", "b", m)], groups=groups) for m in (0.6, second)]
    result = board(tmp_path, *items)
    assert [(row.rank, row.model, row.borda) for row in result.rows] == [
        (1, "a", 0.5),
        (rank_of_b, "b", 0.5),
    ]


def test_ties_and_unscored_matches_are_told_apart(tmp_path: Path) -> None:
    # a: beats d, tie with b (a goes on). c: its match with b has no verdict.
    matches = [match("a", "d", 0.3), match("b", "c", None), match("a", "b", 0.0, round=2)]
    result = board(tmp_path, item("q1", matches, groups=(("a",), ("b",), ("c",), ("d",))))
    counts = {row.model: (row.wins, row.losses, row.ties, row.unscored_rate) for row in result.rows}
    assert counts == {
        "a": (1, 0, 1, 0.0),
        "b": (0, 0, 1, 0.5),
        "c": (0, 0, 0, 1.0),
        "d": (0, 1, 0, 0.0),
    }
    assert any("1 of 3 matches (33%)" in text for text in map(str, result.warnings))


def test_identical_answers_share_rank_and_matches(tmp_path: Path) -> None:
    # {a, b} beat c: ranks 1.5, 1.5, 3, so Borda (3 - 1.5) / 2 = 0.75 and 0.
    result = board(tmp_path, item("q1", [match("a", "c", 0.4)], groups=(("a", "b"), ("c",))))
    rows = [(row.model, row.rank, row.borda, row.wins, row.margin) for row in result.rows]
    assert rows == [("a", 1, 0.75, 1, 0.4), ("b", 1, 0.75, 1, 0.4), ("c", 3, 0.0, 0, -0.4)]


def test_all_answers_identical_costs_nothing_and_decides_nothing(tmp_path: Path) -> None:
    result = board(tmp_path, *(item(f"q{n}", groups=(("a", "b"),)) for n in range(2)))
    assert {
        (row.rank, row.borda, row.wins, row.losses, row.ties) for row in result.rows
    } == {(1, 0.5, 0, 0, 0)}  # fmt: skip
    row = result.rows[0]
    assert (result.receipt.n_items_without_call, result.judges) == (2, ())
    assert all(map(math.isnan, (row.unscored_rate, row.margin, result.judge.position.rate)))


def test_one_item_gives_no_interval_and_says_so(tmp_path: Path) -> None:
    """Epochs of an item are one cluster."""
    samples = [
        sample(bracket("q1", "a", "b", "c")).model_copy(update={"epoch": epoch})
        for epoch in (1, 2, 3)
    ]
    for kept in (samples[:1], samples):
        [result] = leaderboards([write_log(tmp_path / f"{len(kept)}.eval", kept)])
        row = result.rows[0]
        assert math.isnan(row.lower)
        assert (row.rank, row.rank_lower, row.rank_upper) == (1, None, None)
        assert (result.n_items, len(result.notes)) == (len(kept), 1)
        assert Reason("one_item_no_intervals") in result.notes


def test_items_without_a_ranking_are_listed_and_their_calls_paid(tmp_path: Path) -> None:
    good = bracket("good", "a", "b", "c", calls=[call(cost=1.0)])
    half = bracket("half", "a", "b", "c", calls=[call(cost=2.0)], complete=False)
    mute = item("mute", [match("a", "b", None)], groups=(("a",), ("b",), ("c",)))
    path = write_log(
        tmp_path / "r.eval", [good, half, mute, sample(None, "bare", error="boom")], expected=6
    )
    [result] = leaderboards([path])
    assert result.n_items == 1
    assert {one.item_id: one.reason for one in result.unranked} == {
        "half": "judging was cut short",
        "bare": "error: boom",
        "mute": "no match has a verdict (no JSON in the reply)",
    }
    assert result.receipt.cost == 3.0
    assert result.receipt.n_items_cut_short == 1
    # Matches of `mute` count: a played 1 + 1 of which 1 unscored.
    assert by_model(result)["a"].unscored_rate == 0.5
    assert any(note.startswith("2 of 6 items judged") for note in map(str, result.notes))


def test_a_log_without_a_ranked_item_gives_an_empty_leaderboard(tmp_path: Path) -> None:
    path = write_log(
        tmp_path / "r.eval", [sample(None, "q1", error="boom")], status="error", expected=9
    )
    [result] = leaderboards([path])
    assert (result.rows, result.n_items, result.benchmark) == ((), 0, "candidates")
    assert math.isnan(result.spread)
    assert result.notes == (
        f"0 of 9 items judged (status: error); run `inspect eval-retry {path}`",
    )


def test_two_logs_of_one_benchmark_are_not_pooled(tmp_path: Path) -> None:
    write_log(tmp_path / "1.eval", [bracket("q1", "a", "b", "c")], eval_id="E1")
    write_log(tmp_path / "2.eval", [bracket("q1", "c", "b", "a")], eval_id="E2", task_id="T2")
    results = leaderboards([tmp_path])
    assert {(b.eval_id, Path(b.log).name, b.rows[0].model) for b in results} == {
        ("E1", "1.eval", "a"),
        ("E2", "2.eval", "c"),
    }


def test_native_scores_ask_nobody(tmp_path: Path) -> None:
    same = by_native("q2", {"a": 1.0, "b": 1.0, "c": 1.0}, groups=(("a", "b", "c"),))
    result = board(tmp_path, by_native("q1", {"a": 1.0, "b": 0.0, "c": None}), same)
    assert {row.model: row.borda for row in result.rows} == {"a": 0.75, "b": 0.25, "c": 0.5}
    assert (result.receipt.n_items_without_call, result.judges, result.warnings) == (0, (), ())


def test_points_by_hand(tmp_path: Path) -> None:
    # q1: a > b > c. q2: c has no points, so a and b alone are ranked: b 1, a 0. q3: one answer
    # with points is no ranking, but its points count.
    points = [(0.9, 0.5, 0.1), (0.2, 0.4, None), (0.4, None, None)]
    asked = [call("score")] * 3
    items = [
        graded(f"q{k}", dict(zip("abc", row, strict=True)), calls=asked)
        for k, row in enumerate(points)
    ]
    result = board(tmp_path, *items)
    assert (result.placed_by, result.n_items, result.views) == ("grades", 2, ())
    rows = {row.model: (row.borda, row.points, row.unscored_rate) for row in result.rows}
    assert rows["a"] == pytest.approx((0.5, 0.5, 0))
    assert rows["b"] == pytest.approx((0.75, 0.45, 1 / 3))
    assert rows["c"] == pytest.approx((0.0, 0.1, 2 / 3))
    assert "3 of 9 answers (33%) have no points" in str(result.warnings[0])
    assert (result.judge.replies[0].n_questions, result.judge.replies[0].n_unscored) == (9, 3)


def test_a_list_without_a_reply_ranks_nothing(tmp_path: Path) -> None:
    asked = {"calls": [call("list"), call("seed", model="s/other")]}
    items = listed("q1", [["b"], ["a", "c"]], **asked), listed("q2", None, **asked)
    result = board(tmp_path, *items)
    assert (result.placed_by, result.n_items, result.judges) == ("listing", 1, ("j/judge",))
    assert {row.model: row.borda for row in result.rows} == {"b": 1.0, "a": 0.25, "c": 0.25}
    assert np.isnan([result.rows[0].points, result.rows[0].unscored_rate]).all()
    assert "1 of 2 ranking calls (50%)" in str(result.warnings[0])


def test_a_peer_review_in_which_nobody_was_asked(tmp_path: Path) -> None:
    result = board(tmp_path, *(identical(f"q{n}", "abc") for n in range(2)))
    assert {row.borda for row in result.rows} == {0.5}
    assert not any("presentation" in warning for warning in map(str, result.warnings))


def test_reviewers_that_go_by_place_are_all_named(tmp_path: Path) -> None:
    """b as it was shown the answers, c against it, a by their worth: the quick way to see it."""
    items = []
    for n in range(12):
        drawn = ["".join(Random(f"{n}{name}").sample("abc", 3)) for name in "bc"]
        # c once not quite against it.
        turned = drawn[1][::-1] if n else drawn[1][1] + drawn[1][2] + drawn[1][0]
        ballots = {"a": "abc", "b": drawn[0], "c": turned}
        items.append(reviews(f"q{n}", ballots, shown={"b": drawn[0], "c": drawn[1]}))
    found = board(tmp_path, *items)
    said = ["b ranks in the order of presentation", "c ranks against the order shown"]
    assert list(map(str, found.trust.reasons)) == said
    assert tuple(warning["fault"] for warning in found.warnings[:2]) == found.trust.reasons
