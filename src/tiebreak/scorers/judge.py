"""One question → a validated answer, or `unscored` with the reason; whoever answers.

A `Judge` answers questions. `ModelJudge` asks language models through Inspect; the lab and
the estimate have judges of their own, so that every protocol runs on the same code without a call.

A jury: several models behind the role `judge`, which all judge, or take turns.

    all      each judges every match and every answer; the mean of their margins, or grades, decides
    rotate   every match and every answer has one of them, for the price of one judge

Turns are balanced: over the items each pair of models meets before every judge equally often, and
in both orders of presentation, but for one; the matches of a round are shared out as evenly. No
result has a say in it, and more rounds leave the first ones as they are. With another number of
items only the last ones get other judges.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import ClassVar, Final, Generic, Literal, TypeVar

from inspect_ai.model import Content, ContentImage, ContentText, ResponseSchema

from tiebreak.errors import TiebreakError
from tiebreak.scorers.ballots import Call, CallKind, Reviewer
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.schedule import Pair, line, turns

JuryMode = Literal["all", "rotate"]
"""Whether all judges judge everything, or each match and each answer has one of them in turn."""


@dataclass(frozen=True)
class Jury:
    """The judges by name; the one judge of a run has none.

    `quorum` is how many of them must give a usable verdict for it to count, from 1 on. With
    `rotate` one is asked at a time, and the next one where its provider fails.
    """

    names: tuple[str, ...] = ("",)
    rotate: bool = False
    quorum: int = 1

    @property
    def alone(self) -> bool:
        """Whether there is one judge."""
        return len(self.names) == 1

    def of_match(self, contest: Contest, pair: Pair) -> tuple[str, ...]:
        """Who judges two models, given by name; in turns: and who takes over, in this order."""
        if not self.rotate:
            return self.names
        rounds = contest.schedule.rounds
        number = next(n for n, pairs in enumerate(rounds) if pair in pairs)
        shifts = _shifts(contest.position, contest.n_items, len(rounds), len(self.names))
        # Rounds begin where the one before ended, so that an item's matches are shared out.
        return self._from(shifts[number] + len(rounds[0]) * number + rounds[number].index(pair))

    def of_answer(self, contest: Contest, candidate: str) -> tuple[str, ...]:
        """The same for an answer on its own."""
        if not self.rotate:
            return self.names
        return self._from(contest.position + sorted(contest.models).index(candidate))

    def _from(self, start: int) -> tuple[str, ...]:
        # By name, so that another order on the command line asks nobody anew.
        names, first = sorted(self.names), start % len(self.names)
        return (*names[first:], *names[:first])


ONE_JUDGE: Final = Jury()
"""The jury of a run with one judge."""


@lru_cache(maxsize=1024)
def _shifts(item: int, n_items: int, n_rounds: int, n_judges: int) -> tuple[int, ...]:
    """By how many judges an item moves on, for each round of the schedule.

    In 2 · `n_judges` blocks of `n_rounds` items each round is played in each place of the line
    before every judge in both orders of presentation.
    """
    start = n_items - n_items % (2 * n_judges * n_rounds)
    if item >= start:
        return _last(start, n_items, n_rounds, n_judges)[item - start]
    return tuple(item // n_rounds // 2 + (number - item) % n_rounds for number in range(n_rounds))


@lru_cache(maxsize=64)
def _last(start: int, n_items: int, n_rounds: int, n_judges: int) -> list[tuple[int, ...]]:
    """The same for the last items: place by place of the line, judges take turns in each order.

    One order counts up and the other down, so that what is left over of both does not fall to the
    same judges; rounds take turns in which of them does.
    """
    items = range(start, n_items)
    lines = [line(item, n_items, n_rounds) for item in items]
    turned = [turns(item, n_items, n_rounds) for item in items]
    shifts = [[0] * n_rounds for _ in items]
    seen = [[0, 0] for _ in range(n_rounds)]
    for place in range(n_rounds):
        for row, order in enumerate(lines):
            number = order[place]
            side = turned[row][number] ^ number % 2
            shifts[row][number] = -1 - seen[number][1] if side else seen[number][0]
            seen[number][side] += 1
    return [tuple(row) for row in shifts]


T = TypeVar("T")


@dataclass(frozen=True)
class Prompt:
    """A question in words, with images of its task, and the schema of its reply."""

    system: str
    user: str
    schema: ResponseSchema
    images: tuple[str, ...] = ()


def with_images(text: str, images: Sequence[str]) -> str | list[Content]:
    """A message of text and images. These come first: calls about an item begin with them."""
    shown = [ContentImage(image=image) for image in images]
    return [*shown, ContentText(text=text)] if shown else text


class Question(ABC, Generic[T]):
    """What is asked of which role: `judge`, `meta_judge` or `peers`, and of whom of several."""

    kind: ClassVar[CallKind]
    role: ClassVar[str] = "judge"
    reviewer: str = ""

    @abstractmethod
    def prompt(self) -> Prompt:
        """The question as a model gets to read it."""

    @abstractmethod
    def parse(self, text: str) -> T:
        """Read a reply.

        Raises:
            ReplyError: it is not what was asked for.
        """


@dataclass(frozen=True)
class Reply(Generic[T]):
    """A validated value, or None and the reason in `unscored`; and the calls that it took.

    `depth` is the number of calls, one after the other, that had ended when this reply was there.
    `too_long` tells that the question does not fit the model's context, `set_aside` why a first
    reply did not count. Of a model that `failed` the reply is unscored.
    """

    value: T | None
    unscored: str | None
    calls: tuple[Call, ...]
    depth: int
    too_long: bool = False
    set_aside: str | None = None
    failed: "ModelFailedError | None" = None

    @property
    def is_past(self) -> bool:
        """Whether all of it came from a cache."""
        return bool(self.calls) and all(call.cached for call in self.calls)


class ModelFailedError(TiebreakError, RuntimeError):
    """A model could not be asked; the message is its provider's.

    `calls` are those about the same question that had ended before. Where no other question would
    be answered either, `look_at` says what to look at first.
    """

    def __init__(self, message: str, *, look_at: str = "") -> None:
        super().__init__(message)
        self.look_at = look_at
        self.calls: tuple[Call, ...] = ()

    @property
    def message(self) -> str:
        """What Inspect shows of it; of an error without one it shows Python's own form."""
        return str(self)


