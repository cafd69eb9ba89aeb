"""A judging session about one item: what protocols ask with, and where every ballot is kept.

    await judge.match(a, b)          one match, as a ballot with a winner
    await judge.matches(pairings)    several, side by side
    await judge.scores(candidates)   points for each candidate on its own
    await judge.listing(candidates)  all ranked in one call
    await judge.reviews(slates)      the same by several reviewers, side by side

Every reply is added to `judge.ballots` and recorded at once, so that an interrupted run keeps its
ballots. The calls of a match are sequential, the matches of a round are not: `judge.depth` counts
sequential calls so far, and the next question starts from there. A `Meeting` plays one match.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any, Final, Generic, TypeVar

from tiebreak.errors import TiebreakError
from tiebreak.scorers.ballots import (
    Call,
    Criterion,
    ItemBallots,
    Listing,
    Match,
    PointScore,
    Reviewer,
    Rule,
    Verdict,
)
from tiebreak.scorers.bracket import Pairing
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import (
    Judge,
    ModelFailedError,
    Question,
    Reply,
    least_final,
)
from tiebreak.scorers.match import (
    Checklist,
    Swap,
    ask_swapped,
    principles_even,
    settle,
    verdict,
    weighted_grade,
)
from tiebreak.scorers.questions import (
    CritiqueQuestion,
    ListQuestion,
    MatchQuestion,
    ReviewQuestion,
    ScoreQuestion,
    Votes,
)
from tiebreak.scorers.replies import PairReply
from tiebreak.scorers.rubric import ChecklistItem
from tiebreak.scorers.schedule import Pair

T = TypeVar("T")
B = TypeVar("B", Match, Listing, PointScore)
_FIELDS: Final = frozenset(ItemBallots.model_fields)
Record = Callable[[ItemBallots], None]


class ProtocolError(TiebreakError, ValueError):
    """A protocol is unknown, its name is taken, or it breaks the rules for protocols."""


@dataclass(frozen=True)
class _Asked(Generic[B]):
    """A ballot, its calls, the depth at which they ended, and the model's failure if it failed."""

    ballot: B
    calls: tuple[Call, ...]
    depth: int
    failed: ModelFailedError | None = None


