"""Ballots as rows: each one once, and no word of a judge among them."""

import json
from dataclasses import replace
from pathlib import Path

from tests.analysis.peers.builders import reviews
from tests.publish.test_rows import run_of
from tests.ranking_logs.builders import call, item, match
from tiebreak.publish.tables import ballot_rows, table_of, text_rows
from tiebreak.scorers.ballots import (
    Criterion,
    ItemBallots,
    Refinement,
    Side,
    Tiering,
    Verdict,
    Vote,
)

WORDS = "words-of-a-judge"


def vote(side: Side, words: str = "") -> Vote:
    return Vote(vote=side, confidence=0.75, reasoning=words)


def wordy() -> ItemBallots:
    """An item with every kind of ballot, and words in every field that has room for some."""
    left = Verdict(
        first="b",  # the low one is shown on the left
        principles={"P1": vote("right", f"{WORDS} 1")},
        checklist={"C1": vote("tie", f"{WORDS} 2")},
        margin=-0.75,
        checklist_margin=0.0,
    )
    lost = Verdict(first="a", unscored="no JSON in the reply")
    played = replace(
        match("a", "b", 0.75), verdicts=(left,), discarded=(lost,), critique=f"{WORDS} 3"
    )
    refined = Refinement(
        round=1,
        slot=0,
        item_id="C2",
        principle_id="P1",
        description=f"{WORDS} 4",
        differentiator=f"{WORDS} 5",
        anchor_split="3 vs 2",
        higher_snippet=f"{WORDS} 6",
        lower_snippet=f"{WORDS} 7",
    )
    calls = [call("seed", model="j/seed"), call(), call("refine", model="j/meta")]
    written = Criterion(principle_id="P1", full=f"{WORDS} 8", half=f"{WORDS} 9", none=f"{WORDS} 10")
    return item("q0", [played], groups=(("a",), ("b",)), calls=calls).model_copy(
        update={
            "tiering": Tiering(tiers={"b": 2, "a": 1}, reasoning=f"{WORDS} 0"),
            "refinements": (refined, Refinement(round=1, slot=1, unscored="refused")),
            "criteria": (written,),
        }
    )


def test_words_of_judges_stand_apart(tmp_path: Path) -> None:
    """Planted into every field, they are in no column of the ballots and all in the other table."""
    run = run_of(tmp_path, wordy())
    ballots = table_of("ballots", ballot_rows(run)).to_pylist()
    assert WORDS not in json.dumps(ballots)
    texts = table_of("judge_texts", text_rows(run)).to_pylist()
    assert [(row["ballot"], row["about"], row["text"]) for row in texts] == [
        (0, "tiering", f"{WORDS} 0"),
        (1, "critique", f"{WORDS} 3"),  # once a match
        (1, "vote: P1", f"{WORDS} 1"),
        (1, "vote: C1", f"{WORDS} 2"),
        (3, "description", f"{WORDS} 4"),
        (3, "differentiator", f"{WORDS} 5"),
        (3, "higher_snippet", f"{WORDS} 6"),
        (3, "lower_snippet", f"{WORDS} 7"),
        (5, "marks: full", f"{WORDS} 8"),
        (5, "marks: half", f"{WORDS} 9"),
        (5, "marks: none", f"{WORDS} 10"),
    ]


def test_reviews(tmp_path: Path) -> None:
    secret = "m/c: Connection error at https://user:pw@host/v1 (ConnectError)"
    run = run_of(
        tmp_path,
        reviews("q0", {"a": "b=ac", "out": "abc", "c": None}, why=secret, shown={"a": "cab"}),
    )
    rows = table_of("ballots", ballot_rows(run)).to_pylist()
    assert [(row["judge"], row["candidate"], row["groups"]) for row in rows] == [
        ("m/a", "a", [["b", "a"], ["c"]]),
        ("m/out", None, [["a"], ["b"], ["c"]]),
        ("m/c", "c", []),
    ]
    assert rows[0]["shown"] == ["c", "a", "b"]
    assert rows[2]["unscored"] == "m/c: Connection error at (address) (ConnectError)"


def test_what_was_cut_short_is_there_but_does_not_count(tmp_path: Path) -> None:
    halfway = item("q1", [match("a", "b", 0.5)], complete=False)
    run = run_of(tmp_path, item("q0", [match("a", "b", 0.5)]), halfway)
    assert [(row["item_id"], row["counts"]) for row in ballot_rows(run)] == [
        ("q0", True),
        ("q1", False),
    ]
