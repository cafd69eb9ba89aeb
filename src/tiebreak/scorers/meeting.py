"""One match as it is asked: its calls, those that need not wait at once, up to its result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from tiebreak.scorers.ballots import Call, Match, Verdict
from tiebreak.scorers.bracket import Pairing
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import Heard, Judge, ModelFailedError
from tiebreak.scorers.match import Checklist, Swap, ask_swapped, principles_even, settle, verdict
from tiebreak.scorers.questions import CritiqueQuestion, MatchQuestion, Votes
from tiebreak.scorers.replies import PairReply
from tiebreak.scorers.rubric import ChecklistItem
from tiebreak.scorers.schedule import Pair


@dataclass
class Meeting:
    """Two candidates of a contest before their judge, or their jury.

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
        first; where they leave the match even, the checklist is asked in every order: a
        judge that votes the same either way so gives the same result.

        Judges of a jury are asked side by side, and what they said together decides whether to ask
        for more. One whose provider fails leaves its verdict unscored.

        Raises:
            ModelFailedError: the judge failed; in a jury all of them did.
        """
        one, other = sorted((self.pairing.high, self.pairing.low))
        sampled = (one, other) == self.contest.sampled
        first, second = (one, other) if self.contest.first[one, other] == one else (other, one)
        orders = [(first, second), (second, first)]
        if critique:
            await self._note(first, second)
        jury = self.judge.jury
        judges = jury.of_match(self.contest, (one, other))
        votes: Votes = "both" if checklist == "always" else "principles"
        known = ask_swapped(swap, (), sampled=sampled)
        verdicts = await self._hear(dict.fromkeys(orders if known else orders[:1], judges), votes)
        if not known and ask_swapped(swap, verdicts, sampled=sampled, quorum=jury.quorum):
            again = [v.judge for v in verdicts if v.margin is not None]
            verdicts += await self._hear({orders[1]: again}, votes, verdicts)
        if checklist == "ties" and principles_even(verdicts, jury.quorum):
            voted = {(v.first, v.judge): v for v in verdicts if v.margin is not None}
            by_order = {o: [judge for first, judge in voted if first == o[0]] for o in orders}
            asked = {order: names for order, names in by_order.items() if names}
            heard = await self._hear(asked, "checklist", list(voted.values()))
            voted |= {(v.first, v.judge): v for v in heard}
            verdicts = [voted.get((v.first, v.judge), v) for v in verdicts]
        return settle(self.pairing, verdicts, self._discarded, self._differences, jury.quorum)

    async def _note(self, left: str, right: str) -> None:
        """Let the meta-judge list observable differences."""
        question = CritiqueQuestion(self.contest, left, right)
        noted = await self.judge.ask(question, depth=self.depth)
        self.calls += noted.calls
        self.depth = noted.depth
        if noted.value is not None:
            self._differences = {left: noted.value.left, right: noted.value.right}

    async def _hear(
        self, asked: Mapping[Pair, Sequence[str]], votes: Votes, before: Sequence[Verdict] = ()
    ) -> list[Verdict]:
        """The verdicts of some judges in some orders of presentation, asked at once.

        `before` are the verdicts so far; those on the checklist keep their votes on the principles,
        and stay as they were where a judge of a jury fails.
        """
        heard: dict[str, Sequence[Heard[PairReply]]] = {}
        failed: list[ModelFailedError] = []
        depth = self.depth

        async def ask(order: Pair) -> None:
            question = partial(
                MatchQuestion, self.contest, self.items, *order, self._differences, votes
            )
            try:
                heard[order[0]] = await self.judge.hear(question, asked[order], depth=depth)
            except ModelFailedError as error:
                if self.judge.jury.alone:
                    raise
                failed.append(error)

        await self.judge.side_by_side([partial(ask, order) for order in asked])
        if not heard and not before:
            raise failed[0]
        voted = {(v.first, v.judge): v for v in before} if votes == "checklist" else {}
        verdicts: list[Verdict] = []
        for left, one in [(own, said) for own, _ in asked for said in heard.get(own, ())]:
            self.calls += one.reply.calls
            self.depth = max(self.depth, one.reply.depth)
            made = self._verdict(left, one, voted.get((left, one.judge)))
            if one.failed is None:
                verdicts.append(made)
            elif not voted:
                (self._discarded if self.judge.jury.rotate else verdicts).append(made)
        return verdicts

    def _verdict(self, first: str, heard: Heard[PairReply], before: Verdict | None) -> Verdict:
        """The ballot of what a judge answered; `before` holds its votes on the principles."""
        judge, found = heard.judge, heard.reply.value
        if heard.set_aside is not None:
            self._discarded.append(Verdict(first=first, judge=judge, unscored=heard.set_aside))
        if found is not None and before is not None:
            found = PairReply(principles=before.principles, checklist=found.checklist)
        return verdict(first, found, heard.reply.unscored, self.contest, self.items, judge)
