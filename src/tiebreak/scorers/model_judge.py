"""The judge that asks language models, through Inspect.

A malformed reply gets one repair turn that says what was wrong. Every call goes through Inspect's
cache without expiry, so a killed and retried run pays for nothing twice, and leaves a `Call`: the
receipt is written here, because a cache hit shows up in no usage statistics.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Final, TypeVar

import anyio
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    Model,
    ModelOutput,
)
from inspect_ai.util import span
from typing_extensions import override

from tiebreak.scorers.ballots import Call, Reviewer
from tiebreak.scorers.budget import Account, Budget, BudgetSpentError, Spent
from tiebreak.scorers.judge import Judge, ModelFailedError, Prompt, Question, Reply, with_images
from tiebreak.scorers.jury import ONE_JUDGE, Jury
from tiebreak.scorers.model_call import call_model
from tiebreak.scorers.prompt import fill, template
from tiebreak.scorers.replies import ReplyError

T = TypeVar("T")
_SENT_BACK: Final = 20_000
"""Characters of a malformed reply that its repair turn shows: an endless one costs enough once."""

_IN_SECTIONS: Final = ("seed", "match", "critique")


class ModelJudge(Judge):
    """The models that answer questions, by role (`judge`, `meta_judge`) or as reviewers.

    Args:
        models: the model of each role, and of each reviewer or judge of a jury by its name.
        account: what may be spent on the item, out of the budget of the run; by default no limit.
        repeat: runs with another number get fresh replies instead of those in the cache.
        reviewers: who can be asked in peer review.
        jury: who of several judges is asked.
    """

    def __init__(
        self,
        models: Mapping[str, Model],
        account: Account | None = None,
        repeat: int = 1,
        reviewers: tuple[Reviewer, ...] = (),
        jury: Jury = ONE_JUDGE,
    ) -> None:
        self.reviewers = reviewers
        self.jury = jury
        self._models = models
        self._account = account or Account(Budget(), Spent())
        self._repeat = repeat
        self.calls: list[Call] = []
        """All calls that have ended, in the order in which they did."""

    @override
    async def ask(self, question: Question[T], *, depth: int, attempt: int = 0) -> Reply[T]:
        prompt = question.prompt()
        messages: list[ChatMessage] = [
            ChatMessageSystem(content=prompt.system),
            ChatMessageUser(content=with_images(prompt.user, prompt.images)),
        ]
        calls: list[Call] = []
        problem = ""
        for repair in (False, True):
            try:
                output, call = await self._generate(
                    question, prompt, messages, attempt, repair, depth
                )
            except ModelFailedError as error:
                error.calls = tuple(calls)
                raise
            calls.append(call)
            depth += 1
            try:
                value = question.parse(output.completion)
                return Reply(value, None, tuple(calls), depth)
            except ReplyError as error:
                problem = _explain(error, output)
            if _stop_reason(output) == "model_length":
                # The prompt does not fit: a longer one cannot help.
                return Reply(None, problem, tuple(calls), depth, too_long=not repair)
            messages += [
                ChatMessageAssistant(content=output.completion[:_SENT_BACK] or "(empty)"),
                ChatMessageUser(content=fill(template("repair"), problem=problem)),
            ]
        return Reply(None, problem, tuple(calls), depth)

    def section(self, name: str, kind: str) -> AbstractAsyncContextManager[object]:
        """A span of Inspect's transcript."""
        return span(_title(name), type=kind)

    async def side_by_side(self, tasks: Sequence[Callable[[], Awaitable[None]]]) -> None:
        """Run tasks concurrently.

        Not `inspect_ai.util.collect`, which adds a span per task to the transcript's outline.

        Raises:
            BudgetSpentError: one was refused a call; the others have gone on to their end first,
                because their calls are paid for.
        """
        if len(tasks) == 1:
            await tasks[0]()
            return
        refused: list[BudgetSpentError] = []

        async def run(task: Callable[[], Awaitable[None]]) -> None:
            try:
                await task()
            except BudgetSpentError as error:
                refused.append(error)

        try:
            async with anyio.create_task_group() as group:
                for task in tasks:
                    group.start_soon(run, task)
        except BaseExceptionGroup as failed:
            # Inspect knows what to do with a limit or a provider's error, not with a group of them.
            raise failed.exceptions[0] from None
        if refused:
            raise refused[0]

    async def _generate(
        self,
        question: Question[T],
        prompt: Prompt,
        messages: list[ChatMessage],
        attempt: int,
        repair: bool,
        depth: int,
    ) -> tuple[ModelOutput, Call]:
        who = question.reviewer or question.role
        model = self._models[who]
        name = f"{who}: {question.kind}{' (repair)' if repair else ''}"
        # These have a section around them already, and a span costs a tenth of a call.
        part = nullcontext() if question.kind in _IN_SECTIONS else self.section(name, "judge_call")
        scopes = {"attempt": str(attempt)}
        if self._repeat != 1:
            scopes["repeat"] = str(self._repeat)
        async with self._account.call() as paid, part:
            output, cached = await call_model(model, messages, prompt.schema, scopes)
            usage = output.usage
            call = Call(
                kind=question.kind,
                role=question.role,
                model=str(model),
                reviewer=question.reviewer,
                attempt=attempt,
                repair=repair,
                cached=cached,
                input_tokens=_input_tokens(output),
                output_tokens=usage.output_tokens if usage else 0,
                cost=usage.total_cost if usage else None,
                depth=depth,
            )
            self.calls.append(call)
            paid(call)
        return output, call


def _title(name: str) -> str:
    """A span's name: Inspect's outline takes a slash for a level of its own."""
    return name.replace("/", "∕")


def _input_tokens(output: ModelOutput) -> int:
    """All input tokens, those of the provider's own prompt cache included."""
    usage = output.usage
    if usage is None:
        return 0
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    return usage.input_tokens + cached


def _stop_reason(output: ModelOutput) -> str:
    return output.stop_reason if output.choices else "unknown"


def _explain(error: ReplyError, output: ModelOutput) -> str:
    if (reason := _stop_reason(output)) in ("stop", "unknown"):
        return str(error)
    return f"{error} (the model stopped with {reason})"
