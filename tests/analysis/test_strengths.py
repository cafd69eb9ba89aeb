import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from random import Random

import numpy as np
import pytest
from scipy.optimize import minimize

from tests.cases import cases
from tests.ranking_logs.builders import bracket, item, match
from tests.report.showing import printed, round_trip
from tiebreak.analysis.strengths import (
    BRADLEY_TERRY_DRAWS,
    Control,
    ControlView,
    StrengthView,
    control_view,
    markdown_counts,
    strength_views,
)
from tiebreak.candidates import CONTEST_KEY
from tiebreak.rankers import RankingError, Resampling
from tiebreak.ranking_logs.log import JudgedItem, placement_of
from tiebreak.reason import Reason
from tiebreak.report.json import json_ready
from tiebreak.report.sheet import Sheet
from tiebreak.report.sheets.leaderboard import control_section
from tiebreak.scorers.ballots import ItemBallots, Match
from tiebreak.scorers.placement import results

MODELS = "abcd"


FEW = Resampling(draws=2)


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
    # s_a = s_b = s, s_c = -2s, fitted to a margin of 1: 3s = 1.
    assert [(row.rank, row.model) for row in view.rows] == [(1, "a"), (1, "b"), (3, "c")]
    assert [row.strength for row in view.rows] == pytest.approx([1 / 3, 1 / 3, -2 / 3])
    assert (view.n_results, view.reason) == (3, Reason("one_item"))
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
    # Both views need no optional package.
    monkeypatch.setitem(sys.modules, "evalica", None)
    assert [len(view.rows) for view in strength_views(round_robin(5), how=FEW)] == [4, 4]
    monkeypatch.setattr("tiebreak.rankers.strength._MAX_ITERATIONS", limit)
    monkeypatch.setattr("tiebreak.rankers.strength._TOLERANCE", -1.0)
    squares, odds = strength_views(round_robin(5), how=FEW)
    assert (len(squares.rows), odds.rows) == (4, ())
    assert odds.reason == f"Bradley–Terry did not converge in {limit} iterations"


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
    silent = [item("q", [match("a", "b", None)]), item("r", groups=[["a", "b"]])]
    assert strength_views(silent) == ()
    with pytest.raises(RankingError):
        strength_views(round_robin(3), how=Resampling(level=2))


def test_closure_adds_what_results_imply() -> None:
    # a > b > c: margins of 1 and 1 put a and c at ±1. "a beats c" by 1 draws them together: wins
    # minus losses (2, 0, -2) over three games each, as all pairs have met.
    items = [bracket("q", "a", "b", "c")]
    plain, closed = (strength_views(items, closure=closure)[0] for closure in (False, True))
    assert strengths(plain) == pytest.approx({"a": 1, "b": 0, "c": -1})
    assert strengths(closed) == pytest.approx({"a": 2 / 3, "b": 0, "c": -2 / 3})
    assert (plain.closure, closed.closure) == (False, True)


# --- Strengths under control of length and style: what is read of a log, and what cannot be.


HOW = Resampling(draws=20)


@pytest.mark.parametrize(("text", "counts"), cases(__file__, "Markdown"))
def test_markdown_counts(text: str, counts: list[int]) -> None:
    assert [*markdown_counts(text)] == counts


def log(
    n_items: int = 60, *, taste: float = 0.9, lengths: bool = True, texts: bool = True
) -> list[JudgedItem]:
    """a, b, c and d are equally good; the later write more, and the longer wins at this rate."""
    random, found = Random(0), []
    for number in range(n_items):
        words = {model: random.randint(1, 40) * (k + 1) for k, model in enumerate("abcd")}
        answers = {m: "word " * n + "\n# Heading" * random.randint(0, 2) for m, n in words.items()}
        matches = []
        for one, other in combinations("abcd", 2):
            longer = len(answers[one]) > len(answers[other])
            matches.append(match(one, other, 0.5 if longer == (random.random() < taste) else -0.5))
        of_length = {m: len(text) for m, text in answers.items()} if lengths else {}
        judged = of_lengths(*matches, groups="abcd", name=f"q{number}", **of_length)
        metadata = {CONTEST_KEY: {"answers": answers}} if texts else {}
        found.append(replace(judged, metadata=metadata))
    return found


