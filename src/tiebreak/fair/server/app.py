"""The application that serves a bank over HTTP.

    envelope    request id, headers and access log around every request; error responses
    gate        rate limits, body sizes, tokens and permissions
    routes      sessions, questions, answers, results; closing, tokens, quotas
    desk        the same and the results, as pages for a browser

`create_app(settings)` returns a complete application; `run` serves it with worker processes.

A process without free file descriptors cannot accept connections. So that clients who connect and
send nothing, or half a request, cannot lock others out, the connection that has waited longest is
closed to make room.
"""

import asyncio
import os
import secrets
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Final

import uvicorn
from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPBearer
from sqlalchemy import select
from sqlalchemy.exc import OperationalError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from uvicorn.protocols.http.h11_impl import H11Protocol

from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.schema import open_bank, shown
from tiebreak.fair.bank.sessions import Sampler
from tiebreak.fair.bank.tokens import PRIVATE, PUBLIC, SECRET, Verifier, issue, keys_from
from tiebreak.fair.server import desk
from tiebreak.fair.server import settings as _settings
from tiebreak.fair.server.envelope import (
    STATUS,
    Envelope,
    later,
    limit_log_messages,
    problem,
    state_of,
)
from tiebreak.fair.server.gate import Gate, Limits, Rates
from tiebreak.fair.server.routes import examinee_router, organiser_router
from tiebreak.fair.server.settings import VARIABLE, Settings
from tiebreak.fair.server.shapes import Health, Problem
from tiebreak.fair.server.writer import Writer


def create_app(settings: Settings) -> FastAPI:
    """Build the application that serves a bank.

    Raises:
        BankError: the bank cannot be opened, there are no keys, or a rate is malformed.
    """
    limit_log_messages()
    keys = settings.keys or keys_from()
    engine = open_bank(settings.bank, durable=settings.durable)
    writer, rates = Writer(engine), Rates(settings)

    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        yield
        writer.close()
        engine.dispose()

    app = FastAPI(
        title="Tiebreak: a bank of questions",
        # The version of the API, not of the package: clients of other releases speak it, too.
        version="1",
        lifespan=running,
        docs_url=None,
        redoc_url=None,
        # Otherwise /openapi.json/ redirects to whatever host the request names.
        redirect_slashes=False,
        responses={
            400: {"model": Problem, "description": "The bank cannot do that."},
            401: {"model": Problem, "description": "No token, or one that does not hold."},
            403: {"model": Problem, "description": "The token or the quota does not allow it."},
            404: {"model": Problem, "description": "There is no such thing of yours."},
            408: {"model": Problem, "description": "The body came too slowly."},
            409: {"model": Problem, "description": "It does not fit what went before."},
            413: {"model": Problem, "description": "The body is too large."},
            422: {"model": Problem, "description": "The request is not of the right form."},
            429: {"model": Problem, "description": "Too many requests."},
            503: {"model": Problem, "description": "The bank is busy, or cannot go on: ask again."},
        },
    )
    gate = Gate(engine, Verifier(keys), rates, writer)
    sampler = Sampler(engine, balanced=settings.balanced)
    # Only for clients generated from /openapi.json; it is the gate that reads the token.
    described = [Depends(HTTPBearer(bearerFormat="JWT", auto_error=False))]
    app.include_router(examinee_router(engine, sampler, gate), dependencies=described)
    app.include_router(organiser_router(engine, keys, gate), dependencies=described)
    app.include_router(desk.router(engine, gate, rates))

    @app.get("/health", response_model=Health, tags=["server"])
    def health() -> Response:
        """Whether the server runs and its bank can be reached."""
        with engine.connect() as connection:
            connection.execute(select(1))
        return JSONResponse({"status": "ok"})

    @app.get("/", include_in_schema=False)
    def description() -> Response:
        """The API as a page."""
        return desk.page("api", document=app.openapi())

    app.add_exception_handler(BankError, _refused(rates))
    app.add_exception_handler(RequestValidationError, _malformed(gate))
    app.add_exception_handler(HTTPException, _no_page)
    app.add_exception_handler(OperationalError, _later)
    app.add_middleware(Limits, settings=settings, rates=rates)
    app.add_middleware(Envelope, writer=writer)
    return app


def from_environment() -> FastAPI:
    """Build the application of a worker process."""
    return create_app(_settings.from_environment())


def _refused(rates: Rates) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, BankError)
        if error.kind == "unusable" and error.__cause__ is not None:
            raise error  # the bank is damaged: that belongs in the log, not in the response
        if error.kind != "unidentified":
            return problem(STATUS[error.kind], str(error))
        if rates.count_anonymous(state_of(request.scope).address):
            return problem(STATUS[error.kind], str(error), {"WWW-Authenticate": "Bearer"})
        often = "too many requests without a token that holds: wait a second"
        return problem(429, often, {"Retry-After": "1"})

    return refused


