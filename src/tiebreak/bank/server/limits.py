"""Limits: requests per address and per token, and the size of a body."""

import asyncio
from typing import Final

import limits
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tiebreak.bank.errors import BankError
from tiebreak.bank.server.replies import problem, state_of
from tiebreak.bank.server.settings import Settings

_BODYLESS: Final = frozenset(("GET", "HEAD", "OPTIONS"))


class Rates:
    """Counts requests, each process for itself."""

    def __init__(self, settings: Settings) -> None:
        """Nothing is counted yet.

        Raises:
            BankError: a rate is not written as the package `limits` wants it.
        """
        self._counts = limits.strategies.FixedWindowRateLimiter(limits.storage.MemoryStorage())
        given = (settings.address_rate, settings.stranger_rate, settings.token_rate)
        try:
            self._address, self._stranger, self._token = map(limits.parse, given)
        except ValueError as error:
            raise BankError(f"a rate is written as 100/second: {error}") from error

    def address(self, address: str) -> bool:
        """Count a request of an address; whether it may be answered."""
        return self._counts.hit(self._address, "address", address)

    def stranger(self, address: str) -> bool:
        """Count a request without a good token; whether the address may go on."""
        return self._counts.hit(self._stranger, "stranger", address)

    def token(self, token: str) -> bool:
        """Count a request of a token; whether it may be answered."""
        return self._counts.hit(self._token, "token", token)


class Limits:
    """Refuses what is too much before the application sees it: requests (429), bodies (413)."""

    def __init__(self, app: ASGIApp, settings: Settings, rates: Rates) -> None:
        """Around an application."""
        self._app = app
        self._rates = rates
        self._most = settings.most_body
        self._seconds = settings.body_timeout

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of ASGI."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        refusal = None
        if not self._rates.address(state_of(scope).address):
            refusal = problem(429, "too many requests: wait a second", {"Retry-After": "1"})
        elif scope["method"] not in _BODYLESS or _announced(scope):
            try:
                body = await asyncio.wait_for(self._body(scope, receive), self._seconds)
            except TimeoutError:
                refusal = problem(408, "the body came too slowly: send it again")
            else:
                receive = _replay(body, receive) if body is not None else receive
                if body is None:
                    most = f"the body is larger than {self._most:,} bytes: send less"
                    refusal = problem(413, most, {"Connection": "close"})
        if refusal is not None:
            return await refusal(scope, receive, send)
        return await self._app(scope, receive, send)

    async def _body(self, scope: Scope, receive: Receive) -> bytes | None:
        """The whole body; None where it is too large, however it is sent."""
        announced = _announced(scope)
        if announced.isdigit() and int(announced[:20]) > self._most:
            return None
        parts: list[bytes] = []
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                break
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._most:
                return None
            more = message.get("more_body", False)
        return b"".join(parts)


def _announced(scope: Scope) -> str:
    headers = dict(scope["headers"])
    if b"transfer-encoding" in headers:
        return "chunked"
    length: bytes = headers.get(b"content-length", b"")
    return length.decode("latin-1")


def _replay(body: bytes, receive: Receive) -> Receive:
    message: Message | None = {"type": "http.request", "body": body, "more_body": False}

    async def once() -> Message:
        nonlocal message
        if message is None:
            return await receive()
        given, message = message, None
        return given

    return once
