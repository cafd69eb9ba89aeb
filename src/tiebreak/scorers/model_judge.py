"""The judge that asks language models, through Inspect.

A malformed reply gets one repair turn that says what was wrong. Every call goes through Inspect's
cache without expiry, so a killed and retried run pays for nothing twice, and leaves a `Call`: the
receipt is written here because a cache hit does not appear in Inspect's usage statistics.

Inspect itself retries a call while its provider is busy or unreachable, as `--max-retries` and
`--timeout` say. Calls that Inspect gives up on are started at most `ATTEMPTS` times in all, except
those that a provider refuses, because it would refuse again. Then a `ModelFailedError` is raised.

Inspect caches every reply, even one without content (an empty list of choices). An empty cached
reply is never used: the next attempt at the run asks again.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from itertools import islice
from typing import Final, TypeVar

import anyio
from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import (
    CachePolicy,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    ModelRefusalError,
    ResponseSchema,
)
from inspect_ai.util import LimitExceededError, span
from typing_extensions import override

from tiebreak.scorers.ballots import Call, Reviewer
from tiebreak.scorers.budget import Account, Budget, BudgetSpentError, Spent
from tiebreak.scorers.judge import (
    ONE_JUDGE,
    Judge,
    Jury,
    ModelFailedError,
    Prompt,
    Question,
    Reply,
    with_images,
)
from tiebreak.scorers.probation import ACCESS, Probation, not_noted
from tiebreak.scorers.prompt import fill, template
from tiebreak.scorers.replies import ReplyError

T = TypeVar("T")
_SENT_BACK: Final = 20_000
"""Characters of a malformed reply quoted in its repair turn: an endless one is paid for once."""

_IN_SECTIONS: Final = ("seed", "match", "critique", "score")


class ModelJudge(Judge):
    """The models that answer questions, by role (`judge`, `meta_judge`) or as reviewers.

    Args:
        models: the model of each role, and of each reviewer or judge of a jury by its name.
        account: the item's share of the run's budget; by default no limit.
        repeat: runs with another number get fresh replies instead of those in the cache.
        reviewers: the models that can be asked in peer review.
        jury: the judges to choose from.
        probation: the record of each model's first replies; by default none is kept.
    """

    def __init__(
        self,
        models: Mapping[str, Model],
        account: Account | None = None,
        repeat: int = 1,
        reviewers: tuple[Reviewer, ...] = (),
        jury: Jury = ONE_JUDGE,
        probation: Mapping[str, Probation] | None = None,
    ) -> None:
        self.reviewers = reviewers
        self.jury = jury
        self._probation = probation or {}
        self._models = models
        self._account = account or partial(Budget().call, Spent())
        self._repeat = repeat
        self._systems: dict[str, ChatMessage] = {}
        self.calls: list[Call] = []
        """All calls in the order in which they ended."""

    @override
    async def ask(self, question: Question[T], *, depth: int, attempt: int = 0) -> Reply[T]:
        prompt = question.prompt()
        messages: list[ChatMessage] = [
            self._system(prompt.system),
            ChatMessageUser(content=with_images(prompt.user, prompt.images)),
        ]
        calls: list[Call] = []
        probation = self._probation.get(question.reviewer or question.role)
        for repair in (False, True):
            try:
                async with (
                    probation.call(prompt.user) if probation else nullcontext(not_noted) as replied
                ):
                    output, call = await self._generate(
                        question, prompt, messages, attempt, repair, depth
                    )
                    value, problem = _parsed(question, output)
                    too_long = _stop_reason(output) == "model_length"
                    # Cached replies were counted by an earlier run; a prompt that is too long is
                    # the item's fault.
                    if problem is None or not (call.cached or too_long):
                        replied(output.completion, problem)
            except ModelFailedError as error:
                error.calls = tuple(calls)
                raise
            calls.append(call)
            depth += 1
            if problem is None:
                return Reply(value, None, tuple(calls), depth)
            if too_long:
                # The prompt does not fit, and a repair turn would be even longer.
                return Reply(None, problem, tuple(calls), depth, too_long=not repair)
            messages += [
                ChatMessageAssistant(content=output.completion[:_SENT_BACK] or "(empty)"),
                ChatMessageUser(content=fill(template("repair"), problem=problem)),
            ]
        return Reply(None, problem, tuple(calls), depth)

    def _system(self, text: str) -> ChatMessage:
        """Reuse one message object for all calls, because Inspect hashes every new message."""
        if text not in self._systems:
            self._systems[text] = ChatMessageSystem(content=text)
        return self._systems[text]

    def section(self, name: str, kind: str) -> AbstractAsyncContextManager[object]:
        """Open a span of Inspect's transcript."""
        # Inspect's outline treats a slash in a name as a level of nesting.
        return span(name.replace("/", "∕"), type=kind)

    async def side_by_side(self, tasks: Sequence[Callable[[], Awaitable[None]]]) -> None:
        """Run tasks concurrently.

        `inspect_ai.util.collect` would add a span per task to the transcript's outline.

        Raises:
            BudgetSpentError: a task was refused a call; the others run to their end first because
                their calls are paid for.
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
            # Inspect handles a limit or a provider's error, but not a group of them.
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
        asked = question.reviewer or question.role
        model = self._models[asked]
        name = f"{asked}: {question.kind}{' (repair)' if repair else ''}"
        # These have a section around them already, and a span takes a tenth of the time of a call.
        part = nullcontext() if question.kind in _IN_SECTIONS else self.section(name, "judge_call")
        scopes = {"attempt": str(attempt)}
        if self._repeat != 1:
            scopes["repeat"] = str(self._repeat)
        async with self._account() as paid, part:
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


def _parsed(question: Question[T], output: ModelOutput) -> tuple[T, None] | tuple[None, str]:
    try:
        return question.parse(output.completion), None
    except ReplyError as error:
        reason = _stop_reason(output)
        stopped = "" if reason in ("stop", "unknown") else f" (the model stopped with {reason})"
        return None, f"{error}{stopped}"


def _input_tokens(output: ModelOutput) -> int:
    """All input tokens, including those read from or written to the provider's prompt cache."""
    usage = output.usage
    if usage is None:
        return 0
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    return usage.input_tokens + cached


