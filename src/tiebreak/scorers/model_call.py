"""One call to a model through Inspect: its cache, and what is done when a provider fails.

Inspect itself repeats a call while its provider is busy or out of reach, as `--max-retries` and
`--timeout` say. What it gives up on is asked afresh, at most `ATTEMPTS` times in all; but not what
a provider refuses, which it would refuse again. Then it is a `ModelFailedError`.

Inspect keeps every reply in its cache, also one that holds none (an empty list of choices). That
one is never served: the next attempt at the run asks again.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import (
    CachePolicy,
    ChatMessage,
    GenerateConfig,
    Model,
    ModelOutput,
    ModelRefusalError,
    ResponseSchema,
)
from inspect_ai.util import LimitExceededError

from tiebreak.scorers.judge import ModelFailedError

ATTEMPTS: Final = 3
"""How often a call is begun whose provider fails in a way that Inspect does not repeat."""

_LONGEST_MESSAGE: Final = 500
_WORTH_ANOTHER: Final = (408, 409, 425, 429)
"""Statuses below 500 that say nothing against the same request later."""


async def call_model(
    model: Model, messages: list[ChatMessage], schema: ResponseSchema, scopes: Mapping[str, str]
) -> tuple[ModelOutput, bool]:
    """What a model replies, and whether the cache had it.

    Args:
        model: who is asked.
        messages: the conversation so far.
        schema: of the reply.
        scopes: what tells calls in the same words apart in the cache.

    Raises:
        LimitExceededError: a limit of Inspect's was reached.
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
        empty += 1


async def _generate(
    model: Model, messages: list[ChatMessage], schema: ResponseSchema, policy: CachePolicy
) -> ModelOutput:
    for more in reversed(range(ATTEMPTS)):
        try:
            return await model.generate(
                messages,
                # Temperature and the like belong to the role, and anything set here would override
                # them. A provider that bills writes to its own prompt cache is asked for them only
                # where the role says so: nobody would read them.
                config=GenerateConfig(
                    response_schema=schema, cache_prompt=model.config.cache_prompt or False
                ),
                cache=policy,
            )
        except LimitExceededError:
            raise
        except Exception as error:  # whatever the clients of many providers raise
            if not more or _is_refusal(error):
                raise ModelFailedError(f"{model}: {_words(error)}") from error
    raise AssertionError("there is at least one attempt")


def _is_refusal(error: BaseException) -> bool:
    """Whether asking the same again is of no use."""
    if isinstance(error, ModelRefusalError):
        return True
    statuses = (getattr(one, "status_code", None) for one in _causes(error))
    status = next((one for one in statuses if isinstance(one, int)), 500)
    return 400 <= status < 500 and status not in _WORTH_ANOTHER


def _words(error: BaseException) -> str:
    """What went wrong, in the provider's words, and the name of its error."""
    # What Inspect raises when it has repeated a call in vain says nothing but where it lies in
    # memory.
    cause = error.__cause__ if type(error).__name__ == "RetryError" else None
    first = cause or error
    # Inspect's own words for a refused request begin with the whole request.
    said = " ".join(str(getattr(first, "provider_message", None) or first).split())
    return f"{said[:_LONGEST_MESSAGE]} ({type(first).__name__})"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _was_cached(output: ModelOutput) -> bool:
    """Whether this output was served from Inspect's cache: its event says so."""
    given = _ids(output)
    # Only what is still in memory: older events would be read back from disk.
    events = transcript().history.resident_events
    latest = (event for event in islice(reversed(events), 64) if isinstance(event, ModelEvent))
    return next((event.cache == "read" for event in latest if _ids(event.output) == given), False)


def _ids(output: ModelOutput) -> Sequence[str | None]:
    """What tells an output from others, and lasts in the cache: its id and its messages'."""
    return [output.response_id, *(choice.message.id for choice in output.choices)]
