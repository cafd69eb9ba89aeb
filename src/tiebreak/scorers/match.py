"""From votes to margins, from margins to the result of a match, and the summary of a round.

The winner is computed here (SEAL, §2.3 and appendix A.4); a verdict that a judge writes is ignored.
Margins are in [-1, 1]; a verdict's margin is positive if the *left* response is better. (The paper
counts left as -1; turning the sign changes nothing else.)

The meta-judge reads the summary of a round before it writes a new checklist item: how the votes on
every principle fell, and which candidates remain (SEAL, §2.2).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final, Literal

from tiebreak.scorers.ballots import DecidedBy, Match, Side, Verdict, Vote
from tiebreak.scorers.bracket import Pairing
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.rubric import TOP_GRADE, ChecklistItem

if TYPE_CHECKING:
    from tiebreak.scorers.replies import PairReply

Swap = Literal["always", "close", "sample", "never"]
"""Which matches are asked in the second order of presentation: all, those that were close in the
first order, one match of the item drawn by lot, or none."""

Checklist = Literal["always", "ties"]
"""When the checklist is voted on: in every match, or only if the principles come out even. In both
cases its votes decide only matches in which the principles are even."""

EPSILON: Final = 1e-9
"""Margins of at most this size are even ("effectively zero")."""

CLOSE_MARGIN: Final = 0.25
"""A match is close if its margin is below this: a quarter of the margin of unanimous votes at full
confidence. Close matches are asked in both orders (`swap="close"`) and sharpen the checklist."""

Layer = Literal["principles", "checklist"]
_SIGN: Final[Mapping[Side, int]] = {"left": 1, "right": -1, "tie": 0}


def verdict(
    first: str,
    reply: "PairReply | None",
    unscored: str | None,
    contest: Contest,
    checklist: Sequence[ChecklistItem],
    judge: str = "",
) -> Verdict:
    """The ballot for one order of presentation; `judge` names its judge, in a jury."""
    if reply is None:
        return Verdict(first=first, judge=judge, unscored=unscored)
    weights, voted = contest.rubric.weights, reply.checklist
    return Verdict(
        first=first,
        judge=judge,
        principles=reply.principles,
        checklist=voted,
        margin=principle_margin(reply.principles, weights),
        checklist_margin=checklist_margin(voted, checklist, weights) if voted else None,
    )


def ask_swapped(swap: Swap, first: Sequence[Verdict], *, sampled: bool, quorum: int = 1) -> bool:
    """Whether to ask a match in the second order, given the verdicts of the first order.

    Before the first order is asked, `first` is empty; the result is then whether the second is
    asked in any case. `sampled` is whether the match was drawn by lot (`Contest.sampled`).
    """
    if swap == "close":
        margin = _of_all(first, first[0].first, quorum) if first else None
        return margin is not None and abs(margin[0]) < CLOSE_MARGIN
    return swap == "always" or (swap == "sample" and sampled)


def principles_even(verdicts: Sequence[Verdict], quorum: int) -> bool:
    """Whether the principles are even: the mean margin over orders and judges is zero."""
    margins = _of_all(verdicts, verdicts[0].first, quorum)
    return margins is not None and abs(margins[0]) <= EPSILON


def settle(
    pairing: Pairing | Match,
    verdicts: Sequence[Verdict],
    discarded: Sequence[Verdict] = (),
    differences: Mapping[str, str] | None = None,
    quorum: int = 1,
) -> Match:
    """Compute the result of a match from its verdicts: average margins over orders, then decide.

    A jury's margins are averaged over the orders of each judge, then over the judges; fewer scored
    judges than `quorum` leave the match unscored. A match that was played can be settled again.
    """
    winner, high, low = pairing.high, pairing.high, pairing.low
    decided_by: DecidedBy = "unscored"
    margin = items = None
    if (margins := _of_all(verdicts, high, quorum)) is not None:
        margin, items = margins
        side, layer = decide(margin, items)
        winner = low if side == "right" else high
        decided_by = layer or "tie"
    firsts = {verdict.first for verdict in verdicts}
    orders = [_in_order(verdicts, first) for first in firsts] if len(firsts) == 2 else []
    by_order = [mean for order in orders if (mean := _of_all(order, high)) is not None]
    sides = {decide(*mean)[0] for mean in by_order}
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
        flipped=sides == {"left", "right"} if len(by_order) == 2 else None,
        critique=None if differences is None else "\n".join(differences[c] for c in (high, low)),
    )


def is_close(match: Match) -> bool:
    """Whether |margin| < `CLOSE_MARGIN`; a match without a verdict is not."""
    return match.margin is not None and abs(match.margin) < CLOSE_MARGIN


def in_one_order(match: Match, order: int) -> Match:
    """The match as it would have ended with one presentation order alone; `order` counts from 0."""
    first = match.verdicts[0].first
    shown = (first, match.low if first == match.high else match.high)[order]
    verdicts = _in_order(match.verdicts, shown)
    if match.decided_by == "unscored":  # perhaps for lack of a quorum, which no ballot records
        return with_verdicts(match, verdicts)
    return settle(match, verdicts)


def judges_in(match: Match) -> tuple[str, ...]:
    """Names of the judges whose verdicts count in a match; without a jury one empty name."""
    return tuple(dict.fromkeys(verdict.judge for verdict in match.verdicts))


def by_judge(match: Match, judge: str) -> Match:
    """The match as it would have ended with one of its judges alone."""
    return settle(match, [verdict for verdict in match.verdicts if verdict.judge == judge])


def votes_in(match: Match) -> dict[str, int]:
    """Result of a match for each scored judge alone: 1 for `high`, −1 for `low`, 0 for a tie."""
    by_judge = _turned(match.verdicts, match.high)
    return {judge: _SIGN[decide(*_means(margins))[0]] for judge, margins in by_judge.items()}


def votes_apart(match: Match) -> tuple[Match, ...]:
    """Split a match of several raters into matches of one verdict each."""
    return tuple(settle(match, [verdict]) for verdict in match.verdicts)


def one_verdict_an_order(match: Match) -> Match:
    """Replace a match's verdicts by one joint verdict of all judges for each presentation order."""
    firsts = dict.fromkeys(verdict.first for verdict in match.verdicts)
    together = [(first, _of_all(_in_order(match.verdicts, first), first)) for first in firsts]
    verdicts = [
        Verdict(first=first, unscored=match.unscored or "no judge usable in this order")
        if margins is None
        else Verdict(first=first, margin=margins[0], checklist_margin=margins[1])
        for first, margins in together
    ]
    return with_verdicts(match, verdicts)


