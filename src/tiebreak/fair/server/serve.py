"""Worker processes that serve a bank, and their connections.

A process that has no descriptor left accepts nobody. So that whoever connects and says nothing, or
half a request, cannot keep others out, the connection that has been waited for longest makes room.
"""

import asyncio
import os
import secrets
import sys
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from tiebreak.fair.bank.schema import open_bank, shown
from tiebreak.fair.bank.tokens import PRIVATE, PUBLIC, SECRET, issue, keys_from
from tiebreak.fair.server.app import create_app
from tiebreak.fair.server.settings import VARIABLE, Settings

_MOST: Final = 1000


def most_connections() -> int:
    """How many connections a process keeps: 1,000, or half of its descriptors if those are fewer.

    The other half is for what is accepted and not counted yet, and for the bank.
    """
    if sys.platform == "win32":
        return _MOST // 4
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST if soft == resource.RLIM_INFINITY else max(8, min(_MOST, soft // 2))


class Wire(H11Protocol):
    """A connection that is ended when it is late with its headers, or when others need its room.

    Headers have the time of uvicorn's keep-alive, from the connection or the last response on; that
    a part of them came does not lengthen it.
    """

    _since = 0.0
    """When it was made, or its last request came."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request, in place of another connection if need be."""
        super().connection_made(transport)
        self._since = self.loop.time()
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )
        if len(self.connections) > most_connections():
            wires = (wire for wire in self.connections if isinstance(wire, Wire))
            oldest = min(wires, key=lambda wire: wire._since)
            self.connections.discard(oldest)
            oldest.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        before = self.cycle
        self.conn.receive_data(data)
        self.handle_events()
        if self.cycle is not before:
            self._unset_keepalive_if_required()
            self._since = self.loop.time()


HEADERS_WITHIN: Final = 10
"""Seconds in which the headers of a request have to be there."""


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

    Args:
        given: fields of `Settings`, without keys.
        host: address to listen on.
        port: 0 takes a free one.
        workers: number of processes.
        development: make a secret that only this run knows.
        proxy: addresses of proxies that are believed, with commas between them.

    Raises:
        BankError: the bank cannot be opened, or there are no keys.
    """
    if development:
        for name in (PRIVATE, PUBLIC):
            os.environ.pop(name, None)
        os.environ[SECRET] = secrets.token_hex(32)
    settings = Settings(**given)
    # What is wrong is said here, once, and not by every worker.
    app = create_app(settings)
    print(f"Serving {shown(settings.bank)} with {workers} worker(s).", file=sys.stderr)
    if development:
        _print_admin(settings)
    os.environ[VARIABLE] = settings.exported()
    options = {"host": host, "port": port, "log_level": "info", **options_of(proxy)}
    if workers == 1:
        uvicorn.run(app, **options)
    else:
        uvicorn.run(
            "tiebreak.fair.server.app:from_environment", factory=True, workers=workers, **options
        )


def options_of(proxy: str | None = None) -> dict[str, Any]:
    """How uvicorn serves, wherever it listens; `proxy` as for `run`."""
    return {
        "access_log": False,
        "server_header": False,
        # Else uvicorn believes whoever is on this machine.
        "proxy_headers": proxy is not None,
        "forwarded_allow_ips": proxy,
        "timeout_graceful_shutdown": 10,
        "http": "tiebreak.fair.server.serve:Wire",
        "ws": "none",
        "timeout_keep_alive": HEADERS_WITHIN,
        # So many are accepted at once, and several times as many before the first is counted.
        "backlog": max(8, most_connections() // 8),
    }


def _print_admin(settings: Settings) -> None:
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
