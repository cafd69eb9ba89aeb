from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from huggingface_hub.errors import HfHubHTTPError

from tests.cases import cases
from tiebreak.publish.errors import PublishError
from tiebreak.publish.hub import RetryPolicy

REQUEST = httpx2.Request("POST", "http://127.0.0.1/commit")


def refused(status: int, **headers: str) -> HfHubHTTPError:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    response = httpx2.Response(status, headers=named, request=REQUEST)
    return HfHubHTTPError(f"{status}", response=response)


def failing(times: int, error: Exception) -> Callable[[], int]:
    """An attempt that fails some times, then returns how often it was made."""
    made = 0

    def attempt() -> int:
        nonlocal made
        made += 1
        if made <= times:
            raise error
        return made

    return attempt


def waits_of(times: int, error: Exception, **policy: Any) -> list[float]:
    waits: list[float] = []
    RetryPolicy(sleep=waits.append, **policy).run(failing(times, error))
    return waits


@pytest.mark.slow
def test_waits_are_drawn_below_a_bound_that_doubles_up_to_the_longest() -> None:
    bounds = [1.0, 2.0, 4.0, 8.0, 8.0, 8.0]
    drawn = [waits_of(6, refused(503), longest=8.0) for _ in range(200)]
    for waits in drawn:
        assert all(0 <= wait <= bound for wait, bound in zip(waits, bounds, strict=True))
    # Full jitter: uniform from 0 on, so the mean of the last is 4 ± 5 · 8/√(12 · 200) = 4 ± 0.82.
    assert abs(sum(waits[-1] for waits in drawn) / 200 - 4) < 0.82
    assert min(waits[-1] for waits in drawn) < 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    cases(__file__, "waiting_times"),
)
def test_the_hubs_own_waiting_time_is_kept_with_some_jitter_on_top(
    headers: dict[str, str], seconds: float
) -> None:
    drawn = [waits_of(1, refused(429, **headers))[0] for _ in range(20)]
    assert all(seconds <= wait <= seconds + 1 for wait in drawn)
    assert len(set(drawn)) > 1, "several that were told the same do not come back together"


def test_a_waiting_time_beyond_all_patience_ends_it_at_once() -> None:
    with pytest.raises(HfHubHTTPError):
        waits_of(1, refused(429, Retry_After="601"), total=600)
    assert len(waits_of(1, refused(429, Retry_After="590"), total=600)) == 1


@pytest.mark.parametrize(
    ("error", "tries"),
    [
        *((refused(status), 4) for status in (408, 409, 412, 429, 500, 502, 503, 504)),
        *((refused(status), 1) for status in (400, 401, 402, 403, 404, 413, 422)),
        (httpx2.ReadTimeout("silence"), 4),
        (httpx2.RemoteProtocolError("dropped"), 4),
        (httpx2.ConnectError("no route"), 2),
        (PublishError("other"), 1),
        (ValueError("a bug"), 1),
    ],
    ids=lambda case: str(case),
)
def test_what_passes_is_tried_again_and_what_stays_is_not(error: Exception, tries: int) -> None:
    waits: list[float] = []
    policy = RetryPolicy(tries=4, calls=2, sleep=waits.append)
    with pytest.raises(type(error)) as caught:
        policy.run(failing(99, error))
    assert caught.value is error
    assert len(waits) == tries - 1


def test_it_says_why_it_waits() -> None:
    said: list[str] = []
    waits_of(1, refused(503, Retry_After="3"), notify=said.append, first=0.0)
    waits_of(1, httpx2.ConnectError("no route"), notify=said.append, first=0.0)
    waits_of(1, refused(412), notify=said.append, first=0.0)
    assert said == [
        "The Hub answered 503; try 2 of 12 in 3 s.",
        "The Hub is not there (no route); try 2 of 5 in 0 s.",
        "The Hub answered 412 (somebody else was faster); try 2 of 12 in 0 s.",
    ]
