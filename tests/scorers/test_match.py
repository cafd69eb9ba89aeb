"""Votes to margins, and verdicts to the result of a match, by hand and by property."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.scorers.ballots import DecidedBy, Side, Verdict, Vote
from tiebreak.scorers.bracket import Pairing
from tiebreak.scorers.match import Layer, checklist_margin, decide, principle_margin, settle
from tiebreak.scorers.rubric import ChecklistItem

PAIRING = Pairing(1, 0, "high", "low")


def shown(first: str, margin: float | None, checklist: float = 0.0) -> Verdict:
    if margin is None:
        return Verdict(first=first, unscored="it is empty")
    return Verdict(first=first, margin=margin, checklist_margin=checklist)


CASES: list[tuple[str, list[Verdict], str, DecidedBy, float | None, bool | None]] = [
    # name, verdicts (margins favour the response shown first), winner, decided by, margin, flipped
    ("high first", [shown("high", 0.4)], "high", "principles", 0.4, None),
    ("low first", [shown("low", 0.4)], "low", "principles", -0.4, None),
    ("checklist", [shown("low", 0.0, 0.1)], "low", "checklist", 0.0, None),
    ("even", [shown("low", 0.0)], "high", "tie", 0.0, None),
    ("unscored", [shown("low", None)], "high", "unscored", None, None),
    (
        "orders agree",
        [shown("high", 0.2), shown("low", -0.4)],
        "high",
        "principles",
        0.3,  # (0.2 + 0.4) / 2
        False,
    ),
    (
        "orders disagree: the sum of the margins decides",
        [shown("high", 0.2), shown("low", 0.4)],
        "low",
        "principles",
        -0.1,  # (0.2 - 0.4) / 2
        True,
    ),
    (
        "the first position wins both times",
        [shown("high", 0.6), shown("low", 0.6)],
        "high",
        "tie",
        0.0,
        True,
    ),
    (
        "even in one order is no flip",
        [shown("high", 0.0), shown("low", 0.4)],
        "low",
        "principles",
        -0.2,
        False,
    ),
    (
        "one order without a verdict",
        [shown("high", None), shown("low", 0.4)],
        "low",
        "principles",
        -0.4,
        None,
    ),
]


@pytest.mark.parametrize(
    ("verdicts", "winner", "decided_by", "margin", "flipped"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_settle(
    verdicts: list[Verdict],
    winner: str,
    decided_by: DecidedBy,
    margin: float | None,
    flipped: bool | None,
) -> None:
    match = settle(PAIRING, verdicts)
    assert (match.winner, match.decided_by, match.flipped) == (winner, decided_by, flipped)
    assert match.margin == (None if margin is None else pytest.approx(margin))
    assert match.loser == ({"high", "low"} - {winner}).pop()
    assert (match.unscored is not None) == (decided_by == "unscored")
    assert match.tied == (decided_by == "tie")


WEIGHTS = {"P1": 0.5, "P2": 0.3, "P3": 0.2}
CHECKLIST = [
    ChecklistItem(id="C1", principle="P1", description="one"),
    ChecklistItem(id="C2", principle="P2", description="two"),
    ChecklistItem(id="C3", principle="P2", description="three"),
]
VOTES = st.builds(
    Vote,
    vote=st.sampled_from(["left", "right", "tie"]),
    confidence=st.floats(0, 1, allow_nan=False),
)
MIRROR: dict[Side, Side] = {"left": "right", "right": "left", "tie": "tie"}


def votes(**given: tuple[Side, float]) -> dict[str, Vote]:
    return {key: Vote(vote=vote, confidence=c) for key, (vote, c) in given.items()}


@pytest.mark.parametrize(
    ("given_votes", "expected"),
    [
        (votes(P1=("left", 1), P2=("left", 1), P3=("left", 1)), 1.0),
        (votes(P1=("right", 1), P2=("right", 1), P3=("right", 1)), -1.0),
        (votes(P1=("left", 0.8), P2=("right", 1), P3=("tie", 1)), 0.1),  # 0.5·0.8 - 0.3
        (votes(P1=("tie", 1), P2=("tie", 0.2), P3=("tie", 0)), 0.0),
        (votes(P1=("left", 0), P2=("right", 0), P3=("left", 0)), 0.0),  # no confidence at all
    ],
)
def test_principle_margin(given_votes: dict[str, Vote], expected: float) -> None:
    assert principle_margin(given_votes, WEIGHTS) == pytest.approx(expected)


def test_checklist_items_weigh_as_their_principles() -> None:
    # (0.5·1 - 0.3·0.5 + 0.3·0) / (0.5 + 0.3 + 0.3)
    given_votes = votes(C1=("left", 1), C2=("right", 0.5), C3=("tie", 1))
    assert checklist_margin(given_votes, CHECKLIST, WEIGHTS) == pytest.approx(0.35 / 1.1)


def test_a_missing_vote_is_no_tie() -> None:
    with pytest.raises(KeyError):
        principle_margin(votes(P1=("left", 1)), WEIGHTS)
    with pytest.raises(KeyError):
        checklist_margin(votes(C1=("left", 1)), CHECKLIST, WEIGHTS)


@pytest.mark.slow
@given(st.fixed_dictionaries(dict.fromkeys(WEIGHTS, VOTES)))
def test_margin_is_bounded_and_turns_with_the_sides(given_votes: dict[str, Vote]) -> None:
    margin = principle_margin(given_votes, WEIGHTS)
    mirrored = {k: replace(v, vote=MIRROR[v.vote]) for k, v in given_votes.items()}
    assert -1 - 1e-12 <= margin <= 1 + 1e-12
    assert principle_margin(mirrored, WEIGHTS) == pytest.approx(-margin)


@pytest.mark.parametrize(
    ("margin", "checklist", "expected"),
    [
        (0.2, -1.0, ("left", "principles")),
        (-0.2, 1.0, ("right", "principles")),
        (0.0, 0.4, ("left", "checklist")),
        (1e-12, -0.4, ("right", "checklist")),
        (0.0, 0.0, ("tie", None)),
    ],
)
def test_decide(margin: float, checklist: float, expected: tuple[Side, Layer | None]) -> None:
    assert decide(margin, checklist) == expected
