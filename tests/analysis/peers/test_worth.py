"""What reviewers are worth: their records by hand, and planted reviewers that are not to trust."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.analysis.peers.builders import by_scores, identical, panel_of, reviews
from tests.analysis.peers.test_self_preference import planted
from tiebreak.analysis.peers.panel import (
    PanelWorth,
    largest_shift,
    panel_warnings,
    panel_worth,
)
from tiebreak.rankers import Resampling
from tiebreak.reason import Reason
from tiebreak.scorers.ballots import ItemBallots

HOW = Resampling(draws=200)


def worth_of(folder: Path, *items: ItemBallots, **task_args: object) -> PanelWorth:
    return panel_worth(panel_of(folder, *items, **task_args), HOW)


def in_order_shown(items: list[ItemBallots], who: str, *, backwards: bool) -> list[ItemBallots]:
    """The same with one reviewer who ranks answers in the order in which it was shown them."""
    changed = []
    for item in items:
        listings = []
        for one in item.listings:
            groups = tuple((m,) for m in one.shown[:: -1 if backwards else 1])
            mine = one.reviewer == who
            listings.append(one.model_copy(update={"groups": groups}) if mine else one)
        changed.append(item.model_copy(update={"listings": tuple(listings)}))
    return changed


def test_records_by_hand(tmp_path: Path) -> None:
    worth = worth_of(
        tmp_path,
        reviews("q1", {"a": "abc", "b": "ab", "X1": "ab=c"}, models="abc"),
        reviews("q2", {"a": "acb", "b": None, "X1": "ab"}, left_out={"X1": "c"},
                shown={"X1": "ab"}, models="abc"),
        reviews("q3", {"a": "ab", "b": None, "X1": "ab"}, groups=["ac"], why="no JSON"),
        reviews("q4", {"a": "cab", "b": None, "X1": None}, left_out={"X1": "cba"},
                shown={"X1": ""}, why="no JSON"),
        identical("q5", "abc"),
    )  # fmt: skip
    a, b, x = worth.reviewers
    assert [one.reviewer.candidate for one in (a, b, x)] == ["a", "b", None]
    # Three of four reviews by b are unscored, two of them for want of JSON.
    counts = [(r.n_questions, r.n_unscored) for one in (a, b, x) if (r := one.replies)]
    assert counts == [(4, 0), (4, 3), (4, 1)]
    assert [one.reason for one in (a, b, x)] == [None, "no JSON", "no JSON"]
    # b leaves c out, which it was shown. X1 was not: its ballot is complete as far as it goes.
    # In q3 one answer stands for a and c.
    assert [one.n_partial for one in (a, b, x)] == [0, 1, 0]
    assert [(one.n_cut, one.n_left_out) for one in (a, b, x)] == [(0, 0), (0, 0), (2, 4)]
    # a and b: τ 1 in q1. b and X1: 1 in q1. a and X1: 2 of √(3 · 2) in q1, where X1 ties b and c,
    # and 1 in q2 (a before b) and in q3 (a level with c).
    mean = (2 + 2 / 6**0.5) / 3
    assert worth.agreement.tau[[0, 1, 0], [1, 2, 2]] == pytest.approx([1, 1, mean])
    assert a.agreement.value == x.agreement.value == pytest.approx((1 + 3 * mean) / 4)
    assert b.agreement.value == 1
    assert worth.agreement.n_items.tolist() == [[4, 1, 3], [1, 1, 1], [3, 1, 3]]


def test_shifts_by_hand(tmp_path: Path) -> None:
    ballots = {"a": "abc", "b": "bca", "c": "bca", "X1": "abc", "X2": "abc"}
    worth = worth_of(tmp_path, *(reviews(f"q{k}", ballots) for k in range(3)))
    a, b, *_ = worth.reviewers
    # a before b and c by 3:2, b before c 5:0: abc. Without a 2:2: a is level, at 2 of 1.5 2 2.5.
    assert (a.shift, a.moved, a.first_changes) == (1, "a", True)  # It falls.
    assert (b.shift, b.moved, b.first_changes) == (0, None, False)
    # Against abc by the other four (3:1) b turns ab and ac round; against 1.5 2 2.5 of b, c, X1 and
    # X2 a turns b before a round, of the pairs ab and bc and ac.
    assert (b.distance.value, a.distance.value) == pytest.approx((2 / 3, 1 / 3))
    moving = largest_shift(worth.reviewers)
    assert moving is not None
    assert moving.reviewer.name == "a"


@pytest.mark.slow
@pytest.mark.parametrize("backwards", [False, True])
def test_a_reviewer_that_goes_by_place_is_found(tmp_path: Path, backwards: bool) -> None:
    items = by_scores(planted(40, np.random.default_rng(3)))
    worth = worth_of(tmp_path, *in_order_shown(items, "e", backwards=backwards))
    assert [one.presentation.bound for one in worth.reviewers] == [False] * 4 + [True]
    [warning] = map(str, panel_warnings(worth))
    way, tau = ("against the order shown", "-1") if backwards else ("in the order of", "1")
    assert warning.startswith(f"e ranks {way}")
    assert f"mean τ = {tau}.00 ({tau}.00 to {tau}.00), and exactly so in 100% of 40" in warning
    # And it agrees with nobody.
    assert abs(worth.reviewers[4].agreement.value) < 0.15
    assert min(one.agreement.value for one in worth.reviewers[:4]) > 0.15


def test_a_reviewer_that_fails_throughout(tmp_path: Path) -> None:
    ballots = {"a": "abc", "b": "acb", "c": None, "X1": "abc"}
    items = [reviews(f"q{k}", ballots, why="error: m/c: no such model") for k in range(12)]
    worth = worth_of(tmp_path, *items)
    failing = worth.reviewers[2]
    assert np.isnan([failing.agreement.value, failing.distance.value]).all()
    assert (failing.shift, failing.first_changes) == (0, False)
    assert worth.reviewers[0].agreement.value == pytest.approx((1 / 3 + 1) / 2)
    [warning] = map(str, panel_warnings(worth))
    assert "c gave no usable review in any of 12 items" in warning
    assert "error: m/c: no such model" in warning


@pytest.mark.slow
@pytest.mark.parametrize("n_bad", [1, 2])
def test_a_high_unscored_rate_is_warned_of(tmp_path: Path, n_bad: int) -> None:
    # 1 of 20 is 5%, which is tolerated.
    ballots = [{"a": "ab", "b": None if k < n_bad else "ba"} for k in range(20)]
    items = [reviews(f"q{k}", given, models="ab") for k, given in enumerate(ballots)]
    found = [*map(str, panel_warnings(worth_of(tmp_path, *items)))]
    assert len(found) == n_bad - 1
    assert all("2 of 20 reviews by b (10%)" in text for text in found)


def test_answers_left_out_are_warned_of(tmp_path: Path) -> None:
    shown = {"b": "ab"}
    items = [reviews(f"q{k}", {"a": "abc", "b": "ab"}, shown=shown,
                     left_out={"b": "c" if k else ""}) for k in range(3)]  # fmt: skip
    [warning] = panel_warnings(worth_of(tmp_path, *items))
    assert warning == Reason("answers_cut", reviewer="b", n=2, of=3, n_left_out=2)


def test_right_and_wrong_answers_tell_who_errs(tmp_path: Path) -> None:
    ballots = {"a": "abc", "b": "acb", "c": "cab", "X1": "bca"}
    items = [reviews(f"q{k}", ballots, native={"a": 1, "b": 0, "c": 0}) for k in range(3)]
    worth = worth_of(tmp_path, *items)
    assert [one.errors.value for one in worth.reviewers] == [0, 0, 0.5, 1]
    assert worth.errors.value == pytest.approx(1.5 / 4)
    # a before b by 3:1, a before c by 2:2.
    assert worth.majority_errors.value == 0.25
    assert str(worth.votes.reason) == "native scores tell answers apart in 3 items, and it takes 10"


def test_who_matters_most(tmp_path: Path) -> None:
    ballots = {"a": "abc", "b": "acb", "c": "cab"}
    reviewers = worth_of(tmp_path, reviews("q0", ballots)).reviewers
    shifts = [(1, False), (-1, True), (2, False), (0, False), (None, False)]
    one, two, three, none, unknown = (
        replace(reviewers[0], shift=shift, first_changes=first) for shift, first in shifts
    )
    assert largest_shift([one, two]) is two
    assert largest_shift([one, two, three]) is three
    assert largest_shift([none, unknown]) is None
