"""What the checks of a judge come to, as sentences."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.analysis.peers.builders import reviews
from tests.cases import cases
from tests.expected import check
from tests.ranking_logs.builders import bracket, by_native, graded, item, listed, match
from tiebreak.analysis.item_table import ItemTable, placed
from tiebreak.analysis.judge.biases import Flips, Length, Position
from tiebreak.analysis.judge.figures import Correctness, Cycles, JudgeFigures
from tiebreak.analysis.remarks import (
    lone_reviewer,
    media_note,
    notes,
    tie_warning,
    unscored_warning,
)
from tiebreak.analysis.trust import length_gain, position_gain, trust_of
from tiebreak.rankers import Resampling, bootstrap_items
from tiebreak.rankers.intervals import Estimate
from tiebreak.reason import Reason
from tiebreak.scorers.ballots import Call, ItemBallots, Rule
from tiebreak.scorers.rules import RULES

NAN = math.nan
POSITION = Position("matches", Estimate(0.52, 0.46, 0.58, 309), n=309, p=0.5, enough=True)
FLIPS = Flips(
    "close",
    40,
    Estimate(0.3, 0.2, 0.4, 40),
    expected=0.3,
    both_first=6,
    both_second=6,
    p=1,
    coin_p=0,
)
LENGTH = Length(Estimate(0.01, -0.05, 0.07, 40), p=0.7, n_matches=300)
CYCLES = Cycles(Estimate(NAN, NAN, NAN, 0, Reason("no_triple")), 0, NAN)
CORRECTNESS = Correctness(Estimate(NAN, NAN, NAN, 0, Reason("no_verified_pair")), 0, 0, 0, 0)
FAIR = JudgeFigures(POSITION, FLIPS, LENGTH, CYCLES, 0.001, CORRECTNESS, replies=())
BOUND = replace(POSITION, rate=Estimate(0.92, 0.88, 0.95, 309), p=0.0)


LISTS = replace(FAIR, position=replace(POSITION, kind="lists", n=100))


def judge_of(figures: Mapping[str, Any]) -> JudgeFigures:
    """The fair judge with other figures of some checks."""
    changed = {name: figure for name, figure in figures.items() if name != "verified"}
    if "verified" in figures:
        n, n_against, p, enough = figures["verified"]
        share = Estimate(n_against / n, 0.0, 1.0, n)
        changed["correctness"] = Correctness(share, n, n_against, 0, 0, p=p, enough=enough)
    judge: JudgeFigures = with_figures(FAIR, changed)
    return judge


def with_figures(finding: Any, figures: Mapping[str, Any]) -> Any:
    """A dataclass with other figures; those of its parts are mappings."""
    parts = {
        name: with_figures(getattr(finding, name), figure) if isinstance(figure, dict) else figure
        for name, figure in figures.items()
    }
    return replace(finding, **parts)


def test_states_and_sentences() -> None:
    lines = []
    for name, (rule, figures) in cases(__file__, "judges").items():
        trust = trust_of(judge_of(figures), RULES[rule], unscored=None)
        assert bool(trust.reasons) == (trust.state == "doubtful")
        lines.append(f"{name}: {trust.state}: {trust.sentence}\n")
    check(__file__, "trust.txt", "".join(lines))


def test_replies_without_use_and_bound_reviewers_are_reasons() -> None:
    silent = [listed(f"q{k}", None if k < 5 else ["a", "b", "c"]) for k in range(20)]
    mute, bound = unscored_warning(silent, "listing"), Reason("reviewer_as_shown", reviewer="b")
    assert mute is not None
    trust = trust_of(LISTS, RULES["consensus"], unscored=mute, bound=[bound])
    assert trust.reasons == (bound, mute["clause"])
    assert trust.sentence == Reason("doubtful_reviewers", clauses=trust.reasons)


# --- What is said beside a ranking: warnings and notes of small boards, as `expected/remarks.txt`.


BY_MATCHES: list[Rule] = ["elimination", "least_squares", "win_rate", "insertion"]


def met(n_unscored: int, n_decided: int = 0, n_even: int = 0) -> list[ItemBallots]:
    """An item with so many matches of a and b."""
    margins = [None] * n_unscored + [0.5] * n_decided + [0.0] * n_even
    return [item("q", [match("a", "b", margin) for margin in margins])]


UNSCORED: dict[str, tuple[Rule, list[ItemBallots]]] = {
    # 5% is not more than 5%.
    "one of twenty": ("elimination", met(1, 19)),
    "no match": ("elimination", met(0)),
    **{f"unscored, {rule}": (rule, met(2, 18)) for rule in BY_MATCHES},
    "grades": (
        "grades",
        [graded("q", {"a": 0.5, "b": None, "c": 0.1}), graded("r", {"a": 0.5, "b": 0.2})],
    ),
    "lists": ("listing", [listed("q", [["a"], ["b"], ["c"]]), listed("r", None)]),
    "native": ("native", [by_native("q", {"a": None, "b": 1.0})]),
}
EVEN: dict[str, tuple[Rule, list[ItemBallots]]] = {
    f"{n_even} of {n_even + n_decided} even, {rule}": (rule, met(n_unscored, n_decided, n_even))
    for rule in [*BY_MATCHES, "grades"]
    for n_unscored, n_decided, n_even in [(3, 0, 0), (0, 2, 2), (5, 2, 3)]
}


def brackets(n: int, order: str = "abc", name: str = "q", **fields: str) -> list[ItemBallots]:
    return [bracket(f"{name}{k}", *order, **fields) for k in range(n)]


def tied(n: int) -> list[ItemBallots]:
    return [item(f"t{k}", groups=(("a", "b", "c"),)) for k in range(n)]


def beside(items: Iterable[ItemBallots], baselines: str) -> list[ItemBallots]:
    return [
        ballots.model_copy(update={"baseline": name})
        for ballots, name in zip(items, baselines, strict=True)
    ]


NOTES = {
    "all tied": tied(12),
    "all but one tied": [*brackets(1), *tied(12)],
    "one item, tied": tied(1),
    "nine that tell apart": [*brackets(9), *tied(5)],
    "ten that tell apart": [*brackets(10), *tied(5)],
    "baselines": [*beside(brackets(3), "cac"), *brackets(9, name="r")],
    "no seeding": [*brackets(12), *brackets(1, name="r", unseeded="no tiers")],
    "models in one item": [*brackets(12), *brackets(1, "dbe", "r")],
}


def notes_of(items: list[ItemBallots]) -> Iterable[Reason]:
    table = ItemTable.of(placed(items))
    bootstrap = bootstrap_items(table.borda, items=table.items, how=Resampling(draws=50))
    return notes(table, bootstrap, items)


def test_what_is_said() -> None:
    lines = []
    warnings: list[tuple[Callable[..., Reason | None], dict[str, tuple[Rule, list[ItemBallots]]]]]
    warnings = [(unscored_warning, UNSCORED), (tie_warning, EVEN)]
    for warn, boards in warnings:
        lines += [f"{name}: {warn(items, rule)}\n" for name, (rule, items) in boards.items()]
    for name, items in NOTES.items():
        lines.append(f"{name}: {' | '.join(map(str, notes_of(items)))}\n")
    check(__file__, "remarks.txt", "".join(lines))


def test_gains_in_points() -> None:
    assert "90 points (86 to 95)" in str(length_gain(Estimate(0.9, 0.86, 0.95, 40)))
    even = replace(POSITION, rate=replace(POSITION.rate, value=0.5))
    assert "first gains 0 points (-4 to 8)" in str(position_gain(even))
    assert "1 point;" in f"{length_gain(Estimate(0.01, NAN, NAN, 40))};"


@pytest.mark.parametrize(("ballots", "alone"), cases(__file__, "alone"))
def test_a_panel_of_which_one_alone_says_something(
    ballots: list[dict[str, str | None]], alone: str | None
) -> None:
    items = [reviews(f"q{k}", said, models="abc") for k, said in enumerate(ballots)]
    assert lone_reviewer(items) == (Reason("lone_reviewer", reviewer=alone) if alone else None)


def test_one_judge_that_lists_is_no_panel() -> None:
    assert lone_reviewer([listed("q", [["a"], ["b"], ["c"]])]) is None


@pytest.mark.parametrize(
    ("media", "n_calls", "told"),
    # Of identical answers nobody was asked.
    [("", 1, False), ("show", 1, False), ("mark", 1, True), ("mark", 0, False)],
)
def test_what_a_judge_was_not_shown(media: str, n_calls: int, told: bool) -> None:
    calls = (Call(kind="match", role="judge", model="j"),) * n_calls
    judged = item("q", [match("a", "b", 0.5)]).model_copy(update={"media": media, "calls": calls})
    [*said] = media_note([judged])
    assert bool(said) == told
    assert [note for note in notes_of([judged]) if note.kind in {one.kind for one in said}] == said


def test_no_ranked_item_needs_no_remark() -> None:
    empty = np.empty((0, 0))
    table = ItemTable((), (), np.empty(0, dtype=np.int64), empty, empty, empty)
    assert list(notes(table, bootstrap_items(empty), ())) == []
