"""Pairs of an answer that passed and one that failed: counted by hand, and said on the board."""

import math
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binomtest

from tests.ranking_logs.builders import all_pairs, item, match, write_log
from tests.report.showing import printed
from tiebreak.analysis.judge.figures import correctness_of
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.report.sheets.leaderboard import board_sheet
from tiebreak.scorers.ballots import ItemBallots, Listing, PointScore

NATIVE = {"a": 1.0, "b": 0.0, "c": 1.0, "d": 0.5, "e": None}
GROUPS = [["a"], ["b"], ["c"], ["d"], ["e"]]


JUDGED = {
    "matches": (
        {"matches": [match("a", "b", 0.5), match("b", "c", 0.5), match("a", "c", -1)]},
        (2, 1, 0),
    ),
    "a tie, and no verdict": (
        {"matches": [match("b", "a", 0.0), match("b", "c", None)]},
        (1, 0, 1),
    ),
    "no two that differ": ({"matches": [match("d", "b", 0.5), match("a", "e", -0.5)]}, (0, 0, 0)),
    "grades": (
        {
            "scores": [
                PointScore(candidate=name, score=score)
                for name, score in {"a": 0.5, "b": 0.5, "c": 0.25, "d": 0.1}.items()
            ]
        },
        (2, 1, 1),
    ),
    "lists": (
        {
            "listings": [
                Listing(groups=(("b",), ("a", "d"), ("c",)), reviewer="x"),
                Listing(groups=(("c", "b"), ("a",)), reviewer="y"),
                Listing(unscored="no JSON", reviewer="z"),
            ]
        },
        (4, 3, 1),
    ),
}


@pytest.mark.parametrize(("judged", "counts"), JUDGED.values(), ids=JUDGED)
def test_counts(judged: dict[str, Any], counts: tuple[int, int, int]) -> None:
    found = correctness_of([item("q", groups=GROUPS, native=NATIVE).model_copy(update=judged)])
    assert (found.n, found.n_against, found.n_tied) == counts
    share = counts[1] / counts[0] if counts[0] else math.nan
    assert found.share.value == pytest.approx(share, nan_ok=True)
    assert math.isnan(found.share.lower)  # one item


@pytest.mark.parametrize("stratified", [True, False])
def test_the_board_says_it_with_and_without_the_guard(tmp_path: Path, stratified: bool) -> None:
    # a, then b, then c, says the judge; b failed.
    items = [
        all_pairs(f"q{n}", "abc", native={"a": 1.0, "b": 0.0, "c": 1.0}).model_copy(
            update={"passed": {"a": True, "b": False, "c": True}, "stratified": stratified}
        )
        for n in range(10)
    ]
    [board] = leaderboards([write_log(tmp_path / "r.eval", items)])
    assert [row.model for row in board.rows] == (["a", "c", "b"] if stratified else ["a", "b", "c"])
    what = "; in 10 items the guard places the passed ones first"
    assert (
        "Against the native score: of an answer that passed (1) and one that failed (0) the one "
        "that failed was preferred in 10 of 20 pairs (50%, 27–73%)"
        + (what if stratified else "; judging alone ranks them")
    ) in printed(board_sheet(board), 400)


def pairs(n_right: int, n_wrong: int, n_even: int = 0, *, cluster: str = "") -> list[ItemBallots]:
    """An item for every verified pair: the answer that passed won, lost, or was even."""
    margins = [0.5] * n_right + [-0.5] * n_wrong + [0.0] * n_even
    return [
        item(f"q{n}", [match("a", "b", margin)], groups=[["a"], ["b"]]).model_copy(
            update={"native": {"a": 1.0, "b": 0.0}, "cluster": cluster and f"{cluster}{n // 10}"}
        )
        for n, margin in enumerate(margins)
    ]


@pytest.mark.parametrize(
    ("right", "wrong", "even", "prefers", "enough"),
    [
        (100, 100, 0, "neither", True),
        (125, 75, 0, "passed", True),
        (75, 125, 30, "failed", True),
        (50, 30, 0, "neither", False),
        (0, 12, 0, "failed", True),
        (9, 0, 0, "neither", False),
        (0, 0, 50, "neither", False),
    ],
)
def test_which_answers_are_preferred(
    right: int, wrong: int, even: int, prefers: str, enough: bool
) -> None:
    correctness = correctness_of(pairs(right, wrong, even))
    assert (correctness.prefers, correctness.enough) == (prefers, enough)
    if right + wrong >= 10:
        exact = binomtest(right, right + wrong).pvalue
        assert correctness.p == pytest.approx(exact, rel=0.1, abs=0.001)


def test_items_of_one_question_count_as_one() -> None:
    alone, together = (correctness_of(pairs(0, 80, cluster=name)) for name in ("", "c"))
    assert alone.prefers == "failed"
    assert (together.prefers, together.enough) == ("neither", False)  # eight clusters