def by_name(view: ControlView) -> tuple[list[float], list[float]]:
    """By name: without, and with control."""
    one, other = (
        {row.model: row.strength for row in v.rows} for v in (view.uncontrolled, view.controlled)
    )
    return [one[model] for model in "abcd"], [other[model] for model in "abcd"]


@pytest.mark.parametrize("control", ["length", "style"])
def test_a_judge_that_likes_length(control: Control) -> None:
    found = control_view(log(), control, how=HOW)
    without, under = by_name(found)
    assert without == sorted(without)
    assert without[3] - without[0] > 1.5
    assert max(under) - min(under) < 0.8
    assert found.covariates[0].coefficient.value > 2
    assert found.covariates[0].twice[0] > 0.7
    assert found.controlled.n_results == found.uncontrolled.n_results == 360
    assert found.n_left_out == 0


def test_a_blind_judge() -> None:
    without, under = by_name(control_view(log(taste=0.5), "length", how=HOW))
    assert under == pytest.approx(without, abs=0.25)


def shown(view: ControlView) -> str:
    return " ".join(printed(Sheet(sections=(control_section(view),))).split())


def test_what_does_not_differ_is_said() -> None:
    found = control_view(log(), "style", how=HOW)
    _, headings, lists, bold = found.covariates
    assert [one.name for one in found.covariates] == ["length", "headings", "lists", "bold"]
    assert lists.n_differ == bold.n_differ == 0
    assert math.isnan(lists.coefficient.value)
    assert headings.n_differ > 100
    text = shown(found)
    assert "Answers that met do not differ in lists, bold" in text
    assert "the one twice as long wins" in text
    assert "with twice as many headings" in text
    assert round_trip(json_ready(found))["covariates"][2]["coefficient"]["value"] is None


@pytest.mark.parametrize(
    ("control", "reason"), [("length", "unknown_lengths"), ("style", "no_texts")]
)
def test_logs_that_do_not_hold_it(control: Control, reason: str) -> None:
    items = log(3, lengths=control != "length", texts=control != "style")
    found = control_view(items, control, how=HOW)
    assert (found.controlled.rows, found.uncontrolled.rows) == ((), ())
    assert found.controlled.reason == Reason(reason)
    assert found.n_left_out == 18
    assert str(found.controlled.reason) in shown(found)


def test_items_without_texts_are_in_neither_view() -> None:
    found = control_view([*log(40), *log(2, lengths=False)], "length", how=HOW)
    assert found.n_left_out == 12
    assert found.controlled.n_results == found.uncontrolled.n_results == 240
    assert "12 results left out of both" in shown(found)


def of_lengths(
    *played: Match, groups: Sequence[Sequence[str]], name: str = "q", **lengths: int
) -> JudgedItem:
    ballots = item(name, played, groups=groups).model_copy(
        update={"lengths": lengths, "placed_by": "win_rate"}
    )
    return JudgedItem(name, 1, ballots, placement=placement_of(ballots))


def test_identical_answers_are_tied_and_as_long() -> None:
    one = of_lengths(match("a", "c", 0.4), groups=("ab", "c"), a=10, c=30)
    found = control_view([one], "length", how=HOW)
    # a and b beat c, who never won; they are tied.
    assert (found.covariates[0].n_differ, found.controlled.n_results) == (2, 3)
    assert "a, b never lost to or tied with any of c" in str(found.controlled.reason)


def test_nothing_to_control_for() -> None:
    assert control_view([], "length", how=HOW).controlled.reason == Reason("no_verdict")
    same = of_lengths(match("a", "b", 0.4), groups="ab", a=10, b=10)
    found = control_view([same], "length", how=HOW)
    assert found.controlled.reason == "answers that met do not differ in length"
