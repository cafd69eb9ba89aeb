import numpy as np
import pytest

from tests.analysis.peers.builders import reviews
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
from tiebreak.scorers.ballots import Call, ItemBallots, Match, Rule

BY_MATCHES: list[Rule] = ["elimination", "least_squares", "win_rate", "insertion"]


def one_item(*matches: Match) -> list[ItemBallots]:
    return [item("q", matches)]


def test_one_warning_per_missing_verdict_of_each_kind() -> None:
    unscored, scored = match("a", "b", None), match("a", "b", 0.2)
    # 5% is not more than 5%.
    assert unscored_warning(one_item(unscored, *[scored] * 19), "elimination") is None
    assert unscored_warning(one_item(), "elimination") is None
    warning = unscored_warning(one_item(*[unscored] * 2, *[scored] * 18), "elimination")
    assert str(warning) == (
        "2 of 20 matches (10%) have no verdict, and there the seeding decided. "
        "Most frequent reason: no JSON in the reply"
    )


@pytest.mark.parametrize(
    ("rule", "items", "text"),
    [
        ("least_squares", one_item(match("a", "b", None)), "1 of 1 match (100%) have no verdict"),
        ("win_rate", one_item(match("a", "b", None)), "and are left out"),
        ("insertion", one_item(match("a", "b", None)), "the newcomer was put behind the other"),
        (
            "grades",
            [graded("q", {"a": 0.5, "b": None, "c": 0.1}), graded("r", {"a": 0.5, "b": 0.2})],
            "1 of 5 answers (20%) have no points, and so no rank in their item. "
            "Most frequent reason: no grades",
        ),
        (
            "listing",
            [listed("q", [["a"], ["b"], ["c"]]), listed("r", None)],
            "1 of 2 ranking calls (50%) gave no ranking, and their items have none. "
            "Most frequent reason: no places",
        ),
        ("native", [by_native("q", {"a": None, "b": 1.0})], None),
    ],
)
def test_what_unscored_means_depends_on_the_rule(
    rule: Rule, items: list[ItemBallots], text: str | None
) -> None:
    warning = unscored_warning(items, rule)
    assert (warning is None) if text is None else (text in str(warning))
    # Only in a bracket is it the seeding that decides then.
    assert "seeding" not in str(warning)


@pytest.mark.parametrize("rule", BY_MATCHES)
@pytest.mark.parametrize(
    ("tied", "decided", "unscored", "said"),
    [(0, 0, 3, None), (2, 2, 0, None), (3, 2, 5, "In 3 of 5 matches (60%)")],
)
def test_mostly_even_votes_are_said(
    rule: Rule, tied: int, decided: int, unscored: int, said: str | None
) -> None:
    matches = [
        *(match("a", "b", 0.0) for _ in range(tied)),
        *(match("a", "b", 0.5) for _ in range(decided)),
        *(match("a", "b", None) for _ in range(unscored)),
    ]
    warning = tie_warning(one_item(*matches), rule)
    assert warning is None if said is None else said in str(warning)
    if said is not None:
        assert ("seed" in str(warning)) == (rule == "elimination")


def test_points_have_no_ties_of_matches() -> None:
    assert tie_warning(one_item(match("a", "b", 0.0)), "grades") is None


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
    items = [reviews(f"q{k}", one, models="abc") for k, one in enumerate(ballots)]
    expected = Reason("lone_reviewer", reviewer=alone) if alone else None
    assert lone_reviewer(items) == expected


def test_one_judge_that_lists_is_no_panel() -> None:
    assert lone_reviewer([listed("q", [["a"], ["b"], ["c"]])]) is None


def said_of(*items: ItemBallots) -> list[str]:
    table = ItemTable.of(placed(items))
    bootstrap = bootstrap_items(table.borda, items=table.items, how=Resampling(draws=50))
    return list(map(str, notes(table, bootstrap, items)))


def test_a_ranking_that_says_nothing() -> None:
    tied = [item(f"t{n}", groups=(("a", "b", "c"),)) for n in range(12)]
    assert said_of(*tied) == ["No item tells models apart, so this ranking says nothing"]
    one = said_of(bracket("q", "a", "b", "c"), *tied)
    assert one[0].startswith("Only 1 of 13 items tells models apart: the intervals are too narrow")
    both = said_of(tied[0])
    assert [text.split(":")[0].split(",")[0] for text in both] == [
        "No intervals",
        "No item tells models apart",
    ]


@pytest.mark.parametrize(
    ("media", "n_calls", "said"),
    [
        ("", 1, []),
        ("show", 1, []),
        ("mark", 1, ["1 of 1 item was judged without images or files of the question"]),
        ("mark", 0, []),  # identical answers: nobody was asked
    ],
)
def test_what_a_judge_was_not_shown(media: str, n_calls: int, said: list[str]) -> None:
    calls = (Call(kind="match", role="judge", model="j"),) * n_calls
    judged = item("q", [match("a", "b", 0.5)]).model_copy(update={"media": media, "calls": calls})
    assert list(map(str, media_note([judged]))) == said
    assert [one for one in said_of(judged) if "images" in one] == said


def test_no_ranked_item_needs_no_remark() -> None:
    empty = np.empty((0, 0))
    table = ItemTable((), (), np.empty(0, dtype=np.int64), empty, empty, empty)
    assert list(notes(table, bootstrap_items(empty), ())) == []


def test_a_baseline_and_seeding_without_a_reply() -> None:
    items = [bracket(f"q{n}", *"abc") for n in range(12)]
    assert said_of(*items) == []
    beside = [
        one.model_copy(update={"baseline": name}) for one, name in zip(items, "cac", strict=False)
    ]
    unseeded = bracket("r", *"abc", unseeded="no tiers")
    assert said_of(*beside, *items[3:], unseeded) == [
        "Scores are win rates against a, c, a tie counting ½; its own is ½",
        "In 1 of 13 items the seeding call gave no usable reply",
    ]


def test_models_in_one_item_have_no_interval() -> None:
    alone = bracket("r", "d", "b", "e")
    assert said_of(*(bracket(f"q{n}", *"abc") for n in range(12)), alone) == [
        "No interval for d, e: it needs at least two items"
    ]


@pytest.mark.parametrize(("n", "told"), [(9, True), (10, False)])
def test_ten_items_that_tell_models_apart_are_enough(n: int, told: bool) -> None:
    tied = [item(f"t{k}", groups=(("a", "b", "c"),)) for k in range(5)]
    found = said_of(*(bracket(f"q{k}", *"abc") for k in range(n)), *tied)
    warning = (
        f"Only {n} of {n + 5} items tell models apart: the intervals are too narrow (in "
        "simulation a 95% interval covered 93% with 10 such items, 91% with 5)"
    )
    assert found == ([warning] if told else [])
