"""Pairs of an answer that passed and one that failed: counted by hand, and said on the board."""

import math
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from tests.cases import cases
from tests.ranking_logs.builders import all_pairs, call, graded, item, listed, match, write_log
from tests.report.showing import printed
from tiebreak.analysis.judge.figures import coin_p, correctness_of, cycles_of, judge_replies
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.reason import Reason
from tiebreak.report.sheets.leaderboard import board_sheet
from tiebreak.scorers.ballots import ItemBallots, Listing, Match, PointScore, Tiering

NATIVE = {"a": 1.0, "b": 0.0, "c": 1.0, "d": 0.5, "e": None}
GROUPS = [["a"], ["b"], ["c"], ["d"], ["e"]]


GRADES = {"a": 0.5, "b": 0.5, "c": 0.25, "d": 0.1}
LISTED = [(("b",), ("a", "d"), ("c",)), (("c", "b"), ("a",))]
UNUSABLE = Listing(unscored="no JSON", reviewer="z")
JUDGED: dict[str, tuple[str, list[Any], tuple[int, int, int]]] = {
    "won and lost": (
        "matches",
        [match("a", "b", 0.5), match("b", "c", 0.5), match("a", "c", -1)],
        (2, 1, 0),
    ),
    "a tie, and no verdict": ("matches", [match("b", "a", 0.0), match("b", "c", None)], (1, 0, 1)),
    "none that differ": ("matches", [match("d", "b", 0.5), match("a", "e", -0.5)], (0, 0, 0)),
    "grades": ("scores", [PointScore(candidate=c, score=s) for c, s in GRADES.items()], (2, 1, 1)),
    "lists": (
        "listings",
        [*(Listing(groups=g, reviewer="x") for g in LISTED), UNUSABLE],
        (4, 3, 1),
    ),
}


@pytest.mark.parametrize(("kind", "judged", "counts"), JUDGED.values(), ids=JUDGED)
def test_counts(kind: str, judged: list[Any], counts: tuple[int, int, int]) -> None:
    ballots = item("q", groups=GROUPS, native=NATIVE).model_copy(update={kind: judged})
    found = correctness_of([ballots])
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
    ("right", "wrong", "even", "prefers", "enough"), cases(__file__, "preferred")
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


# --- Replies.


def test_questions_by_judge() -> None:
    items = [
        # Two orders are two questions; the second match has no verdict. The repetition and the
        # repair are further tries of a question, no further questions.
        item(
            "q1",
            [match("a", "b", 0.3, second_order=0.1), match("b", "c", None)],
            calls=[call("seed", model="s/seeder"), *[call()] * 3, call(attempt=1, repair=True)],
        ),
        item("q2", [match("a", "b", 0.3)], calls=[call(model="j/other")]),
        listed("q3", None, calls=[call("list")]),
        graded("q4", {"a": 0.5, "b": None}, calls=[call("score", model="j/other")] * 2),
    ]
    mine, other = judge_replies(items)
    assert (mine.model, mine.n_questions, mine.n_unscored) == ("j/judge", 4, 2)
    assert (other.model, other.n_questions, other.n_unscored) == ("j/other", 3, 1)
    assert mine.unscored_rate.value == 0.5
    expected = binomtest(1, 3).proportion_ci(0.95, method="wilson")
    rate = other.unscored_rate
    assert (rate.lower, rate.upper) == pytest.approx((expected.low, expected.high))


def test_a_reply_that_a_repetition_replaced_is_no_question() -> None:
    first = match("a", "b", 0.3)
    again = replace(first, discarded=match("a", "b", None).verdicts)
    [judge] = judge_replies([item("q", [again], calls=[call(), call(attempt=1)])])
    assert (judge.n_questions, judge.n_unscored) == (1, 0)


def test_a_match_with_one_verdict_of_two_has_an_unusable_reply() -> None:
    first = match("a", "b", 0.3)
    half = replace(first, verdicts=(*first.verdicts, *match("a", "b", None).verdicts))
    [judge] = judge_replies([item("q", [half], calls=[call()] * 2)])
    assert (judge.n_questions, judge.n_unscored) == (2, 1)


def test_who_was_not_asked_owes_no_reply() -> None:
    """Without its rubric `fixed_rubric` asks for no points: all are unscored, by no judge."""
    items = [graded("q", {"a": None, "b": None}, calls=[call("rubric")])]
    assert judge_replies(items) == ()
    assert judge_replies([]) == ()


# --- Coin.


def tournament(item_id: str, names: str, *lost: str) -> ItemBallots:
    """The first of every pair by name wins, except in the pairs of `lost`."""
    played: list[Match] = [
        match(one, other, -0.3 if one + other in lost else 0.3)
        for one, other in combinations(names, 2)
    ]
    return item(item_id, played, groups=[[name] for name in names])


def test_cycles_that_cannot_be() -> None:
    even = item("q", [match("a", "b", 0.0), match("b", "c", 0.3), match("a", "c", 0.3)])
    assert cycles_of([even]).share.reason == Reason("no_triple")
    assert math.isnan(cycles_of([]).coin_p)