def with_verdicts(match: Match, verdicts: Sequence[Verdict]) -> Match:
    """A copy of the match with other verdicts and none discarded."""
    # Logs that are read without votes hold a subclass of Match that accepts no verdicts.
    kept = {field.name: getattr(match, field.name) for field in fields(Match)}
    return Match(**{**kept, "verdicts": tuple(verdicts), "discarded": ()})


def _in_order(verdicts: Sequence[Verdict], first: str) -> list[Verdict]:
    return [verdict for verdict in verdicts if verdict.first == first]


def _of_all(
    verdicts: Iterable[Verdict], high: str, quorum: int = 1
) -> tuple[float, float | None] | None:
    """Mean margins of principles and checklist over judges, positive if `high` is better.

    None if fewer judges than `quorum` are scored; the checklist's mean is None if it was not asked.
    """
    by_judge = _turned(verdicts, high)
    if len(by_judge) < max(1, quorum):
        return None
    return _means([_means(margins) for margins in by_judge.values()])


def _turned(verdicts: Iterable[Verdict], high: str) -> dict[str, list[tuple[float, float | None]]]:
    by_judge: dict[str, list[tuple[float, float | None]]] = {}
    for verdict in verdicts:
        if verdict.margin is not None:
            sign, items = (1 if verdict.first == high else -1), verdict.checklist_margin
            # Adding 0 turns −0.0 into 0.0.
            turned = sign * verdict.margin + 0.0, None if items is None else sign * items + 0.0
            by_judge.setdefault(verdict.judge, []).append(turned)
    return by_judge


def _means(margins: Sequence[tuple[float, float | None]]) -> tuple[float, float | None]:
    if len(margins) == 1:
        return margins[0]
    asked = [items for _, items in margins if items is not None]
    return _mean([principles for principles, _ in margins]), _mean(asked) if asked else None


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
    """Σ w · c · v over checklist items, each with the weight of its principle, divided by Σ w.

    Raises:
        KeyError: an item has no vote.
    """
    weighted = [(weights[item.principle], votes[item.id]) for item in checklist]
    total = math.fsum(w for w, _ in weighted)
    return math.fsum(w * vote.confidence * _SIGN[vote.vote] for w, vote in weighted) / total


