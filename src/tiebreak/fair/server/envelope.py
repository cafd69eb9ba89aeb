"""The outermost layer of the server: request ids, security headers, access log, error responses.

Every response has a request id and security headers, and leaves a line in the access log. Messages
in the server's own log that strangers can cause are limited to one a minute.
"""

import logging
import re
import secrets
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy.exc import SQLAlchemyError
from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tiebreak.fair.bank.errors import Kind
from tiebreak.fair.bank.schema import now
from tiebreak.fair.server.writer import Line, Writer
from tiebreak.people.guard import headers

STATUS: Final[dict[Kind, int]] = {
    "unusable": 400,
    "unidentified": 401,
    "refused": 403,
    "missing": 404,
    "conflict": 409,
}
"""The HTTP status of a refusal, by its kind."""

_SESSION: Final = re.compile(r"^/sessions/([0-9a-f]{32})(?:/|$)")


@dataclass(slots=True)
class State:
    """State of one request; `user` is set once the signature of its token is verified."""

    request: str
    address: str
    user: str | None = None
    # Whether its line is in the access log already.
    logged: bool = False


def state_of(scope: Scope) -> State:
    """The state of a request."""
    state = scope["tiebreak"]
    assert isinstance(state, State)
    return state


def line_of(scope: Scope, status: int) -> Line:
    """The access-log line of a request that is answered with `status`."""
    state = state_of(scope)
    path = scope["path"].encode("utf-8", "replace").decode().replace("\0", "�")
    session = _SESSION.match(path)
    return {
        "at": now(),
        "user": state.user,
        "session": session[1] if session else None,
        "method": scope["method"][:16],
        "path": path[:256],
        "status": status,
        "address": state.address[:64],
        "request": state.request,
    }


def problem(status: int, detail: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """A refusal: {"detail": "…"}."""
    return JSONResponse({"detail": detail}, status, headers)


_LOGGER: Final = logging.getLogger(__name__)
# Messages that strangers can cause at will.
_OFTEN: Final = logging.getLogger(f"{__name__}.often")
_LAST: Final[dict[tuple[str, str], float]] = {}


def once_a_minute(record: logging.LogRecord) -> bool:
    """Whether to write a log record: not if it repeats a warning's first line within a minute.

    Errors with a traceback are always written, except for those of the system (e.g. no file
    descriptor left).
    """
    error = record.exc_info[1] if record.exc_info else None
    if record.levelno < logging.WARNING or not isinstance(error, OSError | None):
        return True
    key, seconds = (record.name, str(record.msg).partition("\n")[0]), time.monotonic()
    if seconds - _LAST.get(key, -60) < 60:
        return False
    _LAST[key] = seconds
    return True


def limit_log_messages() -> None:
    """From now on, write messages that strangers can cause at will at most once a minute."""
    for name in (_OFTEN.name, "tiebreak.fair.bank.schema", "asyncio", "uvicorn.error"):
        logging.getLogger(name).addFilter(once_a_minute)


def later(error: Exception) -> JSONResponse:
    """The response to a failed database: it is busy, or its disk is full (then also logged)."""
    cause = getattr(error, "orig", None)
    full = getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    # 53100: PostgreSQL's code for a full disk.
    if full or getattr(cause, "sqlstate", None) == "53100":
        _OFTEN.error("the disk under the bank is full, and nothing is kept: make room on it")
        return problem(503, "the bank takes nothing for now: ask later", {"Retry-After": "30"})
    return problem(503, "the bank is busy: ask again", {"Retry-After": "1"})


HEADERS: Final = headers(img_src="'self'")
HSTS: Final = "max-age=31536000; includeSubDomains"


class Envelope:
    """The outermost middleware: refusals of inner layers are logged and get headers, too."""

    def __init__(self, app: ASGIApp, writer: Writer) -> None:
        self._app = app
        self._writer = writer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of ASGI."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        client = scope.get("client")
        state = State(secrets.token_hex(8), client[0] if client else "")
        scope["tiebreak"] = state
        started = unlogged = False

        async def sent(message: Message) -> None:
            nonlocal started, unlogged
            if unlogged:
                return
            if message["type"] == "http.response.start":
                started = True
                _add_headers(message, scope, state)
                try:
                    if not state.logged:
                        await self._writer.log(line_of(scope, message["status"]))
                except SQLAlchemyError as error:
                    # Without its log line a request gets no answer; a retry gets the same one.
                    unlogged = True
                    await later(error)(scope, receive, send)
                    return
            await send(message)

        try:
            await self._app(scope, receive, sent)
        except Exception:
            _LOGGER.exception("request %s failed", state.request)
            if not started:
                failed = f"the server failed; its log says why under {state.request}"
                await problem(500, failed)(scope, receive, sent)


def _add_headers(message: Message, scope: Scope, state: State) -> None:
    headers = MutableHeaders(scope=message)
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
    headers["X-Request-Id"] = state.request
    if scope["scheme"] == "https":
        headers["Strict-Transport-Security"] = HSTS
