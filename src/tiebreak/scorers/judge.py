"""One question → a validated answer, or `unscored` with the reason; whoever answers.

A `Judge` answers questions. `ModelJudge` asks language models through Inspect; the lab and
the estimate have judges of their own, so that every protocol runs on the same code without a call.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from inspect_ai.model import ResponseSchema

from tiebreak.scorers.ballots import Call, CallKind, Reviewer

T = TypeVar("T")


@dataclass(frozen=True)
class Prompt:
    """A question in words, and the schema of its reply."""

    system: str
    user: str
    schema: ResponseSchema


class Question(ABC, Generic[T]):
    """What is asked of which role: `judge`, `meta_judge` or `peers`, and of which of the peers."""

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
    `too_long` tells that the question does not fit the model's context.
    """

    value: T | None
    unscored: str | None
    calls: tuple[Call, ...]
    depth: int
    too_long: bool = False


class ModelFailedError(RuntimeError):
    """A model could not be asked; the message is its provider's.

    `calls` are those about the same question that had ended before.
    """

    calls: tuple[Call, ...] = ()


class Judge(ABC):
    """Whoever answers questions."""

    reviewers: tuple[Reviewer, ...] = ()
    """In peer review: the models that can be asked, one by one."""

    @abstractmethod
    async def ask(self, question: Question[T], *, depth: int, attempt: int = 0) -> Reply[T]:
        """Ask once, with one repair turn. `attempt` > 0 asks afresh, past what a cache holds.

        Raises:
            BudgetSpentError: this call is one more than the budget allows.
            ModelFailedError: the model's provider refused.
        """

    async def ask_again(self, question: Question[T], *, depth: int) -> tuple[Reply[T], str | None]:
        """Ask, and once more with a fresh cache scope when the first reply stays unscored.

        Returns the reply that counts, and why the first one was set aside (None if it was not).
        """
        first = await self.ask(question, depth=depth)
        if first.unscored is None or first.too_long:
            return first, None
        second = await self.ask(question, depth=first.depth, attempt=1)
        calls = first.calls + second.calls
        return Reply(second.value, second.unscored, calls, second.depth), first.unscored

    def section(self, name: str, kind: str) -> AbstractAsyncContextManager[object]:
        """A part of the transcript with a title of its own; none where there is no transcript."""
        return nullcontext()

    async def side_by_side(self, tasks: Sequence[Callable[[], Awaitable[None]]]) -> None:
        """Run tasks that need not wait for each other, here one after the other."""
        for task in tasks:
            await task()
