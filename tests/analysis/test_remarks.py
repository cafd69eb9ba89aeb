"""What is said beside a ranking: warnings and notes of small boards, as `expected/remarks.txt`."""

from collections.abc import Callable, Iterable

import numpy as np
import pytest

from tests.analysis.peers.builders import reviews
from tests.expected import check
from tests.ranking_logs.builders import bracket, by_native, graded, item, listed, match
from tiebreak.analysis.item_table import ItemTable, placed
from tiebreak.analysis.remarks import (
    lone_reviewer,
    media_note,
    notes,
    tie_warning,
    unscored_warning,
)
from tiebreak.rankers import Resampling, bootstrap_items
from tiebreak.reason import Reason
from tiebreak.scorers.ballots import Call, ItemBallots, Rule

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
    for warn, cases in warnings:
        lines += [f"{name}: {warn(items, rule)}\n" for name, (rule, items) in cases.items()]
    for name, items in NOTES.items():
        lines.append(f"{name}: {' | '.join(map(str, notes_of(items)))}\n")
    check(__file__, "remarks.txt", "".join(lines))


@pytest.mark.parametrize(
    ("ballots", "alone"),
    [
        ([{"a": "abc"}, {"a": "cba"}], "a"),
        ([{"a": "abc", "b": None}, {"a": "cba", "b": "c"}], "a"),
        # Ties compare, too; another one in another item is enough.
        ([{"a": None, "outsider": "a=b=c"}], "outsider"),
        ([{"a": "abc", "b": None}, {"a": None, "b": "ba"}], None),
        ([{"a": "abc", "b": "abc"}], None),
        ([{"a": None, "b": None}], None),
    ],
)
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
