import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ranking_logs.builders import match
from tiebreak.scorers.ballots import Match
from tiebreak.scorers.match import CLOSE_MARGIN
from tiebreak.scorers.replies import RefineReply
from tiebreak.scorers.rubric import ChecklistItem
from tiebreak.scorers.seal import LONGEST_SNIPPET, closest, duplicate_of, item_of, next_id
from tiebreak.text import words_of


def item(id: str, description: str) -> ChecklistItem:
    return ChecklistItem(id=id, principle="P1", description=description)


LIST = [item("C1", "Checks all three arguments with isinstance"), item("C7", "Rejects floats")]


def test_duplicates_in_many_languages() -> None:
    """Pairs made up for this: near-identical ones, and others in the same form of words."""
    with (Path(__file__).parent / "item_pairs.csv").open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    found = Counter(
        (row["same"], duplicate_of(row["other"], [item("C1", row["one"])]) is not None)
        for row in rows
    )
    assert found == {("yes", True): 32, ("yes", False): 5, ("no", True): 3, ("no", False): 37}
    # Every language has its share of those that are found, and none is taken for another for want
    # of spaces.
    missed = Counter(
        row["language"]
        for row in rows
        if row["same"] == "yes" and not duplicate_of(row["other"], [item("C1", row["one"])])
    )
    assert max(missed.values()) <= 2
    assert {row["language"] for row in rows} == {"en", "de", "zh", "ja", "th", "ko", "hi", "ar"}


@given(st.text(min_size=1), st.text(min_size=1))
@settings(deadline=None)
def test_an_item_with_words_repeats_itself_and_the_rule_has_no_sides(one: str, other: str) -> None:
    if words_of(one):
        assert duplicate_of(one, [item("C1", one)]) == "C1"
    there, back = duplicate_of(one, [item("C1", other)]), duplicate_of(other, [item("C1", one)])
    assert there == back


def test_next_id_is_free() -> None:
    assert (next_id(LIST), next_id([item("C2", "x")]), next_id([])) == ("C3", "C3", "C1")


@pytest.mark.parametrize(
    ("snippet", "shown"),
    [
        ("y" * LONGEST_SNIPPET, "y" * LONGEST_SNIPPET),
        (f"\n {'y' * LONGEST_SNIPPET} \n", "y" * LONGEST_SNIPPET),
        (f"{'y' * (LONGEST_SNIPPET - 2)}  zz", f"{'y' * (LONGEST_SNIPPET - 2)} …"),
    ],
)
def test_an_example_is_shown_up_to_its_longest(snippet: str, shown: str) -> None:
    reply = RefineReply(
        principle_id="P1",
        description="x",
        differentiator="y",
        anchor_split="5 vs 4",
        higher_snippet=snippet,
        lower_snippet="no",
    )
    found = item_of(reply, "C9").demonstration
    assert found is not None
    assert found.levels == (("5", shown), ("4", "no"))
    # Half a pair shows nothing, whichever half it is.
    for half in ("higher_snippet", "lower_snippet"):
        assert item_of(reply.model_copy(update={half: ""}), "C9").demonstration is None


def test_the_closest_matches_of_a_round_are_refined_on() -> None:
    matches = [
        slotted("a", "b", 0.2, 0),
        slotted("c", "d", -0.1, 1),
        slotted("e", "f", 0.1, 2),
        slotted("g", "h", CLOSE_MARGIN, 3),
        slotted("i", "j", None, 4),
        slotted("k", "l", 0.0, 5, round=2),
    ]
    assert [(one.high, one.low) for one in closest(matches, 1)] == [("c", "d"), ("e", "f")]
    assert [one.high for one in closest(matches, 2)] == ["k"]
    assert closest(matches, 3) == []
    assert [one.high for one in closest([matches[3], matches[0]], 1)] == ["a"]


def slotted(high: str, low: str, margin: float | None, slot: int, round: int = 1) -> Match:
    return replace(match(high, low, margin, round=round), slot=slot)
