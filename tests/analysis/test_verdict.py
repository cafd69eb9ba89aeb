"""The sentence at the head of a board, for boards whose truth is plain."""

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from benchmarks.claims.worlds import (
    FAIR,
    Array,
    judged,
    length_loving,
    ranking_log,
    true_borda,
)
from tests.expected import check
from tests.ranking_logs.builders import item, match
from tiebreak.analysis.item_table import ItemTable
from tiebreak.analysis.judge.biases import length_of
from tiebreak.analysis.leaderboard import board_of
from tiebreak.analysis.standing import best_first
from tiebreak.analysis.strengths import StrengthRow, StrengthView
from tiebreak.analysis.trust import Trust
from tiebreak.analysis.verdict import BoardVerdict, at_equal_length, board_verdict, model_pairs
from tiebreak.demo.lab.planted import Traits
from tiebreak.rankers import bootstrap_items, competition_ranks, normalized_borda
from tiebreak.rankers.pairwise_tests import separation
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.reason import Reason
from tiebreak.scorers.ballots import ItemBallots

FINE = Trust("fine", Reason("trust", judges="judge", clauses=[Reason("graded_one_by_one")]))
# b, c and d in all orders, so none of them is before another.
MIXED = ["abcd", "acbd", "adbc", "abdc", "acdb", "adcb"] * 10


def verdict(orders: Sequence[str], native: ArrayLike | None = None, **fields: Any) -> BoardVerdict:
    """A board of items, each the models' letters best first, "=" between those that are tied."""
    models = tuple(sorted(set("".join(orders)) - {"="}))
    ranks = np.array([[rank(order, model) for model in models] for order in orders])
    borda = normalized_borda(ranks.reshape(len(orders), len(models)))
    scores = np.full(borda.shape, math.nan) if native is None else np.asarray(native, np.float64)
    order = best_first(competition_ranks(bootstrap_items(borda).score), models)
    found = board_verdict(separation(borda, order), models, scores, **{"trust": FINE} | fields)
    assert str(found.sentence).endswith(str(FINE.sentence))
    return found


def rank(order: str, model: str) -> float:
    """Tied models share their mean rank: in "a=bc" a and b have 1.5."""
    above = 0
    for group in re.findall(r"\w(?:=\w)*", order):
        tied = group.replace("=", "")
        if model in tied:
            return above + (len(tied) + 1) / 2
        above += len(tied)
    raise AssertionError(model)


CASES: dict[str, tuple[list[str], tuple[str, ...]]] = {
    "rest alike": (MIXED, ("a", "bcd")),
    "rest counted": (["abcdef"] * 10 + ["afedcb"] * 10, ("a", "bcdef")),
    "all apart": (["abc"] * 20, ("a", "b", "c")),
    # 2 · (1 + 12) / 2¹²
    "two apart": (["ab"] * 11 + ["ba"], ("a", "b")),
    "two lead": (["abc"] * 11 + ["bac"] * 10, ("ab", "c")),
    "two lead, one ahead of none": (["abc"] * 7 + ["bca"] * 3, ("ab", "c")),
    "two equal": (["ab", "ba"] * 10, ("ab",)),
    "two alike": (["ab"] * 6 + ["ba"] * 4, ("ab",)),
    "none apart": (["abc", "bca", "cab", "acb"] * 3, ("acb",)),
    "all tied": (["a=b=c"] * 30, ("abc",)),
    "one item": (["abc"], ("abc",)),
    "one item of two": (["ab"], ("ab",)),
    "nothing": ([], ()),
}


@pytest.mark.parametrize("name", CASES)
def test_tiers(name: str) -> None:
    orders, tiers = CASES[name]
    assert verdict(orders).tiers == tuple(map(tuple, tiers))


def kinds(found: BoardVerdict) -> list[str]:
    return [statement.kind for statement in found.sentence["statements"]]


def test_many_models_are_counted_and_not_named() -> None:
    letters = "abcdefghijklmnopqrst"
    found = verdict([letters[n:] + letters[:n] for n in (0, 1, 2, 3)] * 10)
    assert len(str(found.sentence)) < 300
    assert "a lead" not in str(found.sentence)  # it is last in three of four items
    assert "The 20 models form" in str(found.sentence)


def test_native_scores_that_say_the_opposite() -> None:
    native = [[0.0, 1.0, 1.0, 1.0]] * 30 + [[1.0] * 4] * 30
    scores = {"score": 0.5, "against": 1.0, "more": Reason("pairs_in_all", n=3)}
    opposite = Reason("native_against_judging", above="a", below="b", **scores)
    assert opposite in verdict(MIXED, native).sentence["statements"]
    assert kinds(verdict(MIXED, native, judged=False)) == kinds(verdict(MIXED))


