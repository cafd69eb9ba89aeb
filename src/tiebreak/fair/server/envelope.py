"""Around every response: a request id, security headers, and a line of the access log."""

import logging
import secrets
from typing import Final

from sqlalchemy.exc import SQLAlchemyError
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tiebreak.fair.server.replies import State, line_of, problem
from tiebreak.fair.server.trouble import later
from tiebreak.fair.server.writer import Writer

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
HSTS: Final = "max-age=31536000; includeSubDomains"

_LOGGER: Final = logging.getLogger(__name__)


class Envelope:
    """The outermost layer: what is refused within is logged and has its headers, too."""

    def __init__(self, app: ASGIApp, writer: Writer) -> None:
        """Around an application."""
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
                    # What cannot be logged is not answered; whoever asks again gets the same.
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
