"""What went wrong between this machine and the Hugging Face Hub, read from an exception.

The Hub's client wraps its errors: an upload that was refused is a `RuntimeError`, a download
without network a `FileNotFoundError`. What happened is found by following their causes.
"""

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Literal

Kind = Literal[
    "token",  # 401: no token, or one that the Hub does not know
    "gated",  # the dataset's owner grants access one by one
    "forbidden",  # 403: the token may not do this
    "missing",  # 404: no such dataset, or one that this token may not see
    "revision",  # 404: no such branch, tag or commit
    "file",  # 404: no such file
    "changed",  # 409, 412: the dataset changed in the meantime
    "busy",  # 429
    "down",  # 408, 5xx
    "refused",  # any other answer of 400 or more
    "offline",  # HF_HUB_OFFLINE is set
    "proxy",  # the address of a proxy has a scheme that no proxy has
    "unreachable",  # no connection could be made: nothing was sent
    "broken",  # a connection that broke, or was silent for too long
    "disk",  # the download cache cannot be written
]
PASSING: frozenset[Kind] = frozenset({"changed", "busy", "down", "unreachable", "broken"})
"""Kinds that may be gone on the next try."""

_BY_STATUS: Mapping[int, Kind] = {
    401: "token",
    403: "forbidden",
    404: "missing",
    408: "down",
    409: "changed",
    412: "changed",
    429: "busy",
}
_NOT_SENT = ("ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol")
_RATE_LIMIT = re.compile(r";\s*r\s*=\s*0\s*;\s*t\s*=\s*(\d+)")


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong.

    Attributes:
        kind: What it was.
        status: HTTP status; None when no answer came.
        message: What the Hub, the network or the disk reported, on one line; may be empty.
        retry_after: Seconds to wait before the next try, if the Hub says.
    """

    kind: Kind
    status: int | None = None
    message: str = ""
    retry_after: float | None = None

    @property
    def passing(self) -> bool:
        """Whether it may be gone on the next try."""
        return self.kind in PASSING


def fault(error: BaseException) -> Fault | None:
    """What went wrong at the Hub or on the way to it; None if the error is about neither."""
    chain = list(_causes(error))
    for cause in chain:
        if (found := _of_hub(cause)) is not None:
            return found
    for cause in chain:
        if isinstance(cause, OSError) and cause.errno is not None:
            return Fault("disk", message=_one_line(str(cause)))
    return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__


def _of_hub(error: BaseException) -> Fault | None:
    from huggingface_hub import errors

    # Version 1 of the client speaks through httpx, version 2 through httpx2: ask the client itself.
    http_error = errors.HfHubHTTPError.__bases__[0]
    if isinstance(error, errors.HfHubHTTPError):
        status, headers = error.response.status_code, error.response.headers
        message = _one_line(error.server_message or error.response.reason_phrase)
        return Fault(_kind(error, status), status, message, retry_after(headers))
    if isinstance(error, errors.OfflineModeIsEnabled):
        return Fault("offline")
    if isinstance(error, ValueError) and "scheme for proxy URL" in str(error):
        return Fault("proxy")
    if isinstance(error, errors.FileMetadataError):  # a proxy or a portal answers in its place
        return Fault("unreachable", message=_one_line(str(error)))
    if isinstance(error, http_error):
        name = type(error).__name__
        return Fault(
            "unreachable" if name in _NOT_SENT else "broken", message=_one_line(str(error) or name)
        )
    return None


def _kind(error: BaseException, status: int) -> Kind:
    from huggingface_hub import errors

    if isinstance(error, errors.GatedRepoError):
        return "gated"
    if isinstance(error, errors.RevisionNotFoundError):
        return "revision"
    if isinstance(error, errors.EntryNotFoundError):
        return "file"
    return _BY_STATUS.get(status, "down" if status >= 500 else "refused")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `Retry-After` (seconds or an HTTP date) or the Hub's `RateLimit`.

    A date is compared with the server's own clock (`Date`) where the answer has it.
    (RFC 9110, §10.2.3; draft-ietf-httpapi-ratelimit-headers-09, §4.)
    """
    text = headers.get("retry-after", "").strip()
    if text.isdigit():
        return float(text)
    if (then := _timestamp(text)) is not None:
        now = _timestamp(headers.get("date", ""))
        return max(0.0, then - (time.time() if now is None else now))
    limit = _RATE_LIMIT.search(headers.get("ratelimit", ""))
    return float(limit[1]) if limit else None


def _timestamp(date: str) -> float | None:
    try:
        return parsedate_to_datetime(date).timestamp()
    except (TypeError, ValueError):
        return None


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300]
