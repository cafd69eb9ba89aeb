"""Trying again: when, how often, and how long in all.

The waiting is `tenacity`'s: exponential back-off with full jitter, so that several publishers
that met once do not meet again. Chance is in the waiting only, never in what is published.
"""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from tiebreak.candidates.hub import Fault, fault

if TYPE_CHECKING:
    from tenacity import RetryCallState

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How patient a publication is.

    Attributes:
        tries: Tries in all, the first one included.
        calls: Tries after which it ends when no connection can be made: a machine without network
            learns it soon.
        total: Seconds in all after which no further try begins. A `Retry-After` that leads beyond
            them ends the publication at once: a program should not sleep for an hour.
        first: Upper bound of the first wait in seconds; it doubles with every try.
        longest: Upper bound of every wait in seconds, `Retry-After` excepted.
        timeout: Seconds after which a silent connection counts as broken.
        sleep: Does the waiting; a test passes its own.
        notify: Receives one sentence about why and how long it waits.
    """

    tries: int = 12
    calls: int = 5
    total: float = 600.0
    first: float = 1.0
    longest: float = 30.0
    timeout: float = 120.0
    sleep: Callable[[float], None] = time.sleep
    notify: Callable[[str], None] | None = None

    def run(self, attempt: Callable[[], T]) -> T:
        """Call `attempt` until it returns, fails for good, or patience is at its end.

        Raises:
            Exception: What the last try raised.
        """
        from tenacity import Retrying, retry_if_exception

        def once() -> T:
            with _one_policy(self.timeout):  # anew: the client may have got another session
                return attempt()

        retrying = Retrying(
            stop=self._is_over,
            wait=self._wait,
            retry=retry_if_exception(_is_passing),
            sleep=self.sleep,
            before_sleep=self._report,
            reraise=True,
        )
        return retrying(once)

    def _is_over(self, state: "RetryCallState") -> bool:
        from tenacity import stop_after_attempt, stop_before_delay

        tries = self._tries(_fault(state))
        return stop_after_attempt(tries)(state) or stop_before_delay(self.total)(state)

    def _tries(self, found: Fault) -> int:
        return self.calls if found.kind == "unreachable" else self.tries

    def _wait(self, state: "RetryCallState") -> float:
        """Full jitter, but not shorter than the Hub asks for."""
        from tenacity import wait_random_exponential

        jitter = wait_random_exponential(multiplier=self.first, max=self.longest)(state)
        asked = _fault(state).retry_after
        # All were given the same time to wait: the jitter on top keeps them apart.
        return jitter if asked is None else asked + min(jitter, self.first)

    def _report(self, state: "RetryCallState") -> None:
        found = _fault(state)
        if self.notify is not None:
            what = f"answered {found.status}" if found.status else f"is not there ({found.message})"
            what += " (somebody else was faster)" if found.kind == "changed" else ""
            self.notify(
                f"The Hub {what}; try {state.attempt_number + 1} of {self._tries(found)} "
                f"in {state.upcoming_sleep:.0f} s."
            )


def _fault(state: "RetryCallState") -> Fault:
    error = state.outcome and state.outcome.exception()
    found = fault(error) if error else None
    assert found is not None, "only after a fault of the Hub is there another try"
    return found


def _is_passing(error: BaseException) -> bool:
    found = fault(error)
    return found is not None and found.passing


@contextmanager
def _one_policy(timeout: float) -> Iterator[None]:
    """While it lasts, the Hub's client neither waits on its own nor waits for ever.

    The client sleeps as long as any `Retry-After` says inside some of its calls, does not try
    again in others, and has no time limit at all. Here every unhappy answer is raised at once, a
    silent connection breaks after `timeout` seconds, and what to do then is decided in one place.
    """
    from huggingface_hub import utils
    from huggingface_hub.utils import logging as hub_logging

    def raise_at_once(response: Any) -> None:
        if response.status_code in (408, 429) or response.status_code >= 500:
            utils.hf_raise_for_status(response)  # type: ignore[attr-defined]

    session = utils.get_session()  # type: ignore[attr-defined]
    verbosity = hub_logging.get_verbosity()
    hooks, before = session.event_hooks["response"], session.timeout
    hooks.append(raise_at_once)
    session.timeout = timeout
    hub_logging.set_verbosity(logging.ERROR)  # what it would log about its own waiting
    try:
        yield
    finally:
        hooks.remove(raise_at_once)
        session.timeout = before
        hub_logging.set_verbosity(verbosity)