def _stop_reason(output: ModelOutput) -> str:
    return output.stop_reason if output.choices else "unknown"


ATTEMPTS: Final = 3
"""How often a call is started if its provider fails in a way that Inspect does not retry."""

_LONGEST_MESSAGE: Final = 500
_OF_ALL_CALLS: Final = (401, 404)
"""HTTP statuses for a key or model that the provider does not know: it refuses every call."""
_WORTH_ANOTHER: Final = (408, 409, 425, 429)
"""HTTP statuses below 500 after which the same request may succeed later."""


async def call_model(
    model: Model,
    messages: list[ChatMessage],
    schema: ResponseSchema | None,
    scopes: Mapping[str, str],
) -> tuple[ModelOutput, bool]:
    """Generate a reply, and tell whether it came from the cache.

    `schema` is the form of the reply, if any. `scopes` tell calls with the same text apart there.

    Raises:
        LimitExceededError: one of Inspect's limits was reached.
        ModelFailedError: the provider failed; the message is its own.
    """
    empty = 0
    while True:
        more = {"empty": str(empty)} if empty else {}
        policy = CachePolicy(expiry=None, per_epoch=False, scopes={**scopes, **more})
        output = await _generate(model, messages, schema, policy)
        cached = _was_cached(output)
        if output.choices or not cached:
            return output, cached
        # Another scope bypasses the cached empty reply.
        empty += 1


async def _generate(
    model: Model, messages: list[ChatMessage], schema: ResponseSchema | None, policy: CachePolicy
) -> ModelOutput:
    for more in reversed(range(ATTEMPTS)):
        try:
            return await model.generate(
                messages,
                # Temperature and the like belong to the role, and anything set here would override
                # them. The provider's prompt cache stays off unless the role turns it on: some
                # providers bill writes to it, which no later call would read.
                config=GenerateConfig(
                    response_schema=schema, cache_prompt=model.config.cache_prompt or False
                ),
                cache=policy,
            )
        except LimitExceededError:
            raise
        except Exception as error:  # whatever the clients of many providers raise
            status = _status(error)
            look_at = ACCESS if status in _OF_ALL_CALLS else ""
            refused = 400 <= status < 500 and status not in _WORTH_ANOTHER
            # A retry would fail the same way.
            if not more or refused or isinstance(error, ModelRefusalError):
                raise ModelFailedError(f"{model}: {_words(error)}", look_at=look_at) from error
    raise AssertionError("there is at least one attempt")


def _status(error: BaseException) -> int:
    """The HTTP status in the provider's error, 500 if it has none."""
    statuses = (getattr(cause, "status_code", None) for cause in _causes(error))
    return next((status for status in statuses if isinstance(status, int)), 500)


def _words(error: BaseException) -> str:
    """The provider's error message, shortened, with the name of its exception."""
    # Inspect's RetryError has no message of its own, only a memory address.
    cause = error.__cause__ if type(error).__name__ == "RetryError" else None
    first = cause or error
    # Inspect's message for a refused request starts with the whole request.
    message = " ".join(str(getattr(first, "provider_message", None) or first).split())
    return f"{message[:_LONGEST_MESSAGE]} ({type(first).__name__})"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _was_cached(output: ModelOutput) -> bool:
    """Whether this output was served from Inspect's cache, as its event in the transcript says."""
    given = _ids(output)
    # Only events still in memory: older ones would be read back from disk. Concurrent calls may
    # have added events after this output's own.
    events = transcript().history.resident_events
    latest = (event for event in islice(reversed(events), 64) if isinstance(event, ModelEvent))
    return next((event.cache == "read" for event in latest if _ids(event.output) == given), False)


def _ids(output: ModelOutput) -> Sequence[str | None]:
    """Ids that identify an output and survive caching: its own and those of its messages."""
    return [output.response_id, *(choice.message.id for choice in output.choices)]
