"""What the Hub's refusals become: whole sentences, and what waiting is worth."""

from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from huggingface_hub.errors import HfHubHTTPError

from tests.cases import cases
from tests.data_classes import can_be_changed, data_classes
from tests.expected import check
from tiebreak import publish
from tiebreak.candidates.hub import Fault
from tiebreak.publish.errors import PublishError, sentence
from tiebreak.publish.hub import RetryPolicy
from tiebreak.publish.secrets import Secret, without_secrets


def test_a_refusal_is_one_sentence() -> None:
    said = []
    for case in cases(__file__, "refusals"):
        usual = {"status": None, "message": "", "retry_after": None, "tries": 1}
        fault = {**usual, **case}
        tries = fault.pop("tries")
        said.append(sentence(Fault(**fault), "me/ranks", "https://hub", tries))
    check(__file__, "refusals.txt", "\n".join([*said, ""]))


def test_an_error_shows_no_secret_and_the_longer_one_is_hidden_first() -> None:
    secrets = [Secret("x", "hunter2"), Secret("y", "hunter2-and-more"), Secret("z", "nowhere")]
    error = PublishError("failed at hunter2-and-more, and hunter2 too")
    error.__cause__ = ValueError("of hunter2")
    told = without_secrets(error, secrets)
    assert (str(told), told.__cause__) == ("failed at [hidden], and [hidden] too", None)
    # A cause that shows nothing stays; an error of ours comes through as it is.
    error.__cause__ = cause = ValueError("of something else")
    assert without_secrets(error, secrets).__cause__ is cause
    other = KeyError("hunter2")
    assert without_secrets(other, secrets) is other


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
def test_the_hubs_own_waiting_time_and_jitter(headers: dict[str, str], seconds: float) -> None:
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


def test_what_is_made_cannot_be_changed() -> None:
    found = data_classes(publish)
    assert len(found) > 10
    assert {name for name, one in found.items() if can_be_changed(one)} == {"hub._Publication"}


def test_runs_contests_and_datasets_are_themselves_and_equal_no_other() -> None:
    """They hold arrays, or what is at the Hub now, which no equality of fields compares."""
    found = data_classes(publish)
    for name in ("runs.Run", "contests.Contest", "hub.Snapshot"):
        assert vars(found[name]).get("__eq__") is None, name
