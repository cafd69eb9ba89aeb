"""From votes to margins, and from the margins of its verdicts to the result of a match.

The winner is computed here (SEAL, §2.3 and appendix A.4); whatever verdict a judge writes is
ignored. Margins are in [-1, 1]; those of a verdict are positive when the *left* response is better.
(The paper counts left as -1; turning the sign changes nothing else.)
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

from tiebreak.scorers.ballots import DecidedBy, Match, Side, Verdict, Vote
from tiebreak.scorers.bracket import Pairing
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.replies import PairReply
from tiebreak.scorers.rubric import TOP_GRADE, ChecklistItem

Swap = Literal["always", "close", "sample", "never"]
"""Which matches are asked in the second order of presentation: all, those that were close in the
first, the one between the two answers of an item that lots name, or none."""

Checklist = Literal["always", "ties"]
"""When the checklist is voted on: in every match, or only where the principles come out even. Its
votes decide nothing else."""

EPSILON: Final = 1e-9
"""Margins of at most this size are even ("effectively zero")."""

CLOSE_MARGIN: Final = 0.25
"""A match is close when its margin is below this: a quarter of what unanimity at full confidence
would give. Close matches are asked in both orders (`swap="close"`) and sharpen the checklist."""

Layer = Literal["principles", "checklist"]
_SIGN: Final[Mapping[Side, int]] = {"left": 1, "right": -1, "tie": 0}


def verdict(
    first: str,
    reply: PairReply | None,
    unscored: str | None,
    contest: Contest,
    checklist: Sequence[ChecklistItem],
) -> Verdict:
    """The ballot of one order of presentation."""
    if reply is None:
        return Verdict(first=first, unscored=unscored)
    weights, voted = contest.rubric.weights, reply.checklist
    return Verdict(
        first=first,
        principles=reply.principles,
        checklist=voted,
        margin=principle_margin(reply.principles, weights),
        checklist_margin=checklist_margin(voted, checklist, weights) if voted else None,
    )


def ask_swapped(swap: Swap, first: Verdict | None, *, sampled: bool) -> bool:
    """Whether a match is asked in the second order, after the first one gave this verdict.

    With None it is whether that is known before the first one is asked. `sampled` is whether lots
    name the match (`Contest.sampled`).
    """
    if swap == "close":
        return first is not None and first.margin is not None and abs(first.margin) < CLOSE_MARGIN
    return swap == "always" or (swap == "sample" and sampled)


def principles_even(verdicts: Sequence[Verdict]) -> bool:
    """Whether the principles decide nothing: their mean margin over the orders is even."""
    found = [m for v in verdicts if (m := _turned(v, verdicts[0].first)) is not None]
    return bool(found) and abs(_mean([margin for margin, _ in found])) <= EPSILON


def settle(
    pairing: Pairing,
    verdicts: Sequence[Verdict],
    discarded: Sequence[Verdict] = (),
    differences: Mapping[str, str] | None = None,
) -> Match:
    """The result of a match from its verdicts: margins averaged over the orders, then decided."""
    _, _, high, low = pairing
    turned = [margins for v in verdicts if (margins := _turned(v, high)) is not None]
    winner = high
    decided_by: DecidedBy = "unscored"
    margin = items = None
    if turned:
        margin = _mean([principles for principles, _ in turned])
        asked = [checklist for _, checklist in turned if checklist is not None]
        items = _mean(asked) if asked else None
        side, layer = decide(margin, items)
        winner = low if side == "right" else high
        decided_by = layer or "tie"
    sides = [decide(*pair)[0] for pair in turned]
    return Match(
        round=pairing.round,
        slot=pairing.slot,
        high=high,
        low=low,
        verdicts=tuple(verdicts),
        discarded=tuple(discarded),
        margin=margin,
        checklist_margin=items,
        winner=winner,
        decided_by=decided_by,
        flipped=set(sides) == {"left", "right"} if len(sides) == 2 else None,
        critique=None if differences is None else "\n".join(differences[c] for c in (high, low)),
    )


def in_one_order(match: Match, order: int) -> Match:
    """A match as it would have ended with one of its verdicts alone; `order` counts from 0."""
    pairing = Pairing(match.round, match.slot, match.high, match.low)
    return settle(pairing, [match.verdicts[order]])


def _turned(verdict: Verdict, high: str) -> tuple[float, float | None] | None:
    """Margins of principles and checklist, positive when `high` is better; None when unscored.

    That of the checklist is None where it was not asked.
    """
    if verdict.margin is None:
        return None
    sign, items = (1 if verdict.first == high else -1), verdict.checklist_margin
    return sign * verdict.margin, None if items is None else sign * items


def _mean(margins: Sequence[float]) -> float:
    return math.fsum(margins) / len(margins)


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


def decide(margin: float, checklist: float | None) -> tuple[Side, Layer | None]:
    """Which side wins and which layer decided: the principles, else the checklist, else a tie."""
    if abs(margin) > EPSILON:
        return ("left" if margin > 0 else "right"), "principles"
    if checklist is not None and abs(checklist) > EPSILON:
        return ("left" if checklist > 0 else "right"), "checklist"
    return "tie", None