def test_another_model_is_first_by_native_score() -> None:
    native = [[0.0, 1.0, 1.0, 1.0]] * 2 + [[1.0] * 4] * 58
    *_, first, _ = verdict(MIXED, native).sentence["statements"]
    assert (first.kind, first["model"], first["first"]) == ("first_by_native", "b", "a")
    assert (first["score"], first["against"]) == (1.0, pytest.approx(58 / 60))
    # Before trust stands what a sequential test decided.
    decided = Reason("settled_ranking")
    assert verdict(MIXED, decided=decided).sentence["statements"][-2] == decided
    native = [[1.0, 0.0, 1.0, 1.0]] * 2 + [[1.0] * 4] * 58
    assert kinds(verdict(MIXED, native)) == kinds(verdict(MIXED))


def graded(scores: ArrayLike) -> BoardVerdict:
    """A board of grades, the models' columns in order."""
    table = np.asarray(scores, dtype=np.float64)
    n_models = table.shape[1]
    native = np.full(table.shape, math.nan)
    return board_verdict(
        separation(table, range(n_models)), "abcdef"[:n_models], native, trust=FINE
    )


def near(levels: list[float]) -> FloatArray:
    """Scores of 20 items, hardly different from item to item."""
    return np.array(levels) + 0.01 * np.sin(np.arange(20 * len(levels))).reshape(20, -1)


@pytest.mark.parametrize(
    ("levels", "before"),
    [([0.95, 0.9], ["two_not_apart"]), ([0.95, 0.9, 0.5], ["lead_together", "first_is", "tiers"])],
)
def test_too_few_items_for_rare_failures(levels: list[float], before: list[str]) -> None:
    found = graded(near(levels))
    assert kinds(found) == [*before, "rare_failures", "trust"]
    assert Reason("rare_failures", n=1, n_items=20) in found.sentence["statements"]


def test_near_duplicates_leave_the_others_apart() -> None:
    rng = np.random.default_rng(1)
    full = rng.random((100, 6)) < [0.98] * 4 + [0.75, 0.65]
    found = graded(np.where(full, 1.0, rng.integers(0, 3, size=full.shape) / 3))
    assert found.tiers == (("a", "b", "c", "d"), ("e", "f"))


def test_pairs_have_the_names_of_the_models() -> None:
    first, *_ = model_pairs(separation([[0.0, 1.0, 0.5]] * 8, (1, 2, 0)), ("x", "y", "z"))
    assert (first.above, first.below, first.n_items, first.difference) == ("y", "z", 8, 0.5)
    assert first.p == pytest.approx(2 / 2**8)
    assert first.apart is True


def test_other_rules_by_whom_they_put_first() -> None:
    """Of several that share the first place the first is named; rules with the same are joined."""
    firsts = {
        "least_squares": ("d", "b"),
        "win_rate": ("b", "a"),  # a is among them
        "insertion": ("c",),
        "elimination": ("d",),
    }
    found = verdict(["abcd", "bacd"] * 4, firsts=firsts).sentence["statements"][-3:-1]
    both = ["least_squares", "elimination"]
    assert found == (
        Reason("placed_first", model="d", rules=both, rule="least_squares"),
        Reason("placed_first", model="c", rules=["insertion"], rule="insertion"),
    )


def view(method: Any, *ranks: int) -> StrengthView:
    rows = tuple(StrengthRow(rank, "abc"[k], 0.0, 0.0, 0.0) for k, rank in enumerate(ranks))
    return StrengthView(method, False, rows, 9, 9, 0, 0.95, 10, 0, None)


LEAST, ODDS = Reason("least_squares"), Reason("bradley_terry")


@pytest.mark.parametrize(
    ("views", "firsts"),
    [
        ([view("least_squares", 1, 2, 3)], []),
        ([view("least_squares", 1, 1, 3), view("bradley_terry", 2, 1, 1)], [("b", [ODDS])]),
        ([view("least_squares", 3, 1, 1), view("bradley_terry", 3, 1, 2)], [("b", [LEAST, ODDS])]),
        ([view("least_squares", 3, 2, 1), view("bradley_terry", 3, 1, 2)],
         [("c", [LEAST]), ("b", [ODDS])]),
    ],
)  # fmt: skip
def test_second_views_by_whom_they_put_first(
    views: list[StrengthView], firsts: list[tuple[str, list[Reason]]]
) -> None:
    before, trust = verdict(["abc"] * 8).sentence["statements"][:-1], FINE.sentence
    others = [Reason("first_by_matches", model=model, views=by) for model, by in firsts]
    assert verdict(["abc"] * 8, views=views).sentence["statements"] == (*before, *others, trust)


def test_texts() -> None:
    other = [[0.0, 1.0, 1.0, 1.0]]
    views = [view("least_squares", 3, 1, 2), view("bradley_terry", 3, 1, 2)]
    boards = {name: verdict(orders) for name, (orders, _) in CASES.items()} | {
        "native scores say the opposite": verdict(MIXED, other * 30 + [[1.0] * 4] * 30),
        "another by native scores": verdict(MIXED, other * 2 + [[1.0] * 4] * 58),
        "another by all matches": verdict(["abc"] * 8, views=views),
        "another by another rule": verdict(["abc"] * 8, firsts={"win_rate": ("b",)}),
        "rare failures": graded(near([0.95, 0.9])),
        "alone": board_verdict(separation([[0.5]], [0]), ("a",), np.full((1, 1), 0.5), trust=FINE),
    }
    texts = (
        str(Reason("verdict", statements=board.sentence["statements"][:-1]))
        for board in boards.values()
    )
    lines = (f"{name}: {text}\n" for name, text in zip(boards, texts, strict=True))
    check(__file__, "verdicts.txt", "".join(lines))


