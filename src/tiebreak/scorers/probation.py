"""Probation of a judge until its first usable reply; a judge that gives none is stopped.

The rule: a judge is stopped if none of its first replies (repairs and repeats included) to at least
`QUESTIONS` different questions is usable. The number of first replies is the number of items,
limited to the range from `QUESTIONS` to `REPLIES`. No more calls than that are in flight or paid
for while the judge is on probation, except in batches: these are slow, so all are sent at once.

False alarms: a judge that fails 30% of all replies, or all replies to 30% of the questions, is
stopped with a probability of at most 0.3⁶ = 0.0007; one that fails half of them, 0.5⁶ = 0.016. From
20 items on, with 20 of them judged side by side, it is 0.3²⁰.

A key or model name that the provider does not know ends the probation at once, and so does a call
that is refused as rate-limited `REFUSALS` times in a row, which takes about a minute and a half.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from functools import cache
from typing import Final

import anyio
from inspect_ai.hooks import BeforeModelGenerate, Hooks, ModelRetry, hooks
from inspect_ai.util import LimitExceededError
from typing_extensions import override

from tiebreak.scorers.budget import wake_all
from tiebreak.scorers.judge import ModelFailedError
from tiebreak.text import visible

# The module's docstring gives the false alarms with these limits.
QUESTIONS: Final = 6
REPLIES: Final = 20
REFUSALS: Final = 6

_TOO_MANY: Final = 429
_QUOTED: Final = 200

NO_USABLE_REPLY: Final = (
    "{model} gave no usable reply, {replies} times in {questions} questions, for example {quote} "
    "({problem})"
)
FORM: Final = "its support of JSON schemas, its max_tokens and its chat template"
ACCESS: Final = "its key, its name and its quota"
"""What to check if replies have the wrong form (FORM), and if there are none (ACCESS)."""


Replied = Callable[[str, str | None], None]
"""Takes a reply, and its problem, or None if it is usable."""


class Probation:
    """The record of a model's first replies.

    Args:
        model: its name.
        n_items: number of items to be judged.
    """

    def __init__(self, model: str, n_items: int) -> None:
        _watch_calls()
        self._model = model
        self._batch = False
        self._most = min(REPLIES, max(QUESTIONS, n_items))
        self._passed = False
        self._stopped: tuple[str, str] | None = None
        self._refusals: list[LimitExceededError] = []
        self._unusable: list[str] = []
        self._under_way: list[str] = []
        self._changed = anyio.Condition()

    @asynccontextmanager
    async def call(self, question: str) -> AsyncIterator[Replied]:
        """Enclose a call, and yield a function that takes its reply.

        `question` is its text. A call waits if its reply could exceed the number that is needed to
        decide that the judge is unusable.

        Raises:
            ModelFailedError: the judge is unusable; the message says why, and what to check.
        """
        if self._passed:
            yield not_noted
            return
        async with self._changed:
            await self._changed.wait_for(self._may_ask)
        if self._stopped is not None and not self._passed:
            raise self._error()
        self._under_way.append(question)
        token = _ON_PROBATION.set(self)

        def replied(text: str, problem: str | None) -> None:
            if problem is None:
                self._passed = True
            else:
                self._failed(question, self._no_usable(text, problem, question), FORM)

        try:
            yield replied
        except ModelFailedError as error:
            if self._failed(question, str(error), ACCESS, at_once=bool(error.look_at)):
                raise self._error() from error
            raise
        except LimitExceededError as error:
            if error not in self._refusals:
                raise
            self._failed(question, f"{self._model}: {error.message}", ACCESS, at_once=True)
            raise self._error() from error
        finally:
            _ON_PROBATION.reset(token)
            self._under_way.remove(question)
            await wake_all(self._changed)

    async def leaves(self, *, batch: bool) -> None:
        """Record that a call is sent, and whether it is sent in a batch."""
        if batch and not self._batch:
            self._batch = True
            await wake_all(self._changed)

    def refused(self, status: int | None, times: int) -> None:
        """Called before Inspect waits and retries a refused call.

        Raises:
            LimitExceededError: retrying is pointless; `call` recognises this error.
        """
        if not self._passed and status == _TOO_MANY and times >= REFUSALS:
            message = f"refused {times} times in a row as one call too many (status {status})"
            self._refusals.append(
                LimitExceededError("custom", value=times, limit=REFUSALS, message=message)
            )
            raise self._refusals[-1]

    def _failed(self, question: str, why: str, look_at: str, *, at_once: bool = False) -> bool:
        """Record a failure; return whether it ends the probation."""
        self._unusable.append(question)
        enough = len(self._unusable) >= self._most and len(set(self._unusable)) >= QUESTIONS
        if self._passed or self._stopped is not None or not (enough or at_once):
            return False
        self._stopped = why, look_at
        return True

    def _no_usable(self, text: str, problem: str, question: str) -> str:
        questions = [*self._unusable, question]
        return NO_USABLE_REPLY.format(
            model=self._model,
            replies=len(questions),
            questions=len(set(questions)),
            quote=repr(visible(text[:_QUOTED])),
            problem=problem,
        )

    def _error(self) -> ModelFailedError:
        why, look_at = self._stopped or ("", "")
        return ModelFailedError(why, look_at=look_at)

    def _may_ask(self) -> bool:
        """Whether a call need not wait: it may be sent, or will never be."""
        asked = [*self._unusable, *self._under_way]
        room = self._batch or len(asked) < self._most or len(set(asked)) < QUESTIONS
        return self._passed or self._stopped is not None or room


def not_noted(text: str, problem: str | None) -> None:
    """Ignore a reply, after probation."""


_ON_PROBATION: ContextVar[Probation | None] = ContextVar("tiebreak_on_probation", default=None)


@cache
def _watch_calls() -> None:
    """Register the hooks here: Inspect announces a package's hooks in every run of any task."""
    hooks("probation", "Gives up on judges that refuse every call")(_Calls)


class _Calls(Hooks):
    @override
    async def on_before_model_generate(self, data: BeforeModelGenerate) -> None:
        if (judge := _ON_PROBATION.get()) is not None:
            await judge.leaves(batch=bool(data.config.batch))

    @override
    async def on_model_retry(self, data: ModelRetry) -> None:
        if (judge := _ON_PROBATION.get()) is not None:
            judge.refused(data.status_code, data.attempt)
