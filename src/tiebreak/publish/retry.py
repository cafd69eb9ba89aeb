"""Trying again: when, how often, and how long in all.

The waiting is `tenacity`'s: exponential back-off with full jitter, so that several publishers
that met once do not meet again. Chance is in the waiting only, never in what is published.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from tiebreak.candidates.hub_fault import Fault, fault

if TYPE_CHECKING:
    from tenacity import RetryCallState

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How patient a publication is.

    Attributes:
        tries: Tries in all, the first one included.
        calls: Tries after which it ends when no connection can be made: a machine without network
            is told so soon.
        total: Seconds in all after which no further try begins. A `Retry-After` that leads beyond
            them ends the publication at once: nobody wants a program that sleeps for an hour.
        first: Upper bound of the first wait in seconds; it doubles with every try.
        longest: Upper bound of every wait in seconds, `Retry-After` excepted.
        timeout: Seconds after which a silent connection counts as broken.
        sleep: Does the waiting; a test passes its own.
        notify: Is told, in one sentence, why and how long it waits.
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

        retrying = Retrying(
            stop=self._is_over,
            wait=self._wait,
            retry=retry_if_exception(_is_passing),
            sleep=self.sleep,
            before_sleep=self._tell,
            reraise=True,
        )
        return retrying(attempt)

    def _is_over(self, state: "RetryCallState") -> bool:
        from tenacity import stop_after_attempt, stop_before_delay

        tries = self._tries(fault(_error(state)))
        return stop_after_attempt(tries)(state) or stop_before_delay(self.total)(state)

    def _tries(self, found: Fault | None) -> int:
        return self.calls if found and found.kind == "unreachable" else self.tries

    def _wait(self, state: "RetryCallState") -> float:
        """Full jitter, but not shorter than the Hub asks for."""
        from tenacity import wait_random_exponential

        jitter = wait_random_exponential(multiplier=self.first, max=self.longest)(state)
        found = fault(_error(state))
        asked = found.retry_after if found else None
        # What all were told to wait, all wait: the jitter on top keeps them apart.
        return jitter if asked is None else asked + min(jitter, self.first)

    def _tell(self, state: "RetryCallState") -> None:
        found = fault(_error(state))
        if self.notify is not None and found is not None:
            what = f"answered {found.status}" if found.status else f"is not there ({found.said})"
            what += " (somebody else was faster)" if found.kind == "changed" else ""
            self.notify(
                f"The Hub {what}; try {state.attempt_number + 1} of {self._tries(found)} "
                f"in {state.upcoming_sleep:.0f} s."
            )


def _error(state: "RetryCallState") -> BaseException:
    error = state.outcome.exception() if state.outcome is not None else None
    assert error is not None, "tenacity waits after a failure only"
    return error


def _is_passing(error: BaseException) -> bool:
    found = fault(error)
    return found is not None and found.passing
