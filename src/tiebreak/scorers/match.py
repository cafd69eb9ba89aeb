"""One match: two candidates, one judge, one or both orders of presentation (SEAL, §2.3, A.4)."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from inspect_ai.util import span

from tiebreak.scorers.ballots import Call, DecidedBy, Match, Verdict
from tiebreak.scorers.bracket import Pairing
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import Judge
from tiebreak.scorers.questions import critique_question, match_question
from tiebreak.scorers.replies import PairReply
from tiebreak.scorers.rubric import ChecklistItem
from tiebreak.scorers.votes import CLOSE_MARGIN, checklist_margin, decide, principle_margin

Swap = Literal["always", "close", "never"]


@dataclass(frozen=True)
class Played:
    """A match, the calls that it took, and how deep in the sequence of calls it ended."""

    match: Match
    calls: tuple[Call, ...]
    depth: int


async def play(
    contest: Contest,
    judge: Judge,
    pairing: Pairing,
    *,
    checklist: Sequence[ChecklistItem],
    swap: Swap,
    critique: bool,
    depth: int,
) -> Played:
    """Play one match.

    Who is shown first is drawn by lot. The second order is asked for always, never, or when the
    first one was close (|margin| < `CLOSE_MARGIN`). An unscored call is repeated once; a match
    without any verdict goes to the better seed and is marked.
    """
    pair = [pairing.high, pairing.low]
    contest.rng("order", pairing.round, pairing.slot).shuffle(pair)
    async with span(_title(pairing), type="match"):
        calls: list[Call] = []
        differences = None
        if critique:
            noted = await judge.ask(critique_question(contest, *pair), depth=depth)
            calls += noted.calls
            depth = noted.depth
            if noted.value is not None:
                differences = dict(zip(pair, (noted.value.left, noted.value.right), strict=True))
        verdicts: list[Verdict] = []
        discarded: list[Verdict] = []
        for first, second in (pair, pair[::-1]):
            if verdicts and not _ask_swapped(swap, verdicts[0]):
                break
            question = match_question(contest, checklist, first, second, differences)
            reply, set_aside = await judge.ask_again(question, depth=depth)
            calls += reply.calls
            depth = reply.depth
            if set_aside is not None:
                discarded.append(Verdict(first=first, unscored=set_aside))
            verdicts.append(verdict(first, reply.value, reply.unscored, contest, checklist))
    match = settle(pairing, verdicts, discarded, differences)
    return Played(match, tuple(calls), depth)


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
    decided_by: DecidedBy = "seed_after_unscored"
    margin = items = None
    if turned:
        margin = statistics.fmean(m for m, _ in turned)
        items = statistics.fmean(c for _, c in turned)
        side, layer = decide(margin, items)
        winner = low if side == "right" else high
        decided_by = layer or "seed_after_tie"
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


def _turned(verdict: Verdict, high: str) -> tuple[float, float] | None:
    """Principle and checklist margin, positive when `high` is better; None when unscored."""
    if verdict.margin is None or verdict.checklist_margin is None:
        return None
    sign = 1 if verdict.first == high else -1
    return sign * verdict.margin, sign * verdict.checklist_margin


def _ask_swapped(swap: Swap, first: Verdict) -> bool:
    if swap == "close":
        return first.margin is not None and abs(first.margin) < CLOSE_MARGIN
    return swap == "always"


def _title(pairing: Pairing) -> str:
    # Inspect's outline takes a slash for a level of its own.
    names = f"{pairing.high} v {pairing.low}".replace("/", "∕")
    return f"R{pairing.round}.{pairing.slot + 1} {names}"