class Session:
    """One item, its judge and its ballots.

    `depth` counts the calls that had to follow one another. `checklist` holds the items that
    matches are judged by; a protocol may extend it.

    Args:
        contest: the item.
        judge: answers the questions.
        record: called with all ballots so far whenever there are new ones.
        protocol: name of the protocol.
        placed_by: the rule that will turn the ballots into a ranking.
    """

    def __init__(
        self, contest: Contest, judge: Judge, record: Record, protocol: str, placed_by: Rule
    ) -> None:
        self.contest = contest
        self.checklist = contest.rubric.checklist
        self.ballots = contest.ballots(protocol, placed_by)
        self.depth = 0
        self.section = judge.section
        self._judge = judge
        self._record = record

    @property
    def candidates(self) -> tuple[str, ...]:
        """The models whose answers are judged, sorted: one for each group of identical answers."""
        return tuple(sorted(self.contest.answers))

    @property
    def reviewers(self) -> tuple[Reviewer, ...]:
        """The models that can be asked for reviews."""
        return self._judge.reviewers

    def rng(self, *purpose: str | int) -> Random:
        """Return a generator for one purpose; see `Contest.rng`."""
        return self.contest.rng(*purpose)

    def lots(self) -> list[str]:
        """Return the candidates in an order drawn by lot."""
        return self._shuffled("lots", self.candidates)

    def labelled(self, candidates: Sequence[str]) -> dict[str, str]:
        """Map anonymous labels R1, R2, … to the candidates, in an order drawn by lot."""
        return _labels(self._shuffled("labels", candidates))

    def keep(self, **parts: object) -> None:
        """Replace fields of the ballots, and record them.

        Raises:
            ValueError: ballots have no such field.
        """
        # model_copy does not validate: without this check a misspelt field would be lost silently.
        if unknown := parts.keys() - _FIELDS:
            raise ValueError(f"ballots have no {', '.join(sorted(unknown))}")
        self.ballots = self.ballots.model_copy(update=parts)
        self._record(self.ballots)

    async def ask(self, question: Question[T], *, again: bool = True) -> Reply[T]:
        """Ask one question and keep its calls; by default repeat it once if it stays unscored."""
        [reply] = await self.ask_all([question], again=again)
        return reply

    async def ask_all(
        self, questions: Sequence[Question[T]], *, again: bool = True
    ) -> list[Reply[T]]:
        """Ask questions side by side, keep their calls, and return replies in the same order."""

        async def ask(question: Question[T]) -> Reply[T]:
            if not again:
                return await self._judge.ask_now(question, depth=self.depth)
            return await self._judge.ask_again(question, depth=self.depth)

        return await self._side_by_side([partial(ask, q) for q in questions], self._spend)

    async def match(
        self, first: str, second: str, *, swap: Swap = "never", checklist: Checklist = "always"
    ) -> Match:
        """Let two candidates meet; the match's `result` is 1 if `first` won, ½ for a tie."""
        number = 1 + max((match.round for match in self.ballots.matches), default=0)
        pairing = Pairing(number, 0, first, second)
        [match] = await self.matches([pairing], swap=swap, checklist=checklist)
        return match

    async def matches(
        self,
        pairings: Sequence[Pairing],
        *,
        swap: Swap = "never",
        checklist: Checklist = "always",
        critique: bool = False,
        twice: Sequence[Pairing] = (),
    ) -> list[Match]:
        """Play matches side by side; return them in the order of the pairings.

        Args:
            pairings: the candidates of each match.
            swap: which matches are also asked in the second order of presentation (see `Swap`).
            checklist: when the checklist is voted on (see `Checklist`).
            critique: whether the meta-judge lists observable differences first.
            twice: pairings that are asked in both orders whatever `swap` says.
        """
        self._require(name for pairing in pairings for name in (pairing.high, pairing.low))
        tasks = [
            partial(
                self._play, pairing, "always" if pairing in twice else swap, checklist, critique
            )
            for pairing in pairings
        ]
        return [asked.ballot for asked in await self._kept_in("matches", tasks)]

    async def scores(
        self, candidates: Sequence[str], *, criteria: Sequence[Criterion] = ()
    ) -> dict[str, float | None]:
        """Grade each candidate on its own: points in [0, 1], None if the judge gave none."""
        weights = self.contest.rubric.weights
        points = await self.points(
            {name: partial(ScoreQuestion, self.contest, name, criteria) for name in candidates},
            lambda grades: {"grades": grades, "score": weighted_grade(grades, weights)},
        )
        return {point.candidate: point.score for point in points}

    async def points(
        self,
        questions: Mapping[str, Callable[[str], Question[T]]],
        given: Callable[[T], Mapping[str, Any]],
    ) -> list[PointScore]:
        """Ask about candidates one by one, side by side.

        `questions` has a function from a judge's name to the question about a candidate; `given`
        turns the value of a reply into fields of a `PointScore`.
        """
        self._require(questions)
        tasks = [partial(self._graded, name, ask, given) for name, ask in questions.items()]
        async with self.section("Scores", "scores"):
            return [asked.ballot for asked in await self._kept_in("scores", tasks)]

    async def listing(self, candidates: Sequence[str]) -> Listing:
        """Rank candidates in one call."""
        self._require(candidates)
        labelled = self.labelled(candidates)
        reply = await self.ask(ListQuestion(self.contest, labelled))
        ranked = Listing(
            groups=_groups(labelled, reply.value or {}),
            unscored=reply.unscored,
            shown=tuple(labelled.values()),
        )
        self.keep(listings=(*self.ballots.listings, ranked))
        return ranked

    async def reviews(self, slates: Mapping[str, Sequence[str]]) -> tuple[Listing, ...]:
        """Let reviewers rank candidates, each independently and in an order drawn for it by lot.

        `slates` maps each reviewer's name to the candidates that it is shown. If a reviewer's model
        fails, its ranking is unscored; the others continue.

        Raises:
            ModelFailedError: all of them failed.
        """
        self._require(name for slate in slates.values() for name in slate)
        self.keep(reviewers=self.reviewers)
        tasks = [partial(self._review, name, slate) for name, slate in slates.items()]
        done = await self._kept_in("listings", tasks)
        failed = [asked.failed for asked in done if asked.failed is not None]
        if failed and len(failed) == len(done):
            raise least_final(failed)
        return tuple(asked.ballot for asked in done)

    async def _review(self, reviewer: str, slate: Sequence[str]) -> _Asked[Listing]:
        """Ask one reviewer for its ranking: one call, and its repair turn.

        If the question does not fit the reviewer's context, it is asked again without the longest
        answer until it fits: no answer is truncated, and those left out are recorded.
        """
        shown = self._shuffled("labels", slate, reviewer)
        answers = self.contest.answers
        calls: list[Call] = []
        left_out: list[str] = []
        depth, failed = self.depth, None
        groups: tuple[tuple[str, ...], ...] = ()
        problem: str | None = None
        while len(shown) > 1:
            labelled = _labels(shown)
            try:
                reply = await self._judge.ask_now(
                    ReviewQuestion(self.contest, labelled, reviewer), depth=depth
                )
            except ModelFailedError as error:
                calls += error.calls
                problem, failed = f"error: {error}", error
                break
            calls += reply.calls
            depth = reply.depth
            if not reply.too_long:
                groups = _groups(labelled, reply.value or {})
                problem = reply.unscored
                break
            longest = max(shown, key=lambda name: (len(answers[name]), name))
            left_out.append(longest)
            shown.remove(longest)
        else:
            problem = "fewer than two answers fit its context"
            left_out += shown
            shown = []
        listing = Listing(
            groups=groups,
            unscored=problem,
            reviewer=reviewer,
            shown=tuple(shown),
            left_out=tuple(left_out),
        )
        # The failure is returned, not raised: the other reviewers' rankings still count.
        return _Asked(listing, tuple(calls), depth, failed)

    async def _play(
        self, pairing: Pairing, swap: Swap, checklist: Checklist, critique: bool
    ) -> _Asked[Match]:
        title = f"R{pairing.round}.{pairing.slot + 1} {pairing.high} v {pairing.low}"
        meeting = Meeting(self.contest, pairing, self._judge, self.checklist, self.depth)
        async with self.section(title, "match"):
            match = await meeting.play(swap, checklist, critique)
        return _Asked(match, tuple(meeting.calls), meeting.depth)

    async def _graded(
        self,
        candidate: str,
        question: Callable[[str], Question[T]],
        given: Callable[[T], Mapping[str, Any]],
    ) -> _Asked[PointScore]:
        jury = self._judge.jury
        heard = await self._judge.ask_jury(
            question, jury.of_answer(self.contest, candidate), depth=self.depth
        )
        parts = [
            PointScore(candidate=candidate, judge=judge, unscored=reply.unscored)
            if reply.value is None
            else PointScore(candidate=candidate, judge=judge, **given(reply.value))
            for judge, reply in heard.items()
        ]
        calls = tuple(call for reply in heard.values() for call in reply.calls)
        depth = max(reply.depth for reply in heard.values())
        return _Asked(PointScore.of_jury(parts, jury.quorum), calls, depth)

    async def _kept_in(
        self, field: str, tasks: Sequence[Callable[[], Awaitable[_Asked[B]]]]
    ) -> list[_Asked[B]]:
        """Run tasks side by side, and append their ballots to a field of the item's ballots."""

        def keep(done: Sequence[_Asked[B]]) -> None:
            ballots = (*getattr(self.ballots, field), *(asked.ballot for asked in done))
            self._spend(done, **{field: ballots})

        return await self._side_by_side(tasks, keep)

    async def _side_by_side(
        self, tasks: Sequence[Callable[[], Awaitable[T]]], keep: Callable[[Sequence[T]], None]
    ) -> list[T]:
        """Run tasks side by side; keep the results of those that ended, even if another fails."""
        ended: dict[int, T] = {}

        async def run(number: int, task: Callable[[], Awaitable[T]]) -> None:
            ended[number] = await task()

        try:
            await self._judge.side_by_side([partial(run, n, task) for n, task in enumerate(tasks)])
        finally:
            results = [ended[number] for number in sorted(ended)]
            keep(results)
        return results

    def _spend(self, done: Sequence[Reply[Any] | _Asked[Any]], **parts: object) -> None:
        self.depth = max((asked.depth for asked in done), default=self.depth)
        calls = tuple(call for asked in done for call in asked.calls)
        self.keep(calls=self.ballots.calls + calls, **parts)

    def _require(self, names: Iterable[str]) -> None:
        """Refuse, with a ProtocolError, names that are no candidates of the item."""
        if unknown := sorted(map(repr, {*names} - self.contest.answers.keys())):
            raise ProtocolError(
                f"{self.ballots.protocol!r} asks about {', '.join(unknown)}, but an item has "
                "only its own candidates, one of each group of identical answers. Here they are: "
                f"{', '.join(self.candidates)}."
            )

    def _shuffled(self, purpose: str, names: Sequence[str], *more: str) -> list[str]:
        shuffled = list(names)
        self.rng(purpose, *more).shuffle(shuffled)
        return shuffled


