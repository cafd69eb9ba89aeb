"""One question → a validated answer, or `unscored` with the reason, from any kind of judge.

A `Judge` answers questions. `ModelJudge` asks language models through Inspect; the lab and the
estimate have their own judges, so that every protocol runs on the same code without a call.

A jury consists of several models with the role `judge`, which judge together or take turns:

    all      each judges every match and every answer; the mean of their margins, or grades, decides
    rotate   one of them judges each match and each answer, for the price of one judge

Turns are balanced: over the items each pair of models meets before every judge equally often, to
within one, and in both orders of presentation; the matches of a round are shared out as evenly.
Results do not matter, and more rounds leave the turns of earlier rounds unchanged. With another
number of items only the last items get other judges.
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
"""Whether all judges judge everything, or each match and each answer goes to one judge in turn."""


@dataclass(frozen=True)
class Jury:
    """The judges by name; a single judge has an empty name.

    `quorum` is the number of judges, from 1 on, that must give a usable verdict for it to count.
    With `rotate` one judge is asked at a time, and the next one if its provider fails.
    """

    names: tuple[str, ...] = ("",)
    rotate: bool = False
    quorum: int = 1

    @property
    def alone(self) -> bool:
        """Whether there is only one judge."""
        return len(self.names) == 1

    def of_match(self, contest: Contest, pair: Pair) -> tuple[str, ...]:
        """Names of the judges for a pair of models; with `rotate`, a judge and its substitutes."""
        if not self.rotate:
            return self.names
        rounds = contest.schedule.rounds
        number = next(n for n, pairs in enumerate(rounds) if pair in pairs)
        shifts = _shifts(contest.position, contest.n_items, len(rounds), len(self.names))
        # Each round starts at the judge after the previous round's last one, so that an item's
        # matches are spread over all judges.
        return self._from(shifts[number] + len(rounds[0]) * number + rounds[number].index(pair))

    def of_answer(self, contest: Contest, candidate: str) -> tuple[str, ...]:
        """Names of the judges for a single answer, in the same order as for a match."""
        if not self.rotate:
            return self.names
        return self._from(contest.position + sorted(contest.models).index(candidate))

    def _from(self, start: int) -> tuple[str, ...]:
        # Sorted, so that another order on the command line asks the same judges (as in the cache).
        names, first = sorted(self.names), start % len(self.names)
        return (*names[first:], *names[:first])


ONE_JUDGE: Final = Jury()
"""The jury of a run with a single judge."""


@lru_cache(maxsize=1024)
def _shifts(item: int, n_items: int, n_rounds: int, n_judges: int) -> tuple[int, ...]:
    """For each round of the schedule, the number of judges by which the item's turn is shifted.

    In 2 · `n_judges` blocks of `n_rounds` items, each round is played at each position of the line
    before every judge in both orders of presentation.
    """
    start = n_items - n_items % (2 * n_judges * n_rounds)
    if item >= start:
        return _last(start, n_items, n_rounds, n_judges)[item - start]
    return tuple(item // n_rounds // 2 + (number - item) % n_rounds for number in range(n_rounds))


@lru_cache(maxsize=64)
def _last(start: int, n_items: int, n_rounds: int, n_judges: int) -> list[tuple[int, ...]]:
    """Shifts of the last items: position by position of the line, judges take turns in each order.

    One order counts up and the other down, so that the remainders of both fall to different judges;
    rounds alternate in which order counts up.
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
    """The text of a question with the images of its task, and the schema of the reply."""

    system: str
    user: str
    schema: ResponseSchema
    images: tuple[str, ...] = ()


def with_images(text: str, images: Sequence[str]) -> str | list[Content]:
    """A message of text and images; images come first because calls about an item share them."""
    shown = [ContentImage(image=image) for image in images]
    return [*shown, ContentText(text=text)] if shown else text


class Question(ABC, Generic[T]):
    """A question to the role `judge`, `meta_judge` or `peers`; `reviewer` names one of several."""

    kind: ClassVar[CallKind]
    role: ClassVar[str] = "judge"
    reviewer: str = ""

    @abstractmethod
    def prompt(self) -> Prompt:
        """Return the question as the model reads it."""

    @abstractmethod
    def parse(self, text: str) -> T:
        """Parse a reply.

        Raises:
            ReplyError: the reply does not have the form that was asked for.
        """