# --- What a board would say at equal length, in worlds of a judge whose preference is known.


HOW = Resampling(draws=20)


def drawn(traits: Traits, theta: list[float], better: float = 0.0) -> list[ItemBallots]:
    """All pairs of 150 items; half of the variance of lengths is a model's own."""
    rng = np.random.default_rng(5)
    return judged(
        rng, theta, 150, traits, protocol="full_pairwise", swap="never", longer_is_better=better
    )


def test_equal_models_are_equal_again_where_the_judge_likes_length() -> None:
    board = board_of(ranking_log(drawn(length_loving(0.8), [0.0] * 4)), how=HOW)
    changes = board.verdict.equal_length
    assert changes is not None
    apart = {(pair.above, pair.below) for pair in board.pairs if pair.apart}
    assert apart
    assert ({*changes.lost}, changes.n_apart) == (apart, len(apart))
    sentence = str(board.verdict.sentence)
    assert f"At equal length {len(apart)} of {len(apart)} pairs told apart do not hold" in sentence
    assert "sensitive to length (rank --control length)" in sentence
    assert board.trust.state == "fine"


def test_what_length_has_no_part_in_holds() -> None:
    board = board_of(ranking_log(drawn(length_loving(0.75), [1.6, 0.8, 0.0])), how=HOW)
    changes = board.verdict.equal_length
    assert changes is not None
    assert (changes.lost, changes.leader) == ((), None)
    assert "At equal length nothing changes" in str(board.verdict.sentence)
    # Without a gain nothing is said.
    board = board_of(ranking_log(drawn(FAIR, [1.0, 0.5, 0.0])), how=HOW)
    assert board.verdict.equal_length is None
    assert "length" not in str(board.verdict.sentence)


@pytest.mark.parametrize("likes", [0.6, 0.8])
def test_scores_come_near_to_those_of_a_judge_who_is_blind_to_length(likes: float) -> None:
    theta = [0.6, 0.4, 0.2, 0.0]
    items = drawn(length_loving(likes), theta)
    table = ItemTable.of(ranking_log(items).ranked)
    adjusted = scores_at_equal_length(table, items)
    truth = true_borda(theta, noise=FAIR.noise)
    before, after = (
        float(np.sqrt(np.mean((scores.mean(axis=0) - truth) ** 2)))
        for scores in (table.borda, adjusted)
    )
    assert after < 0.04
    assert after < 0.7 * before


def scores_at_equal_length(table: ItemTable, items: list[ItemBallots]) -> Array:
    """A second way: least squares on a dummy for every model and on length, all rows at once."""
    n, k = table.borda.shape
    lengths = np.array([[item.lengths[model] for model in table.models] for item in items])
    more = (lengths[:, :, None] - lengths[:, None, :]) / (lengths[:, :, None] + lengths[:, None, :])
    x = more.sum(axis=2) / (k - 1)
    design = np.column_stack([np.tile(np.eye(k), (n, 1)), x.ravel()])
    [*_, slope], *_ = np.linalg.lstsq(design, table.borda.ravel(), rcond=None)
    adjusted: Array = table.borda - slope * x
    return adjusted


def test_the_tests_are_those_of_the_adjusted_scores() -> None:
    items = drawn(length_loving(0.7), [1.2, 0.7, 0.2, 0.0], better=0.2)
    table = ItemTable.of(ranking_log(items).ranked)
    order = np.argsort(-table.borda.mean(axis=0)).tolist()
    tests = separation(table.borda, order)
    changes = at_equal_length(table, items, tests, length_of(items))
    adjusted = scores_at_equal_length(table, items)
    from scipy.stats import ttest_1samp

    lost = []
    for pair in tests.pairs:
        if pair.apart:
            leads = adjusted[:, pair.above] - adjusted[:, pair.below]
            if leads.mean() <= 0 or ttest_1samp(leads, 0).pvalue > 0.05:
                lost.append((table.models[pair.above], table.models[pair.below]))
    assert 0 < len(lost) < changes.n_apart
    assert set(changes.lost) == set(lost)


def test_answers_of_unknown_length_keep_their_scores() -> None:
    items = [
        item(f"q{number}", [match("a", "b", 1 if number % 3 else -1)], groups=[["a"], ["b"]])
        for number in range(30)
    ]
    table = ItemTable.of(ranking_log(items).ranked)
    tests = separation(table.borda, [0, 1])
    changes = at_equal_length(table, items, tests, length_of(items))
    assert (changes.lost, changes.leader) == ((), None)
