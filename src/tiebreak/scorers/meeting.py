"""One match as it is asked: its calls, those that need not wait at once, up to its result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from tiebreak.scorers.ballots import Call, Match, Verdict
from tiebreak.scorers.bracket import Pairing
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import Judge, Reply
from tiebreak.scorers.match import (
    Checklist,
    Swap,
    ask_swapped,
    principles_even,
    settle,
    verdict,
)
from tiebreak.scorers.questions import CritiqueQuestion, MatchQuestion, Votes
from tiebreak.scorers.replies import PairReply
from tiebreak.scorers.rubric import ChecklistItem


@dataclass
class Meeting:
    """Two candidates of a contest before their judge.

    `items` is the checklist. `calls` are those that have ended, `depth` is how many calls had to
    end before the next one can start.
    """

    contest: Contest
    pairing: Pairing
    judge: Judge
    items: Sequence[ChecklistItem]
    depth: int
    calls: list[Call] = field(default_factory=list)
    _discarded: list[Verdict] = field(default_factory=list)
    _differences: Mapping[str, str] | None = None

    async def play(self, swap: Swap, checklist: Checklist, critique: bool) -> Match:
        """Ask, in two orders of presentation where that is wanted, and settle the match.

        Who is shown first is drawn by lot, in turns over the items. Both orders are asked at once
        unless the first one decides whether there is a second. An unscored call is repeated once; a
        match without any verdict is marked. With `checklist="ties"` the principles are voted on
        first; where they leave the match even, the checklist is asked in every order, so the
        result is what asking for both at once would have given.
        """
        one, other = sorted((self.pairing.high, self.pairing.low))
        sampled = (one, other) == self.contest.sampled
        first, second = (one, other) if self.contest.first[one, other] == one else (other, one)
        orders = [(first, second), (second, first)]
        if critique:
            await self._note(first, second)
        votes: Votes = "both" if checklist == "always" else "principles"
        known = ask_swapped(swap, None, sampled=sampled)
        verdicts = await self._ask(orders if known else orders[:1], votes)
        if not known and ask_swapped(swap, verdicts[0], sampled=sampled):
            verdicts += await self._ask(orders[1:], votes)
        if checklist == "ties" and principles_even(verdicts):
            voted = {v.first: v for v in verdicts if v.margin is not None}
            again = [order for order in orders if order[0] in voted]
            voted |= {v.first: v for v in await self._ask(again, "checklist", voted)}
            verdicts = [voted.get(v.first, v) for v in verdicts]
        return settle(self.pairing, verdicts, self._discarded, self._differences)

    async def _note(self, left: str, right: str) -> None:
        """Let the meta-judge list observable differences."""
        question = CritiqueQuestion(self.contest, left, right)
        noted = await self.judge.ask(question, depth=self.depth)
        self.calls += noted.calls
        self.depth = noted.depth
        if noted.value is not None:
            self._differences = {left: noted.value.left, right: noted.value.right}

    async def _ask(
        self,
        orders: Sequence[tuple[str, str]],
        votes: Votes,
        before: Mapping[str, Verdict] | None = None,
    ) -> list[Verdict]:
        """The verdicts of orders of presentation, asked at once.

        `before` holds their votes on the principles, by who is shown first.
        """
        replies: dict[str, tuple[Reply[PairReply], str | None]] = {}
        depth = self.depth

        async def ask(left: str, right: str) -> None:
            question = MatchQuestion(
                self.contest, self.items, left, right, self._differences, votes
            )
            replies[left] = await self.judge.ask_again(question, depth=depth)

        await self.judge.side_by_side([partial(ask, *order) for order in orders])
        verdicts = []
        for left, _ in orders:
            reply, set_aside = replies[left]
            self.calls += reply.calls
            self.depth = max(self.depth, reply.depth)
            if set_aside is not None:
                self._discarded.append(Verdict(first=left, unscored=set_aside))
            found = reply.value
            if found is not None and before is not None:
                found = PairReply(principles=before[left].principles, checklist=found.checklist)
            verdicts.append(verdict(left, found, reply.unscored, self.contest, self.items))
        return verdicts
