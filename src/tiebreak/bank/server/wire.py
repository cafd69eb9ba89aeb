"""Connections: how many there may be, and how long one may take to ask.

Whoever connects and says nothing, or half a request, costs a descriptor. A process that has none
left accepts nobody, so there is always room for the next: the connection that has been waited for
longest makes it.
"""

import asyncio
import sys
from typing import Final

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADERS_WITHIN: Final = 10.0
"""Seconds in which the headers of a request have to be there, since the connection or since the
response before; the body has `Settings.body_timeout` after them."""

_MOST: Final = 1000
_ENOUGH: Final = 65_536
"""Descriptors, of which most systems give a process only a few unasked."""


def raise_limit() -> None:
    """Have as many descriptors as this process, and those that it starts, may ask for."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _ENOUGH if hard == resource.RLIM_INFINITY else min(hard, _ENOUGH)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def descriptors() -> int:
    """How many descriptors this process may have."""
    if sys.platform == "win32":
        return 512
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _ENOUGH if soft == resource.RLIM_INFINITY else soft


def most_connections() -> int:
    """How many connections a process keeps.

    At most half of its descriptors: the others are for what is accepted and not counted yet, and
    for the bank.
    """
    return max(1, min(_MOST, descriptors() // 2))


def most_accepted() -> int:
    """How many connections are accepted at once, and wait for that.

    Some five times as many are there before the first of them is counted.
    """
    return max(1, min(2048, descriptors() // 16))


class Wire(H11Protocol):
    """A connection that is ended when it is late with its headers, or when others need its room."""

    _since = 0.0
    """Since when this connection waits for a request, or is at its present one."""
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the headers of the first request, in place of another connection if need be."""
        super().connection_made(transport)
        self._note()
        if len(self.connections) > most_connections():
            others = (
                wire for wire in self.connections if isinstance(wire, Wire) and wire is not self
            )
            oldest = min(others, key=lambda wire: (wire.at_work, wire._since))
            oldest.connections.discard(oldest)
            oldest.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request; that some of it came does not lengthen the wait."""
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._note()

    def on_response_complete(self) -> None:
        """Wait for the headers of the next request."""
        super().on_response_complete()
        self._note()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        super().connection_lost(exc)
        self._stop()

    @property
    def at_work(self) -> bool:
        """Whether a whole request is here, and it is not the client that its response waits for."""
        if self.cycle is None or self.cycle.response_complete or self.cycle.more_body:
            return False
        return not self.flow.write_paused

    def _note(self) -> None:
        """A wait begins, for headers or for a response."""
        self._stop()
        self._since = self.loop.time()
        if self.cycle is None or self.cycle.response_complete:
            self._late = self.loop.call_later(HEADERS_WITHIN, self.transport.abort)

    def _stop(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