def test_cycles_of_random_tournaments_are_counted_as_by_brute_force() -> None:
    rng = np.random.default_rng(1)
    pairs = ["".join(pair) for pair in combinations("abcdef", 2)]
    for n in range(20):
        lost = {pair for pair in pairs if rng.random() < 0.5}
        cyclic = 0
        for a, b, c in combinations("abcdef", 3):
            wins = [a + b not in lost, b + c not in lost, a + c in lost]
            cyclic += len(set(wins)) == 1
        assert cycles_of([tournament(f"q{n}", "abcdef", *lost)]).share.value == cyclic / 20


@pytest.mark.slow
def test_a_coin_shows_no_evidence() -> None:
    rng = np.random.default_rng(2)
    pairs = ["".join(pair) for pair in combinations("abcde", 2)]
    found = [
        [
            tournament(f"q{n}", "abcde", *(pair for pair in pairs if rng.random() < 0.5))
            for n in range(20)
        ]
        for _ in range(300)
    ]
    alarms = [coin_p(items, cycles_of(items).coin_p) <= 0.01 for items in found]
    assert sum(alarms) <= 8  # 3 are expected


def test_a_judge_that_always_says_the_same_is_no_coin() -> None:
    items = [all_pairs(f"q{n}", "abc") for n in range(20)]
    # a wins its first match in all items: 2 · 2⁻²⁰, times three models; cycles have p = .25 or so.
    cycles = cycles_of(items).coin_p
    assert coin_p(items, cycles) == pytest.approx(2 * 3 * 2 * 2.0**-20)


def test_a_judge_that_goes_with_its_own_seeding_is_no_coin() -> None:
    # Every model is once the better seed, so no model wins more often than others.
    better = ["ab", "ba"] * 20
    items = [
        item(f"q{n}", [match(pair[0], pair[1], 0.3)], groups=[[pair[0]], [pair[1]]]).model_copy(
            update={"tiering": Tiering(tiers={pair[0]: 1, pair[1]: 2})}
        )
        for n, pair in enumerate(better)
    ]
    assert coin_p(items) == pytest.approx(2 * binom.sf(39, 40, 0.5))
    lots = [one.model_copy(update={"tiering": None}) for one in items]
    assert coin_p(lots) == 1.0


def test_the_better_tier_by_hand() -> None:
    """Pairs of models that meet once, so that no model shows anything: 10 of 11 for the better."""

    def met(number: int, margin: float | None, tiers: tuple[int, int]) -> ItemBallots:
        names = f"x{number}", f"y{number}"
        tiering = Tiering(tiers=dict(zip(names, tiers, strict=True)))
        one = item(f"q{number}", [match(*names, margin)], groups=[[name] for name in names])
        return one.model_copy(update={"tiering": tiering})

    seeded = [met(k, 0.4, (1, 2)) for k in range(9)] + [met(9, -0.4, (3, 2)), met(10, -0.4, (1, 4))]
    # A tie, no verdict and two of one tier are no evidence, and neither is an item without tiers.
    silent = [met(11, 0.0, (1, 2)), met(12, None, (1, 2)), met(13, -0.4, (2, 2))]
    without = met(14, -0.4, (1, 2)).model_copy(update={"tiering": None})
    p = binom.sf(9, 11, 0.5)
    assert coin_p([*seeded, *silent, without]) == pytest.approx(2 * p)
    # Of four p-values that are known the smallest, times four.
    assert coin_p([*seeded, *silent], 0.5, 0.001, math.nan) == pytest.approx(0.004)
    assert coin_p(silent) == 1
    assert math.isnan(coin_p([], math.nan))
    assert coin_p([], 0.25) == 0.25
    # Second orders alone decide; beside other evidence they take most of what may be in error,
    # but where there is a seeding.
    assert coin_p([], flips=0.25) == 0.25
    assert coin_p([without], 0.5, 0.004, flips=0.004) == pytest.approx(0.005)
    assert coin_p([without], 0.5, 0.0001, flips=0.1) == pytest.approx(0.0003 / 0.2)
    assert coin_p([*seeded, *silent], 0.5, 0.004, flips=0.004) == pytest.approx(5 * 0.004)


def test_of_a_model_the_first_match_of_each_item_counts() -> None:
    """a wins its first match of eight items and loses the next one; epochs are one item."""

    def one(number: int) -> ItemBallots:
        played = [match("a", f"x{number}", 0.3), match(f"y{number}", "a", 0.3)]
        return item(f"q{number}", played, groups=[["a"], [f"x{number}"], [f"y{number}"]])

    items = [one(number) for number in range(8)]
    p = 2 / 2**8  # of a; its 16 opponents met once each
    assert coin_p(items) == pytest.approx(17 * p)
    assert coin_p([*items, *items]) == pytest.approx(17 * p)


def test_a_model_that_every_list_puts_first_is_evidence() -> None:
    def listed(number: int, ranked: str) -> ItemBallots:
        listing = Listing(reviewer="r", shown=tuple("abc"), groups=tuple((one,) for one in ranked))
        one = item(f"q{number}", groups=[["a"], ["b"], ["c"]])
        return one.model_copy(update={"listings": (listing,)})

    # By sign flips the first and the last of twelve lists have p = 2 / 2¹², and there are three.
    always = [listed(number, "abc") for number in range(12)]
    assert coin_p(always) == pytest.approx(3 * 2 / 2**12)
    turns = [listed(number, "abcabc"[number % 3 : number % 3 + 3]) for number in range(12)]
    assert coin_p(turns) == 1
