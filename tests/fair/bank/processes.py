"""`tiebreak bank serve` as real processes, which can be killed."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.fair.bank.serving import KEYS
from tests.forking import Fork
from tests.harness import environment, forks
from tiebreak.fair.bank.tokens import SECRET

WAIT = 120.0
"""Seconds until a server that does not answer is a failure."""


@dataclass
class Served:
    """A server on a port of its own, started again whenever it was killed."""

    bank: str
    port: int
    log: Path
    workers: int = 1
    descriptors: int | None = None
    """How many the server may have; None: as many as the tests."""
    process: Fork | None = field(default=None, init=False)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and return once it answers."""
        rates = [f"--{kind}-rate=1000000/second" for kind in ("token", "address")]
        place = ["--bank", self.bank, f"--port={self.port}", f"--workers={self.workers}"]
        with self.log.open("ab") as log:
            self.process = forks().start(
                *("tiebreak", "bank", "serve", *place, *rates),
                cwd=self.log.parent,
                env=environment(**{SECRET: KEYS.verifying}),
                stdout=log.fileno(),
                stderr=log.fileno(),
                descriptors=self.descriptors,
            )
        end = time.monotonic() + WAIT
        while True:
            assert self.process.poll() is None, self.log.read_text(encoding="utf-8")
            assert time.monotonic() < end, self.log.read_text(encoding="utf-8")
            try:
                httpx.get(f"{self.address}/health", verify=False).raise_for_status()
                break
            except httpx.HTTPError:
                time.sleep(0.05)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def free_port() -> int:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@contextmanager
def serving(
    bank: str, folder: Path, workers: int = 1, descriptors: int | None = None
) -> Iterator[Served]:
    """A server that has started; it is gone afterwards."""
    server = Served(bank, free_port(), folder / "server.log", workers, descriptors)
    try:
        server.start()
        yield server
    finally:
        server.kill()
