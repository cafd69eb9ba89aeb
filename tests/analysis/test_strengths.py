import math
import sys
from itertools import combinations
from random import Random

import numpy as np
import pytest
from scipy.optimize import minimize

from tests.ranking_logs.builders import bracket, item, match
from tiebreak.analysis.strengths import BRADLEY_TERRY_DRAWS, StrengthView, strength_views
from tiebreak.rankers import Resampling
from tiebreak.reason import Reason
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.placement import results

MODELS = "abcd"


def round_robin(n_items: int, seed: int = 0, models: str = "abcd") -> list[ItemBallots]:
    """All pairs meet in every item; earlier letters win more often; some ties, some unscored."""
    random = Random(seed)
    margins = [None, 0.0, 0.5, 0.5, 0.5, 0.5, -0.5, -0.5]
    return [
        item(
            f"q{number}",
            [match(*pair, random.choice(margins)) for pair in combinations(models, 2)],
            groups=tuple((model,) for model in models),
        )
        for number in range(n_items)
    ]


def strengths(view: StrengthView) -> dict[str, float]:
    return {row.model: row.strength for row in view.rows}


def outcomes(items: list[ItemBallots]) -> list[tuple[str, str, float]]:
    return [one for own in items for one in results(own)]


def test_both_views_fit_best() -> None:
    """Least squares and the likelihood of Bradley–Terry, by a search of the whole space."""
    items = round_robin(12)
    won = [(MODELS.index(a), MODELS.index(b), result) for a, b, result in outcomes(items)]
    squares, odds = strength_views(items, how=Resampling(draws=20))

    def apart(s: np.ndarray) -> float:
        return math.fsum((2 * result - 1 - (s[a] - s[b])) ** 2 for a, b, result in won)

    def unlikely(s: np.ndarray) -> float:
        return math.fsum(
            result * math.log1p(math.exp(s[b] - s[a]))
            + (1 - result) * math.log1p(math.exp(s[a] - s[b]))
            for a, b, result in won
        )

    for view, loss in ((squares, apart), (odds, unlikely)):
        best = minimize(loss, np.zeros(4)).x
        assert [strengths(view)[m] for m in MODELS] == pytest.approx(best - best.mean(), abs=1e-4)
        assert (view.n_items, view.n_results) == (12, len(won))
        assert [row.rank for row in view.rows] == [1, 2, 3, 4]
        assert all(row.lower < row.strength < row.upper for row in view.rows)


def test_identical_answers_share_what_was_won() -> None:
    # {a, b} beat c: two results, and a tie of a and b.
    view, other = strength_views([item("q", [match("a", "c", 0.4)], groups=(("a", "b"), ("c",)))])
    assert view.n_results == 3
    # s_a = s_b = s, s_c = -2s, fitted to a margin of 1: 3s = 1.
    assert strengths(view) == pytest.approx({"a": 1 / 3, "b": 1 / 3, "c": -2 / 3})
    assert [(row.rank, row.model) for row in view.rows] == [(1, "a"), (1, "b"), (3, "c")]
    assert view.reason == Reason("one_item")
    assert math.isnan(view.rows[0].lower)
    # c never won: no finite strength.
    assert other.rows == ()


def test_what_keeps_bradley_terry_away_is_said_by_name() -> None:
    """In a bracket of three the first seed wins once and never loses.

    Names may look like columns, or like places in a sentence, and stand for no other number.
    """
    for names in (["x/1", "x/2", "x/3"], ["1", "{group}", "x/3"]):
        squares, odds = strength_views([bracket(f"q{n}", *names) for n in range(4)])
        assert [row.model for row in squares.rows] == names
        assert (odds.rows, odds.undefined) == ((), 0)
        said = f"models {names[0]} never lost to or tied with any of x/"
        assert str(odds.reason).startswith(said)


def test_models_that_never_met() -> None:
    pairs = [match("a", "b", 0.0), match("c", "d", 0.0)]
    for view in strength_views([item("q", pairs, groups=["a", "b", "c", "d"])]):
        assert view.rows == ()
        assert "never met any of" in str(view.reason)
        assert not any(digit in str(view.reason) for digit in "0123")


@pytest.mark.parametrize("limit", [1, 1000])
def test_without_convergence_the_limit_is_named(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tiebreak.rankers.strength._MAX_ITERATIONS", limit)
    monkeypatch.setattr("tiebreak.rankers.strength._TOLERANCE", -1.0)
    squares, odds = strength_views(round_robin(5), how=Resampling(draws=1))
    assert len(squares.rows) == 4
    assert odds.rows == ()
    assert odds.reason == f"Bradley–Terry did not converge in {limit} iterations"


def test_both_views_need_no_optional_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "evalica", None)
    views = strength_views(round_robin(5), how=Resampling(draws=10))
    assert [len(view.rows) for view in views] == [4, 4]


@pytest.mark.slow
def test_draws_without_strengths_are_counted() -> None:
    # b beats a in one item of three: 8 of 27 draws leave that item out, and one is that item alone.
    groups = (("a",), ("b",))
    items = [item(f"q{n}", [match("a", "b", 0.5 if n else -0.5)], groups=groups) for n in range(3)]
    _, odds = strength_views(items)
    assert odds.draws == BRADLEY_TERRY_DRAWS
    assert odds.undefined / odds.draws == pytest.approx(9 / 27, abs=0.12)
    assert str(odds.reason).startswith(f"{odds.undefined} of 200 draws of items")


def test_no_verdict_no_view() -> None:
    assert strength_views([]) == ()
    assert (
        strength_views([item("q", [match("a", "b", None)]), item("r", groups=[["a", "b"]])]) == ()
    )


def test_closure_adds_what_results_imply() -> None:
    # a > b > c: margins of 1 and 1 put a and c at ±1. "a beats c" by 1 draws them together: wins
    # minus losses (2, 0, -2) over three games each, as all pairs have met.
    items = [bracket("q", "a", "b", "c")]
    plain, closed = (strength_views(items, closure=closure)[0] for closure in (False, True))
    assert strengths(plain) == pytest.approx({"a": 1, "b": 0, "c": -1})
    assert strengths(closed) == pytest.approx({"a": 2 / 3, "b": 0, "c": -2 / 3})
    assert (plain.closure, closed.closure) == (False, True)
