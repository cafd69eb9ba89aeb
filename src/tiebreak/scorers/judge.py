"""One question to one model → a validated answer, or `unscored` with the reason.

A malformed reply gets one repair turn that says what was wrong. Every call goes through Inspect's
cache without expiry, so a killed and retried run pays for nothing twice, and leaves a `Call`: the
receipt is written here, because a cache hit shows up in no usage statistics.
"""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

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
    ResponseSchema,
)
from inspect_ai.util import span

from tiebreak.scorers.ballots import Call, CallKind
from tiebreak.scorers.prompt import fill, template
from tiebreak.scorers.replies import ReplyError

T = TypeVar("T")


@dataclass(frozen=True)
class Question(Generic[T]):
    """What is asked: of which role, in which words, and how its reply is read.

    `parse` turns the text of a reply into its value or raises `ReplyError`.
    """

    kind: CallKind
    role: str
    system: str
    user: str
    schema: ResponseSchema
    parse: Callable[[str], T]


@dataclass(frozen=True)
class Reply(Generic[T]):
    """A validated value, or None and the reason in `unscored`; and the calls that it took.

    `depth` is the number of calls, one after the other, that had ended when this reply was there.
    """

    value: T | None
    unscored: str | None
    calls: tuple[Call, ...]
    depth: int


class Judge:
    """The models that answer questions, by role (`judge`, `meta_judge`)."""

    def __init__(self, models: Mapping[str, Model]) -> None:
        self._models = models

    async def ask(self, question: Question[T], *, depth: int, attempt: int = 0) -> Reply[T]:
        """Ask once, with one repair turn. `attempt` > 0 asks afresh, past what the cache holds."""
        messages: list[ChatMessage] = [
            ChatMessageSystem(content=question.system),
            ChatMessageUser(content=question.user),
        ]
        calls: list[Call] = []
        problem = ""
        for repair in (False, True):
            output, call = await self._generate(question, messages, attempt, repair, depth)
            calls.append(call)
            depth += 1
            try:
                value = question.parse(output.completion)
                return Reply(value, None, tuple(calls), depth)
            except ReplyError as error:
                problem = _explain(error, output)
            if output.stop_reason == "model_length":
                break  # the prompt does not fit: a longer one cannot help
            messages += [
                ChatMessageAssistant(content=output.completion or "(empty)"),
                ChatMessageUser(content=fill(template("repair"), problem=problem)),
            ]
        return Reply(None, problem, tuple(calls), depth)

    async def ask_again(self, question: Question[T], *, depth: int) -> tuple[Reply[T], str | None]:
        """Ask, and once more with a fresh cache scope when the first reply stays unscored.

        Returns the reply that counts, and why the first one was set aside (None if it was not).
        """
        first = await self.ask(question, depth=depth)
        if first.unscored is None:
            return first, None
        second = await self.ask(question, depth=first.depth, attempt=1)
        calls = first.calls + second.calls
        return Reply(second.value, second.unscored, calls, second.depth), first.unscored

    async def _generate(
        self,
        question: Question[T],
        messages: list[ChatMessage],
        attempt: int,
        repair: bool,
        depth: int,
    ) -> tuple[ModelOutput, Call]:
        model = self._models[question.role]
        span_id = uuid.uuid4().hex
        name = f"{question.role}: {question.kind}" + (" (repair)" if repair else "")
        async with span(name, type="judge_call", id=span_id):
            output = await model.generate(
                messages,
                # Only the schema: temperature and the like belong to the role, and anything
                # set here would override them.
                config=GenerateConfig(response_schema=question.schema),
                cache=CachePolicy(expiry=None, per_epoch=False, scopes={"attempt": str(attempt)}),
            )
            cached = _was_cached(span_id)
        usage = output.usage
        return output, Call(
            kind=question.kind,
            role=question.role,
            model=str(model),
            attempt=attempt,
            repair=repair,
            cached=cached,
            input_tokens=_input_tokens(output),
            output_tokens=usage.output_tokens if usage else 0,
            cost=usage.total_cost if usage else None,
            depth=depth,
        )


def _input_tokens(output: ModelOutput) -> int:
    """All input tokens, those of the provider's own prompt cache included."""
    usage = output.usage
    if usage is None:
        return 0
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    return usage.input_tokens + cached


def _was_cached(span_id: str) -> bool:
    """Whether the model call of this span was served from Inspect's cache."""
    # Only what is still in memory: older events would be read back from disk.
    events = transcript().history.resident_events
    return any(
        isinstance(event, ModelEvent) and event.span_id == span_id and event.cache == "read"
        for event in islice(reversed(events), 64)
    )


def _explain(error: ReplyError, output: ModelOutput) -> str:
    if output.stop_reason in ("stop", "unknown"):
        return str(error)
    return f"{error} (the model stopped with {output.stop_reason})"
