"""The gate: verifies the token of a request and checks its permission.

In front of it are limits on the rate of requests, by address and token, and on the size of bodies.
"""

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

import limits
from fastapi import Request
from sqlalchemy import Connection, Engine
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.tokens import Caller, Permission, Verifier, require
from tiebreak.fair.server.envelope import line_of, problem, state_of
from tiebreak.fair.server.settings import Settings
from tiebreak.fair.server.writer import Writer

_BODYLESS: Final = frozenset(("GET", "HEAD", "OPTIONS"))


class Rates:
    """Rate limits; each process counts its own requests."""

    def __init__(self, settings: Settings) -> None:
        """Start with nothing counted.

        Raises:
            BankError: a rate is not in the format of the package `limits`.
        """
        self._counts = limits.strategies.FixedWindowRateLimiter(limits.storage.MemoryStorage())
        given = (settings.address_rate, settings.stranger_rate, settings.token_rate)
        try:
            self._address, self._anonymous_request, self._token = map(limits.parse, given)
        except ValueError as error:
            raise BankError(f"a rate is written as 100/second: {error}") from error

    def address(self, address: str) -> bool:
        """Count a request from an address; return whether it may be answered."""
        return self._counts.hit(self._address, "address", address)

    def count_anonymous(self, address: str) -> bool:
        """Count a request without a valid token; return whether the address may go on."""
        return self._counts.hit(self._anonymous_request, "stranger", address)

    def token(self, token: str) -> bool:
        """Count a request with a token; return whether it may be answered."""
        return self._counts.hit(self._token, "token", token)


class Limits:
    """Middleware that refuses too many requests (429) and too large or slow bodies (413, 408)."""

    def __init__(self, app: ASGIApp, settings: Settings, rates: Rates) -> None:
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
        elif scope["method"] not in _BODYLESS or _stated_length(scope):
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
        """Read the whole body; None if it is too large, whether or not its length is stated."""
        announced = _stated_length(scope)
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


def _stated_length(scope: Scope) -> str:
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


T = TypeVar("T")


class Gate:
    """Admits callers: `enter` from any thread, `run` from the event loop."""

    def __init__(self, engine: Engine, verifier: Verifier, rates: Rates, writer: Writer) -> None:
        """Use a bank with its token verifier, rate limits and writer."""
        self._engine = engine
        self._verifier = verifier
        self._rates = rates
        self._writer = writer

    def enter(
        self,
        request: Request,
        permission: Permission,
        session: str | None = None,
        token: str | None = None,
    ) -> Caller:
        """Return the caller, who must have a permission (for a session, if one is given).

        The token comes from the request's header unless it is given.

        Raises:
            BankError: the token is invalid ("unidentified") or lacks the permission ("refused").
            HTTPException: too many requests.
        """
        caller = self.recognise(request, token)
        require(caller, permission, session)
        return caller

    def recognise(self, request: Request, token: str | None = None) -> Caller:
        """Return the caller without checking a permission; raises as `enter`, except "refused"."""
        caller = self._caller(request, token)
        with self._engine.connect() as connection:
            self._verifier.confirm(connection, caller)
        return caller

    async def run(
        self,
        request: Request,
        permission: Permission,
        session: str,
        work: Callable[[Connection, Caller], T],
    ) -> T:
        """Check the permission and return `work`'s result, in one transaction with the log line.

        Raises:
            BankError: as `enter` and `work` do.
            HTTPException: too many requests.
        """
        caller = self._caller(request)

        def job(connection: Connection) -> T:
            self._verifier.confirm(connection, caller)
            require(caller, permission, session)
            return work(connection, caller)

        result = await self._writer.run(job, line_of(request.scope, 200))
        state_of(request.scope).logged = True
        return result

    def _caller(self, request: Request, token: str | None = None) -> Caller:
        caller = self._verifier.read(_bearer(request) if token is None else token)
        state_of(request.scope).user = caller.user
        if not self._rates.token(caller.token):
            raise HTTPException(
                429, "too many requests with this token: wait a second", {"Retry-After": "1"}
            )
        return caller


def _bearer(request: Request) -> str:
    given = request.headers.getlist("Authorization")
    scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    if scheme.lower() != "bearer" or not token.strip():
        raise BankError(
            "this needs a token: send it once, as Authorization: Bearer TOKEN",
            kind="unidentified",
        )
    return token.strip()
