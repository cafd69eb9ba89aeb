"""From votes to a margin, and from margins to a decision (SEAL, §2.3 and appendix A.4).

The winner of a match is computed here from the votes; whatever verdict a judge writes is ignored.
Margins are in [-1, 1] and positive when the *left* response is better. (The paper counts left as
-1; turning the sign changes nothing else.)
"""

import math
from collections.abc import Iterable, Mapping
from typing import Final, Literal

from tiebreak.scorers.ballots import Side, Vote
from tiebreak.scorers.rubric import ChecklistItem

EPSILON: Final = 1e-9
"""Margins of at most this size are even ("effectively zero")."""

CLOSE_MARGIN: Final = 0.25
"""A match is close when its margin is below this: a quarter of what unanimity at full confidence
would give. Close matches are asked in both orders (`swap="close"`) and sharpen the checklist."""

TOP_GRADE: Final = 10
"""Best grade of a principle when a response is judged on its own."""

Layer = Literal["principles", "checklist"]
_SIGN: Final[Mapping[Side, int]] = {"left": 1, "right": -1, "tie": 0}


def principle_margin(votes: Mapping[str, Vote], weights: Mapping[str, float]) -> float:
    """Σ_p w_p · c_p · v_p over the principles; weights sum to 1.

    Raises:
        KeyError: a principle has no vote (a missing vote is never counted as a tie).
    """
    return math.fsum(w * votes[p].confidence * _SIGN[votes[p].vote] for p, w in weights.items())


def checklist_margin(
    votes: Mapping[str, Vote], checklist: Iterable[ChecklistItem], weights: Mapping[str, float]
) -> float:
    """The same sum over checklist items, each weighted by its principle, divided by the weights.

    Raises:
        KeyError: an item has no vote.
    """
    weighted = [(weights[item.principle], votes[item.id]) for item in checklist]
    total = math.fsum(w for w, _ in weighted)
    return math.fsum(w * vote.confidence * _SIGN[vote.vote] for w, vote in weighted) / total


def weighted_grade(grades: Mapping[str, int], weights: Mapping[str, float]) -> float:
    """Σ_p w_p · grade_p divided by the top grade, in [0, 1].

    Raises:
        KeyError: a principle has no grade.
    """
    return math.fsum(w * grades[p] for p, w in weights.items()) / TOP_GRADE


def decide(margin: float, checklist: float) -> tuple[Side, Layer | None]:
    """Which side wins and which layer decided: the principles, else the checklist, else a tie."""
    if abs(margin) > EPSILON:
        return ("left" if margin > 0 else "right"), "principles"
    if abs(checklist) > EPSILON:
        return ("left" if checklist > 0 else "right"), "checklist"
    return "tie", None
