"""From the verdicts of a judge to the result of a match (SEAL, §2.3, A.4)."""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from tiebreak.scorers.ballots import DecidedBy, Match, Verdict
from tiebreak.scorers.bracket import Pairing
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.replies import PairReply
from tiebreak.scorers.rubric import ChecklistItem
from tiebreak.scorers.votes import CLOSE_MARGIN, checklist_margin, decide, principle_margin

Swap = Literal["always", "close", "never"]


def verdict(
    first: str,
    reply: PairReply | None,
    unscored: str | None,
    contest: Contest,
    checklist: Sequence[ChecklistItem],
) -> Verdict:
    """The ballot of one pairwise call."""
    if reply is None:
        return Verdict(first=first, unscored=unscored)
    weights = contest.rubric.weights
    return Verdict(
        first=first,
        principles=reply.principles,
        checklist=reply.checklist,
        margin=principle_margin(reply.principles, weights),
        checklist_margin=checklist_margin(reply.checklist, checklist, weights),
    )


def ask_swapped(swap: Swap, first: Verdict) -> bool:
    """Whether a match is asked in the second order, after the first one gave this verdict."""
    if swap == "close":
        return first.margin is not None and abs(first.margin) < CLOSE_MARGIN
    return swap == "always"


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
        margin, items = (math.fsum(layer) / len(turned) for layer in zip(*turned, strict=True))
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


def _turned(verdict: Verdict, high: str) -> tuple[float, float] | None:
    """Principle and checklist margin, positive when `high` is better; None when unscored."""
    if verdict.margin is None or verdict.checklist_margin is None:
        return None
    sign = 1 if verdict.first == high else -1
    return sign * verdict.margin, sign * verdict.checklist_margin