def _labels(shown: Sequence[str]) -> dict[str, str]:
    return {f"R{number}": name for number, name in enumerate(shown, start=1)}


def _groups(labelled: Mapping[str, str], places: Mapping[str, int]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        tuple(sorted(labelled[label] for label, given in places.items() if given == place))
        for place in sorted(set(places.values()))
    )


@dataclass
class Meeting:
    """Two candidates of a contest before their judge or jury.

    `items` is the checklist. `calls` are the calls that have ended, `depth` the number of calls
    that had to end before the next one can start.
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
        """Ask about the match, in both orders of presentation if wanted, and settle it.

        The side shown first is drawn by lot and alternates over the items. Both orders are asked at
        once unless the result of the first decides whether the second is asked. An unscored call is
        repeated once; a match without any verdict is marked unscored. With `checklist="ties"` the
        principles are voted on first; if they leave the match even, the checklist is asked in every
        order, so that a judge that votes consistently gets the same result either way.

        Judges of a jury are asked side by side, and their joint verdict decides whether to ask for
        more. A judge whose provider fails leaves its verdict unscored.

        Raises:
            ModelFailedError: the judge failed; in a jury all judges failed.
        """
        a, b = sorted((self.pairing.high, self.pairing.low))
        sampled = (a, b) == self.contest.sampled
        first, second = (a, b) if self.contest.first[a, b] == a else (b, a)
        orders = [(first, second), (second, first)]
        if critique:
            await self._note(first, second)
        jury = self.judge.jury
        judges = jury.of_match(self.contest, (a, b))
        votes: Votes = "both" if checklist == "always" else "principles"
        known = ask_swapped(swap, (), sampled=sampled)
        verdicts = await self._ask_judges(
            dict.fromkeys(orders if known else orders[:1], judges), votes
        )
        if not known and ask_swapped(swap, verdicts, sampled=sampled, quorum=jury.quorum):
            again = [v.judge for v in verdicts if v.margin is not None]
            verdicts += await self._ask_judges({orders[1]: again}, votes, verdicts)
        if checklist == "ties" and principles_even(verdicts, jury.quorum):
            voted = {(v.first, v.judge): v for v in verdicts if v.margin is not None}
            by_order = {o: [judge for first, judge in voted if first == o[0]] for o in orders}
            asked = {order: names for order, names in by_order.items() if names}
            heard = await self._ask_judges(asked, "checklist", list(voted.values()))
            voted |= {(v.first, v.judge): v for v in heard}
            verdicts = [voted.get((v.first, v.judge), v) for v in verdicts]
        return settle(self.pairing, verdicts, self._discarded, self._differences, jury.quorum)

    async def _note(self, left: str, right: str) -> None:
        question = CritiqueQuestion(self.contest, left, right)
        noted = await self.judge.ask(question, depth=self.depth)
        self.calls += noted.calls
        self.depth = noted.depth
        if noted.value is not None:
            self._differences = {left: noted.value.left, right: noted.value.right}

    async def _ask_judges(
        self, asked: Mapping[Pair, Sequence[str]], votes: Votes, before: Sequence[Verdict] = ()
    ) -> list[Verdict]:
        """Ask judges in some orders of presentation, all at once, and return their verdicts.

        `before` holds the verdicts so far. Verdicts on the checklist keep their earlier votes on
        the principles, and are left unchanged if a judge of a jury fails.
        """
        heard: dict[str, Mapping[str, Reply[PairReply]]] = {}
        failed: list[ModelFailedError] = []
        depth = self.depth

        async def ask(order: Pair) -> None:
            question = partial(
                MatchQuestion, self.contest, self.items, *order, self._differences, votes
            )
            try:
                heard[order[0]] = await self.judge.ask_jury(question, asked[order], depth=depth)
            except ModelFailedError as error:
                if self.judge.jury.alone:
                    raise
                failed.append(error)

        await self.judge.side_by_side([partial(ask, order) for order in asked])
        if not heard and not before:
            raise failed[0]
        voted = {(v.first, v.judge): v for v in before} if votes == "checklist" else {}
        verdicts: list[Verdict] = []
        replies = [(left, *reply) for left, _ in asked for reply in heard.get(left, {}).items()]
        for first, judge, reply in replies:
            self.calls += reply.calls
            self.depth = max(self.depth, reply.depth)
            made = self._verdict(first, judge, reply, voted.get((first, judge)))
            if reply.failed is None:
                verdicts.append(made)
            elif not voted:
                # With `rotate` another judge has taken over.
                (self._discarded if self.judge.jury.rotate else verdicts).append(made)
        return verdicts

    def _verdict(
        self, first: str, judge: str, reply: Reply[PairReply], before: Verdict | None
    ) -> Verdict:
        """The ballot for a judge's reply; `before` holds its earlier votes on the principles."""
        votes = reply.value
        if reply.set_aside is not None:
            self._discarded.append(Verdict(first=first, judge=judge, unscored=reply.set_aside))
        if votes is not None and before is not None:
            votes = PairReply(principles=before.principles, checklist=votes.checklist)
        return verdict(first, votes, reply.unscored, self.contest, self.items, judge)