def principle_parts(match: Match, weights: Mapping[str, float]) -> dict[str, float]:
    """Contribution of each principle to a match's margin, in ± weight, positive for `high`.

    Means are taken as for the margin: over the scored verdicts of each judge, then over judges.
    Empty if the match has no verdict.

    Raises:
        KeyError: a verdict has no vote on a principle.
    """
    by_judge: dict[str, list[Verdict]] = {}
    for verdict in match.verdicts:
        if verdict.margin is not None and match.margin is not None:
            by_judge.setdefault(verdict.judge, []).append(verdict)
    if not by_judge:
        return {}
    return {
        p: _mean(
            [
                _mean([_part(v, p, w, match.high) for v in verdicts])
                for verdicts in by_judge.values()
            ]
        )
        for p, w in weights.items()
    }


def _part(verdict: Verdict, principle: str, weight: float, high: str) -> float:
    vote = verdict.principles[principle]
    return (1 if verdict.first == high else -1) * weight * vote.confidence * _SIGN[vote.vote]


def weighted_grade(grades: Mapping[str, int], weights: Mapping[str, float]) -> float:
    """Σ_p w_p · grade_p divided by the top grade, in [0, 1].

    Raises:
        KeyError: a principle has no grade.
    """
    return math.fsum(w * grades[p] for p, w in weights.items()) / TOP_GRADE


def decide(margin: float, checklist: float | None) -> tuple[Side, Layer | None]:
    """Return the winning side and the layer that decided: principles, else checklist, else none."""
    if abs(margin) > EPSILON:
        return ("left" if margin > 0 else "right"), "principles"
    if checklist is not None and abs(checklist) > EPSILON:
        return ("left" if checklist > 0 else "right"), "checklist"
    return "tie", None


MOST_SHOWN: Final = 4
"""The answers of remaining candidates are shown if there are at most this many: from semi-finals
on, where matches are between strong candidates, and for a few percent of an item's price."""


@dataclass(frozen=True, slots=True)
class PrincipleTally:
    """The votes on a principle over the matches of a round that have a verdict.

    Matches are `decided` if their votes favour a side and `even` if not; several verdicts are
    averaged as for the margin. `size` is the mean of |weight · confidence · vote| over the matches,
    in [0, `weight`]; NaN without a match.
    """

    id: str
    weight: float
    decided: int
    even: int
    size: float

    @property
    def under_resolved(self) -> bool:
        """Whether `size` is below `CLOSE_MARGIN` of the weight, as in a close match.

        `size` equals the weight if every match has a vote for a side with full confidence.
        """
        return self.size < CLOSE_MARGIN * self.weight


@dataclass(frozen=True, slots=True)
class RoundSummary:
    """A round: `n_matches` with a verdict, `n_close` of them close, and its principles.

    `remaining` are the names of those of the `n_candidates` that play on.
    """

    number: int
    n_matches: int
    n_close: int
    principles: tuple[PrincipleTally, ...]
    remaining: tuple[str, ...]
    n_candidates: int

    @property
    def under_resolved(self) -> tuple[str, ...]:
        """Ids of the principles that do not separate the candidates yet."""
        return tuple(principle.id for principle in self.principles if principle.under_resolved)

    def others(self, match: Match) -> tuple[str, ...]:
        """Candidates that remain besides the two of a match; empty if there are too many."""
        if len(self.remaining) > MOST_SHOWN:
            return ()
        return tuple(name for name in self.remaining if name not in (match.high, match.low))


def summarise(
    matches: Sequence[Match],
    number: int,
    weights: Mapping[str, float],
    remaining: Sequence[str],
    n_candidates: int,
) -> RoundSummary:
    """Summarise round `number` of an item's tournament; `matches` holds those of all rounds.

    `remaining` are those of the `n_candidates` that play on.

    Raises:
        KeyError: a verdict has no vote on a principle.
    """
    scored = [match for match in matches if match.round == number and match.margin is not None]
    parts = [principle_parts(match, weights) for match in scored]
    return RoundSummary(
        number=number,
        n_matches=len(scored),
        n_close=sum(map(is_close, scored)),
        principles=tuple(
            _tally(id, weight, [abs(part[id]) for part in parts]) for id, weight in weights.items()
        ),
        remaining=tuple(sorted(remaining)),
        n_candidates=n_candidates,
    )


def _tally(id: str, weight: float, sizes: Sequence[float]) -> PrincipleTally:
    decided = sum(size > EPSILON for size in sizes)
    mean = math.fsum(sizes) / len(sizes) if sizes else math.nan
    return PrincipleTally(id, weight, decided, len(sizes) - decided, mean)
