import builtins
import importlib
import time
from email.utils import formatdate
from typing import Any

import httpx2
import pytest
from huggingface_hub import errors as hub_errors
from huggingface_hub.errors import HfHubHTTPError

from tests.cases import cases, some
from tiebreak.candidates.hub import Fault, Kind, fault, retry_after
from tiebreak.publish.errors import sentence


def answered(
    status: int, kind: type[HfHubHTTPError] = HfHubHTTPError, said: str = "words\n of the Hub"
) -> HfHubHTTPError:
    response = httpx2.Response(status, request=httpx2.Request("GET", "http://127.0.0.1/"))
    return kind("long message", response=response, server_message=said)


def because(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(("errors", "kind", "passing"), cases(__file__, "kinds"), ids=str)
def test_kinds(errors: list[list[Any]], kind: Kind, passing: bool) -> None:
    error, *causes = (made(*parts) for parts in errors)
    found = some(fault(because(error, causes[0]) if causes else error))
    assert (found.kind, found.passing) == (kind, passing)
    assert "\n" not in found.message


def made(name: str, *arguments: Any) -> Exception:
    kinds = [getattr(place, name, None) for place in (hub_errors, httpx2, builtins)]
    kind = some(next(filter(None, kinds), None))
    of_status = name != "OSError" and isinstance(arguments[0], int)
    error: Exception = answered(arguments[0], kind) if of_status else kind(*arguments)
    return error


def test_other_errors_are_none_of_the_hubs() -> None:
    assert fault(ValueError("x")) is None
    assert fault(because(KeyError("x"), ValueError("y"))) is None
    circle = because(KeyError("x"), ValueError("y"))
    because(circle.__cause__, circle)  # type: ignore[arg-type]
    assert fault(circle) is None


def test_the_hubs_own_words_are_kept_on_one_line() -> None:
    found = some(fault(answered(403, said="you must\n\n use  a write token")))
    assert (found.status, found.message) == (403, "you must use a write token")


@pytest.mark.parametrize(("headers", "seconds"), cases(__file__, "retry after"))
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_a_date_without_the_servers_clock_is_compared_with_this_one() -> None:
    found = retry_after({"retry-after": formatdate(time.time() + 60, usegmt=True)})
    assert found == pytest.approx(60, abs=5)


def test_a_proxy_of_an_unknown_kind_is_told_and_not_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As the client itself says it, whichever it is."""
    client = HfHubHTTPError.__bases__[0].__module__.partition(".")[0]
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "ftp://me:secret@proxy")
    with pytest.raises(ValueError, match="proxy") as caught:
        importlib.import_module(client).Client()
    assert fault(because(KeyError("x"), caught.value)) == Fault("proxy")
    assert not Fault("proxy").passing
    assert "begins with http:// or https://" in sentence(Fault("proxy"), "me/x", "", 1)
    assert "{" not in sentence(Fault("proxy"), "me/x", "", 1)
