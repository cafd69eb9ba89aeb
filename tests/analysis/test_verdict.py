"""The sentence at the head of a board, for boards whose truth is plain."""

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from tiebreak.analysis.standing import best_first
from tiebreak.analysis.strengths import StrengthRow, StrengthView
from tiebreak.analysis.trust import Trust
from tiebreak.analysis.verdict import BoardVerdict, board_verdict, model_pairs
from tiebreak.rankers import bootstrap_items, competition_ranks, normalized_borda
from tiebreak.rankers.pairwise_tests import separation
from tiebreak.reason import Reason

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


@pytest.mark.parametrize(
    ("orders", "said", "tiers"),
    [
        (
            MIXED,
            "a is first (p < .001 against each other model). b, c and d cannot be told apart on "
            "these 60 items.",
            ("a", "bcd"),
        ),
        (
            ["abcdef"] * 10 + ["afedcb"] * 10,
            "a is first (p < .001 against each other model). The other 5 cannot be told apart on "
            "these 20 items.",
            ("a", "bcdef"),
        ),
        (
            ["abc"] * 20,
            "a is first (p < .001 against each other model). All 3 models are told apart on these "
            "20 items.",
            ("a", "b", "c"),
        ),
        # 2 · (1 + 12) / 2¹²
        (["ab"] * 11 + ["ba"], "a is first (p ≤ .007 against b).", ("a", "b")),
        (
            ["abc"] * 11 + ["bac"] * 10,
            "a and b lead, in the order of their scores; these 21 items do not tell them apart. a "
            "is ahead of c (p < .001). The 3 models form 2 tiers.",
            ("ab", "c"),
        ),
        (
            ["abc"] * 7 + ["bca"] * 3,
            "a and b lead, in the order of their scores; these 10 items do not tell them apart. a "
            "is not told apart from c. The 3 models form 2 tiers.",
            ("ab", "c"),
        ),
        (
            ["ab", "ba"] * 10,
            "a and b cannot be told apart: their mean scores are equal; the order below is not a "
            "ranking.",
            ("ab",),
        ),
        (
            ["abc", "bca", "cab", "acb"] * 3,
            "No two of the 3 models can be told apart on these 12 items: the order below is not a "
            "ranking.",
            ("acb",),
        ),
        (
            ["a=b=c"] * 30,
            "No two of the 3 models can be told apart: their mean scores are equal; the order "
            "below is not a ranking.",
            ("abc",),
        ),
        (
            ["abc"],
            "Too few items: 1 cannot tell any two models apart, it takes at least 6; the order "
            "below is not a ranking.",
            ("abc",),
        ),
        ([], "No item could be ranked.", ()),
    ],
)
def test_who_is_first(orders: list[str], said: str, tiers: tuple[str, ...]) -> None:
    found = verdict(orders)
    assert str(found.sentence) == f"{said} {FINE.sentence!s}"
    assert found.tiers == tuple(map(tuple, tiers))


def test_one_model_alone() -> None:
    found = board_verdict(separation([[0.5]], [0]), ("a",), np.full((1, 1), 0.5), trust=FINE)
    assert str(found.sentence).startswith("There is nothing to compare: a alone is ranked.")
    assert found.tiers == (("a",),)


def test_many_models_are_counted_and_not_named() -> None:
    letters = "abcdefghijklmnopqrst"
    found = verdict([letters[n:] + letters[:n] for n in (0, 1, 2, 3)] * 10)
    assert len(str(found.sentence)) < 300
    assert "a lead" not in str(found.sentence)  # it is last in three of four items
    assert "The 20 models form" in str(found.sentence)


def test_native_scores_that_say_the_opposite() -> None:
    native = [[0.0, 1.0, 1.0, 1.0]] * 30 + [[1.0] * 4] * 30
    said = str(verdict(MIXED, native).sentence)
    assert "Judging puts a above b, native scores say the opposite (0.500 against 1.000)" in said
    assert "as of 3 pairs in all" in said
    assert "native" not in str(verdict(MIXED, native, judged=False).sentence)


def test_another_model_is_first_by_native_score() -> None:
    native = [[0.0, 1.0, 1.0, 1.0]] * 2 + [[1.0] * 4] * 58
    assert "By native score b is first (1.000; a: 0.967)." in str(verdict(MIXED, native).sentence)
    native = [[1.0, 0.0, 1.0, 1.0]] * 2 + [[1.0] * 4] * 58
    assert "native" not in str(verdict(MIXED, native).sentence)