def least_final(errors: Iterable[ModelFailedError]) -> ModelFailedError:
    """Of several models that all failed: the first that may answer another question."""
    return min(errors, key=lambda error: bool(error.look_at))


class Judge(ABC):
    """Whoever answers questions."""

    jury: Jury = ONE_JUDGE
    """Who of several judges is asked; by default there is one."""

    reviewers: tuple[Reviewer, ...] = ()
    """In peer review: the models that can be asked, one by one."""

    @abstractmethod
    async def ask(self, question: Question[T], *, depth: int, attempt: int = 0) -> Reply[T]:
        """Ask once, with one repair turn. `attempt` > 0 asks afresh, past what a cache holds.

        Raises:
            BudgetSpentError: this call is one more than the budget allows.
            ModelFailedError: the model's provider refused.
        """

    async def ask_now(self, question: Question[T], *, depth: int, attempt: int = 0) -> Reply[T]:
        """Ask; where all that a cache holds of it stays unscored, once past the cache.

        What an earlier run could not use is not taken for an answer for ever: the model, or what it
        runs on, may have been mended. A reply that can be used costs nothing twice.

        Raises:
            BudgetSpentError, ModelFailedError: as `ask` does.
        """
        reply = await self.ask(question, depth=depth, attempt=attempt)
        calls = reply.calls
        # Of a first attempt "too long" is of use: whoever asked so goes on with less.
        while (
            reply.unscored is not None and not (reply.too_long and attempt == 0) and reply.is_past
        ):
            attempt += 1
            reply = await self.ask(question, depth=reply.depth, attempt=attempt)
            calls += reply.calls
        return replace(reply, calls=calls)

    async def ask_again(self, question: Question[T], *, depth: int) -> Reply[T]:
        """Ask, and once more with a fresh cache scope when the first reply stays unscored."""
        first = await self.ask(question, depth=depth)
        if first.unscored is None or (first.too_long and not first.is_past):
            return first
        second = await self.ask_now(question, depth=first.depth, attempt=1)
        calls = first.calls + second.calls
        return replace(second, calls=calls, too_long=False, set_aside=first.unscored)

    async def ask_jury(
        self, question: Callable[[str], Question[T]], judges: Sequence[str], *, depth: int
    ) -> dict[str, Reply[T]]:
        """Ask some of the jury, side by side; where they take turns, the first that does not fail.

        Args:
            question: makes the question to a judge from its name.
            judges: their names; those that take turns in the order of their turns.
            depth: as for `ask`.

        Returns:
            What they answered, by name and in their order; where they take turns, those that
            failed, then the one that did not. The one judge of a run has no name.

        Raises:
            BudgetSpentError: a call is one more than the budget allows.
            ModelFailedError: all of them failed.
        """
        heard: dict[str, Reply[T]] = {}

        async def ask_jury(name: str) -> None:
            try:
                heard[name] = await self.ask_again(question(name), depth=depth)
            except ModelFailedError as error:
                heard[name] = Reply(None, f"error: {error}", error.calls, depth, failed=error)

        if self.jury.rotate or len(judges) == 1:
            for name in judges:
                await ask_jury(name)
                if not heard[name].failed:
                    break
        else:
            await self.side_by_side([partial(ask_jury, name) for name in judges])
        failed = [reply.failed for reply in heard.values() if reply.failed]
        if len(failed) == len(heard):
            raise least_final(failed)
        return {name: heard[name] for name in judges if name in heard}

    def section(self, name: str, kind: str) -> AbstractAsyncContextManager[object]:
        """A part of the transcript with a title of its own; none where there is no transcript."""
        return nullcontext()

    async def side_by_side(self, tasks: Sequence[Callable[[], Awaitable[None]]]) -> None:
        """Run tasks that need not wait for each other, here one after the other."""
        for task in tasks:
            await task()
