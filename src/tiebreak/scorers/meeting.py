"""One match as it is asked: its calls, which follow one another, up to its result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tiebreak.scorers.ballots import Call, Match, Verdict
from tiebreak.scorers.bracket import Pairing
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import Judge
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

        Who is shown first is drawn by lot, in turns over the items. An unscored call is repeated
        once; a match without any verdict is marked. With `checklist="ties"` the principles are
        voted on first; where they leave the match even, the checklist is asked in every order, so
        the result is what asking for both at once would have given.
        """
        one, other = sorted((self.pairing.high, self.pairing.low))
        sampled = (one, other) == self.contest.sampled
        pair = (one, other) if self.contest.first[one, other] == one else (other, one)
        if critique:
            await self._note(*pair)
        votes: Votes = "both" if checklist == "always" else "principles"
        verdicts = [await self._ask(*pair, votes)]
        if ask_swapped(swap, verdicts[0], sampled=sampled):
            verdicts.append(await self._ask(*pair[::-1], votes))
        if checklist == "ties" and principles_even(verdicts):
            orders = zip(verdicts, (pair, pair[::-1]), strict=False)
            verdicts = [
                before if before.margin is None else await self._ask(*order, "checklist", before)
                for before, order in orders
            ]
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
        self, left: str, right: str, votes: Votes, before: Verdict | None = None
    ) -> Verdict:
        """The verdict of one order; `before` holds its votes on the principles."""
        question = MatchQuestion(self.contest, self.items, left, right, self._differences, votes)
        reply, set_aside = await self.judge.ask_again(question, depth=self.depth)
        self.calls += reply.calls
        self.depth = reply.depth
        if set_aside is not None:
            self._discarded.append(Verdict(first=left, unscored=set_aside))
        found = reply.value
        if found is not None and before is not None:
            found = PairReply(principles=before.principles, checklist=found.checklist)
        return verdict(left, found, reply.unscored, self.contest, self.items)
