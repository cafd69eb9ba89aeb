"""From verdicts to the result of a match."""

import pytest

from tiebreak.scorers.ballots import DecidedBy, Verdict
from tiebreak.scorers.bracket import Pairing
from tiebreak.scorers.match import settle

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