@dataclass(frozen=True)
class Reply(Generic[T]):
    """A validated value, or None with the reason in `unscored`, and the calls that it took.

    `depth` is the number of sequential calls that had ended when this reply arrived. `too_long`
    tells that the question does not fit the model's context, `set_aside` why a first reply did not
    count. The reply of a model that `failed` is unscored.
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
        """Whether all calls were served from a cache."""
        return bool(self.calls) and all(call.cached for call in self.calls)


class ModelFailedError(TiebreakError, RuntimeError):
    """A model could not be asked; the message comes from its provider.

    `calls` are the calls about the same question that had ended before. If no other question would
    be answered either, `look_at` says what to check first.
    """

    def __init__(self, message: str, *, look_at: str = "") -> None:
        super().__init__(message)
        self.look_at = look_at
        self.calls: tuple[Call, ...] = ()

    @property
    def message(self) -> str:
        """The text that Inspect shows; for an error without `message` it shows Python's repr."""
        return str(self)


def least_final(errors: Iterable[ModelFailedError]) -> ModelFailedError:
    """The first error of a model that may still answer other questions, else the first error."""
    return min(errors, key=lambda error: bool(error.look_at))


class Judge(ABC):
    """Answers questions."""

    jury: Jury = ONE_JUDGE
    """The judges to choose from; by default one."""

    reviewers: tuple[Reviewer, ...] = ()
    """In peer review: the models that can be asked, one by one."""

    @abstractmethod
    async def ask(self, question: Question[T], *, depth: int, attempt: int = 0) -> Reply[T]:
        """Ask once, with one repair turn; `attempt` > 0 asks for a fresh reply, not a cached one.

        Raises:
            BudgetSpentError: this call would exceed the budget.
            ModelFailedError: the model's provider refused.
        """

    async def ask_now(self, question: Question[T], *, depth: int, attempt: int = 0) -> Reply[T]:
        """Ask; if the reply comes entirely from a cache and is unscored, ask again past the cache.

        An unusable reply of an earlier run is not final: the model or its server may have been
        repaired since. A usable reply is never paid for twice.

        Raises:
            BudgetSpentError, ModelFailedError: as `ask` does.
        """
        reply = await self.ask(question, depth=depth, attempt=attempt)
        calls = reply.calls
        # A first attempt that is "too long" is useful: the caller goes on with a shorter question.
        while (
            reply.unscored is not None and not (reply.too_long and attempt == 0) and reply.is_past
        ):
            attempt += 1
            reply = await self.ask(question, depth=reply.depth, attempt=attempt)
            calls += reply.calls
        return replace(reply, calls=calls)

    async def ask_again(self, question: Question[T], *, depth: int) -> Reply[T]:
        """Ask, and once more with a fresh cache scope if the first reply stays unscored."""
        first = await self.ask(question, depth=depth)
        # A cached "too long" may be outdated, if the context has grown since; a new one stays so.
        if first.unscored is None or (first.too_long and not first.is_past):
            return first
        second = await self.ask_now(question, depth=first.depth, attempt=1)
        calls = first.calls + second.calls
        return replace(second, calls=calls, too_long=False, set_aside=first.unscored)

    async def ask_jury(
        self, question: Callable[[str], Question[T]], judges: Sequence[str], *, depth: int
    ) -> dict[str, Reply[T]]:
        """Ask several judges side by side; with `rotate`, in turn until one does not fail.

        Args:
            question: makes the question to a judge from its name.
            judges: their names; with `rotate` in the order of their turns.
            depth: as for `ask`.

        Returns:
            Their replies by name, in the order of `judges`; with `rotate` the replies of judges
                that failed, then of the one that did not. A single judge has an empty name.

        Raises:
            BudgetSpentError: a call would exceed the budget.
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
        """Open a titled section of the transcript; does nothing if there is no transcript."""
        return nullcontext()

    async def side_by_side(self, tasks: Sequence[Callable[[], Awaitable[None]]]) -> None:
        """Run tasks that need not wait for each other; this implementation runs them in turn."""
        for task in tasks:
            await task()