def test_second_views_that_name_another_first_model() -> None:
    def view(method: Any, first: str) -> StrengthView:
        rows = (StrengthRow(1, first, 1.0, 0.0, 2.0), StrengthRow(2, "d", -1.0, -2.0, 0.0))
        return StrengthView(method, False, rows, 10, 10, 0, 0.95, 10, 0, None)

    both = [view("least_squares", "b"), view("bradley_terry", "b")]
    said = "By all matches at once (least squares and Bradley–Terry) b is first."
    assert said in str(verdict(MIXED, views=both).sentence)
    same = [view("least_squares", "a"), view("bradley_terry", "a")]
    assert "all matches" not in str(verdict(MIXED, views=same).sentence)


def test_what_a_sequential_test_decided_is_said() -> None:
    decided = "A sequential test stopped the run when the ranking was decided (error rate 5%)."
    assert f"60 items. {decided} " in str(verdict(MIXED, decided=decided).sentence)


def graded(scores: ArrayLike) -> BoardVerdict:
    """A board of grades, the models' columns in order."""
    table = np.asarray(scores, dtype=np.float64)
    n_models = table.shape[1]
    native = np.full(table.shape, math.nan)
    return board_verdict(
        separation(table, range(n_models)), "abcdef"[:n_models], native, trust=FINE
    )


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        (
            [0.95, 0.9],
            "a and b cannot be told apart on these 20 items: the order below is not a ranking. Too "
            "few items to test 1 pair: a failure too rare to show in 20 items could turn the lead "
            "round.",
        ),
        (
            [0.95, 0.9, 0.5],
            "a and b lead, in the order of their scores; these 20 items do not tell them apart. a "
            "is ahead of c (p < .001). The 3 models form 2 tiers. Too few items to test 1 pair: a "
            "failure too rare to show in 20 items could turn the lead round.",
        ),
    ],
)
def test_too_few_items_for_rare_failures(levels: list[float], said: str) -> None:
    noise = 0.01 * np.sin(np.arange(20 * len(levels))).reshape(20, -1)
    assert str(graded(np.array(levels) + noise).sentence) == f"{said} {FINE.sentence!s}"


def test_near_duplicates_leave_the_others_apart() -> None:
    rng = np.random.default_rng(1)
    full = rng.random((100, 6)) < [0.98] * 4 + [0.75, 0.65]
    found = graded(np.where(full, 1.0, rng.integers(0, 3, size=full.shape) / 3))
    assert found.tiers == (("a", "b", "c", "d"), ("e", "f"))


def test_pairs_have_the_names_of_the_models() -> None:
    scores = np.array([[0.0, 1.0, 0.5]] * 8)
    first, *_ = model_pairs(separation(scores, (1, 2, 0)), ("x", "y", "z"))
    assert (first.above, first.below, first.n_items) == ("y", "z", 8)
    assert first.difference == 0.5
    assert first.p == pytest.approx(2 / 2**8)
    assert first.apart is True


def test_other_rules_by_whom_they_put_first() -> None:
    """Of several that share the first place the first is named; rules with the same are joined."""
    found = verdict(
        ["abcd", "bacd"] * 4,
        firsts={
            "least_squares": ("d", "b"),
            "win_rate": ("b", "a"),  # a is among them
            "insertion": ("c",),
            "elimination": ("d",),
        },
    )
    assert (
        str(found.sentence)
        .split("of a", 1)[-1]
        .endswith(
            "Placed by least_squares or elimination, d stands first (rank --place least_squares). "
            f"Placed by insertion, c stands first (rank --place insertion). {FINE.sentence}"
        )
    )


def view(method: Any, *ranks: int) -> StrengthView:
    rows = tuple(StrengthRow(rank, "abc"[k], 0.0, 0.0, 0.0) for k, rank in enumerate(ranks))
    return StrengthView(method, False, rows, 9, 9, 0, 0.95, 10, 0, None)


@pytest.mark.parametrize(
    ("views", "said"),
    [
        ([view("least_squares", 1, 2, 3)], ""),
        ([view("least_squares", 1, 1, 3), view("bradley_terry", 2, 1, 1)],
         "By all matches at once (Bradley–Terry) b is first. "),
        ([view("least_squares", 3, 1, 1), view("bradley_terry", 3, 1, 2)],
         "By all matches at once (least squares and Bradley–Terry) b is first. "),
        ([view("least_squares", 3, 2, 1), view("bradley_terry", 3, 1, 2)],
         "By all matches at once (least squares) c is first. By all matches at once "
         "(Bradley–Terry) b is first. "),
    ],
)  # fmt: skip
def test_second_views_by_whom_they_put_first(views: list[StrengthView], said: str) -> None:
    plain = str(verdict(["abc"] * 8).sentence)
    first, _, trust = plain.partition(str(FINE.sentence))
    assert (
        str(verdict(["abc"] * 8, views=views).sentence) == f"{first}{said}{FINE.sentence!s}{trust}"
    )
