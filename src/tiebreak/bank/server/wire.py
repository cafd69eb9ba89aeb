"""Connections: how many there may be, and how long one may take to ask.

A process that has no descriptor left accepts nobody. So that whoever connects and says nothing, or
half a request, cannot keep others out, the connection that has been waited for longest makes room.
"""

import asyncio
import sys
from typing import Final

from uvicorn.protocols.http.h11_impl import H11Protocol

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