_NOWHERE: Final = "there is nothing at this address: look at /openapi.json"


def _malformed(gate: Gate) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def malformed(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        faults = error.errors()
        if any(fault["loc"][0] == "path" for fault in faults):
            return problem(404, _NOWHERE)
        if not request.url.path.startswith(desk.PATH):
            # An unknown caller gets the error about the token, and learns nothing of the fields.
            await run_in_threadpool(gate.recognise, request)
        message = "; ".join(
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults[:5]
        )
        return problem(422, message.encode("utf-8", "replace").decode())

    return malformed


async def _no_page(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    messages = {
        404: _NOWHERE,
        405: "this address does not take that method: look at /openapi.json",
    }
    return problem(error.status_code, messages.get(error.status_code, error.detail), error.headers)


async def _later(request: Request, error: Exception) -> Response:
    return later(error)


_MOST: Final = 1000


def most_connections() -> int:
    """The number of connections a process keeps: 1,000, or half of its descriptors if that is less.

    The other half is left for connections accepted but not yet counted, and for the bank.
    """
    if sys.platform == "win32":
        return _MOST // 4
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST if soft == resource.RLIM_INFINITY else max(8, min(_MOST, soft // 2))


class GuardedConnection(H11Protocol):
    """A connection that is closed if its headers come too late or others need its descriptor.

    Headers must be complete within uvicorn's keep-alive time, counted from the connection or the
    last response; receiving a part of them does not extend it.
    """

    _since = 0.0
    """When the connection was made, or its last request came."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request; if there are too many connections, close the oldest."""
        super().connection_made(transport)
        self._since = self.loop.time()
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )
        if len(self.connections) > most_connections():
            wires = (wire for wire in self.connections if isinstance(wire, GuardedConnection))
            oldest = min(wires, key=lambda wire: wire._since)
            self.connections.discard(oldest)
            oldest.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Receive a part of a request."""
        before = self.cycle
        self.conn.receive_data(data)
        self.handle_events()
        if self.cycle is not before:
            self._unset_keepalive_if_required()
            self._since = self.loop.time()


HEADERS_WITHIN: Final = 10
"""Seconds within which the headers of a request have to arrive."""


def run(
    given: Mapping[str, Any],
    *,
    host: str,
    port: int,
    workers: int = 1,
    development: bool = False,
    proxy: str | None = None,
) -> None:
    """Serve until the process is told to end.

    `given` holds fields of `Settings` other than keys. Port 0 takes a free port. `development`
    signs tokens with a secret that only this run knows. `proxy` lists the addresses of trusted
    proxies, separated by commas.

    Raises:
        BankError: the bank cannot be opened, or there are no keys.
    """
    if development:
        for name in (PRIVATE, PUBLIC):
            os.environ.pop(name, None)
        os.environ[SECRET] = secrets.token_hex(32)
    settings = Settings(**given)
    # Built here first, so that a wrong setting is reported once and not by every worker.
    app = create_app(settings)
    print(f"Serving {shown(settings.bank)} with {workers} worker(s).", file=sys.stderr)
    if development:
        admin = issue(
            open_bank(settings.bank),
            keys_from(),
            user="admin",
            institution="organiser",
            role="admin",
            lifetime=timedelta(hours=12),
        )
        print(
            "Development: the secret is made for this run, and every token ends with it.\n"
            f"Token of an admin: {admin}",
            file=sys.stderr,
            flush=True,
        )
    os.environ[VARIABLE] = settings.exported()
    options = {"host": host, "port": port, "log_level": "info", **options_of(proxy)}
    if workers == 1:
        uvicorn.run(app, **options)
    else:
        uvicorn.run(
            "tiebreak.fair.server.app:from_environment", factory=True, workers=workers, **options
        )


def options_of(proxy: str | None = None) -> dict[str, Any]:
    """Options of uvicorn but for host and port; `proxy` as for `run`."""
    return {
        "access_log": False,
        "server_header": False,
        # By default uvicorn trusts every proxy on this machine.
        "proxy_headers": proxy is not None,
        "forwarded_allow_ips": proxy,
        "timeout_graceful_shutdown": 10,
        "http": "tiebreak.fair.server.app:GuardedConnection",
        "ws": "none",
        "timeout_keep_alive": HEADERS_WITHIN,
        # The event loop accepts this many at once, several times over before any is counted.
        "backlog": max(8, most_connections() // 8),
    }
