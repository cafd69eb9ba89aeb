"""Servers on loopback in place of a provider's; they answer on 127.0.0.1 only."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Handler(BaseHTTPRequestHandler):
    """Answers in JSON, and keeps the connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or the body waits 40 ms behind its headers

    def asked(self) -> Any:
        """The body of the request."""
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def answer(
        self,
        text: str,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        sent: float = 1.0,
    ) -> None:
        """Answer a request; only the share `sent` of the text leaves, then the connection ends."""
        content = text.encode()
        self.send_response(status)
        usual = {"Content-Type": "application/json", "Content-Length": str(len(content))}
        for header in (usual | {**(headers or {})}).items():
            self.send_header(*header)
        self.end_headers()
        self.close_connection |= sent < 1
        self.wfile.write(content[: int(len(content) * sent)])

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    request_queue_size = 1000
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no fault."""


@contextmanager
def answering(handler: type[Handler]) -> Iterator[str]:
    """The address of a server, until the block ends."""
    with _Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
