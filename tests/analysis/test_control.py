"""Strengths under control of length and style: what is read of a log, and what cannot be."""

import math
from collections.abc import Sequence
from itertools import combinations
from random import Random

import pytest

from tests.ranking_logs.builders import item, match
from tests.report.showing import printed, round_trip
from tiebreak.analysis.strengths import Control, ControlView, control_view, markdown_counts
from tiebreak.candidates import CONTEST_KEY
from tiebreak.rankers import Resampling
from tiebreak.ranking_logs.log import JudgedItem, placement_of
from tiebreak.reason import Reason
from tiebreak.report.json import json_ready
from tiebreak.report.sheet import Sheet
from tiebreak.report.sheets.leaderboard import control_section
from tiebreak.scorers.ballots import Match

HOW = Resampling(draws=20)


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("", (0, 0, 0)),
        ("# A\n## B\n   ###### C\n", (3, 0, 0)),
        ("#tag\n####### seven\n    # code\nC # no", (0, 0, 0)),
        ("- a\n* b\n+ c\n  - d\n1. e\n10) f", (0, 6, 0)),
        ("-a\n--- \n1.5 is\n2024 - no", (0, 0, 0)),
        ("**a** and __b__ and *c*", (0, 0, 2)),
        ("** a ** 2**3\n**open\nend**", (0, 0, 0)),
        ("- **a**: b\n- **c**", (0, 2, 2)),
        ("# A\n```python\n# no\n- no\n**no**\n```\n# B", (2, 0, 0)),
        ("~~~~\n# no\n~~~\n# no\n~~~~\n# A", (1, 0, 0)),
        ("```\n# never closed", (0, 0, 0)),
    ],
)
def test_markdown_counts(text: str, counts: tuple[int, int, int]) -> None:
    assert markdown_counts(text) == counts


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
        ballots = item(f"q{number}", matches, groups=("a", "b", "c", "d")).model_copy(
            update={
                "placed_by": "win_rate",
                "lengths": {m: len(text) for m, text in answers.items()} if lengths else {},
            }
        )
        metadata = {CONTEST_KEY: {"answers": answers}} if texts else {}
        found.append(
            JudgedItem(f"q{number}", 1, ballots, placement=placement_of(ballots), metadata=metadata)
        )
    return found


def strengths(view: ControlView) -> tuple[list[float], list[float]]:
    """By name: without, and with control."""
    one, other = (
        {row.model: row.strength for row in v.rows} for v in (view.uncontrolled, view.controlled)
    )
    return [one[model] for model in "abcd"], [other[model] for model in "abcd"]


@pytest.mark.parametrize("control", ["length", "style"])
def test_a_judge_that_likes_length(control: Control) -> None:
    found = control_view(log(), control, how=HOW)
    without, under = strengths(found)
    assert without == sorted(without)
    assert without[3] - without[0] > 1.5
    assert max(under) - min(under) < 0.8
    assert found.covariates[0].coefficient > 2
    assert found.covariates[0].twice[0] > 0.7
    assert found.controlled.n_results == found.uncontrolled.n_results == 360
    assert found.n_left_out == 0


def test_a_blind_judge() -> None:
    without, under = strengths(control_view(log(taste=0.5), "length", how=HOW))
    assert under == pytest.approx(without, abs=0.25)


def shown(view: ControlView) -> str:
    return " ".join(printed(Sheet(sections=(control_section(view),))).split())


def test_what_does_not_differ_is_said() -> None:
    found = control_view(log(), "style", how=HOW)
    _, headings, lists, bold = found.covariates
    assert [one.name for one in found.covariates] == ["length", "headings", "lists", "bold"]
    assert lists.n_differ == bold.n_differ == 0
    assert math.isnan(lists.coefficient)
    assert headings.n_differ > 100
    text = shown(found)
    assert "Answers that met do not differ in lists, bold" in text
    assert "the one twice as long wins" in text
    assert "with twice as many headings" in text
    assert round_trip(json_ready(found))["covariates"][2]["coefficient"] is None


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


def of_lengths(*played: Match, groups: Sequence[Sequence[str]], **lengths: int) -> JudgedItem:
    ballots = item("q", played, groups=groups).model_copy(update={"lengths": lengths})
    return JudgedItem("q", 1, ballots, placement=placement_of(ballots))


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
