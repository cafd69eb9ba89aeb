"""Questions that a served bank asks and stores the answers of, per second, with a bound.

Run `python benchmarks/bank_server.py`. A bank of 220,000 questions (those of bank.py) with 1,000
open sessions is served by `tiebreak bank serve`: from SQLite (WAL, waiting for the disk at every
commit) by one worker and, if PostgreSQL is installed, from there by four; it waits for the disk,
too. Clients in processes of their own keep 64 connections open and take each session a few
questions further; a round trip is to get a question and to store its answer. The script prints the
round trips per second, their duration, and the load of the machine before; clients and database
share the cores with the server. It also prints the CPU time to open a session with 50,000 and with
200,000 questions in the bank. It exits with 1 if SQLite has fewer than 300 round trips per second,
or if opening a session in the larger bank takes more than 1.5 × as long.
"""

import sys
from pathlib import Path

sys.path.pop(0)  # the script's own folder, whose statistics.py would hide Python's
sys.path.insert(0, str(Path(__file__).parents[1]))

import asyncio
import json
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from multiprocessing import get_context
from statistics import median

from rich.console import Console
from rich.table import Table
from sqlalchemy import Engine, insert

from benchmarks.made.questions import N_QUESTIONS, questions
from tiebreak.fair.bank.question import Session
from tiebreak.fair.bank.quotas import grant
from tiebreak.fair.bank.schema import QUESTIONS, open_bank
from tiebreak.fair.bank.sessions import Sampler, TokenHolder, create
from tiebreak.fair.bank.tokens import SECRET, issue, jti_of, keys_from

BOUND = 300.0
"""Least round trips per second with SQLite."""
SIZES, GROWTH, OPENED = (50_000, 200_000), 1.5, 40
"""Questions in the two banks; how many times as long the larger may take; sessions to open."""

N_SESSIONS, K, ROUNDS = 1_000, 20, 4
PROCESSES, CONNECTIONS = 2, 32
INSTITUTION = "example.org"
_KEYS = {SECRET: "a secret of the benchmark, 32 bytes long"}


@dataclass(frozen=True)
class Exam:
    """The id of a session, and the token that it was opened with."""

    session: str
    token: str


@dataclass(frozen=True)
class Speed:
    """Round trips per second with one bank, and the median and 99th percentile of their seconds."""

    database: str
    workers: int
    per_second: float
    median: float
    late: float


def fill(engine: Engine, n: int = N_QUESTIONS) -> None:
    """Put n questions into a bank as an import would, without looking for near duplicates."""
    rows = [
        {
            "uuid": row["question_uuid"],
            "raw_uuid": row["raw_uuid"],
            "category": row["category"],
            "sub_category": "",
            "type": "true_false",
            "question": row["dialog"][0]["content"],  # type: ignore[index]
            "answer": row["hint"],
            "hint": row["hint"],
            "options": [],
            **dict.fromkeys(("source", "date", "parent", "made_by"), ""),
            "status": "approved",
            "digest": str(number),
            "signature": b"",
            "import_id": 1,
        }
        for number, row in enumerate(islice(questions(), n))
    ]
    with engine.begin() as connection:
        for start in range(0, len(rows), 10_000):
            connection.execute(insert(QUESTIONS), rows[start : start + 10_000])


class Still(Sampler):
    """Reads the bank once only, because nothing changes while a thousand sessions are opened."""

    def refresh(self) -> None:
        """Read the bank the first time; do nothing after that."""
        if self._read_at is None:
            super().refresh()


def open_sessions(engine: Engine) -> list[Exam]:
    """Open `N_SESSIONS` sessions of 50 institutions, each with a token of its own."""
    keys, sampler, exams = keys_from(_KEYS), Still(engine), list[Exam]()
    for n in range(N_SESSIONS):
        institution, user = f"{INSTITUTION} {n % 50}", f"user {n}"
        if n < 50:
            grant(engine, institution, N_SESSIONS * K)
        shown = issue(
            engine,
            keys,
            user=user,
            institution=institution,
            role="examinee",
            lifetime=timedelta(hours=2),
        )
        holder = TokenHolder(institution, user, jti_of(shown))
        session, _ = create(engine, sampler, holder, Session(K, "m"), "key")
        exams.append(Exam(session.id, shown))
    return exams


def opening(folder: Path, n: int) -> float:
    """Median of the CPU seconds to open a session in a bank of n questions."""
    engine = open_bank(folder / f"{n}.db", create=True)
    fill(engine, n)
    grant(engine, INSTITUTION, (OPENED + 1) * K)
    sampler, times = Sampler(engine), list[float]()
    for number in range(OPENED + 1):
        began = time.process_time()
        holder = TokenHolder(INSTITUTION, "user", f"token {number}")
        create(engine, sampler, holder, Session(K, "m"), f"key {number}")
        times.append(time.process_time() - began)
    engine.dispose()
    return median(times[1:])  # the first one reads the bank


@contextmanager
def served(bank: str, workers: int, folder: Path) -> Iterator[int]:
    """Serve a bank during the block; yields the port once the server answers."""
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        port = int(taken.getsockname()[1])
    code = "from tiebreak.cli.verbs import main; main()"
    rates = [f"--{kind}-rate=1000000/second" for kind in ("token", "address")]
    place = ["--bank", bank, f"--port={port}", f"--workers={workers}"]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", code, "bank", "serve", *place, *rates],
            stdout=log,
            stderr=log,
            env={**os.environ, **_KEYS},
            start_new_session=True,
        )
    try:
        while not _answers(port):
            if process.poll() is not None:
                raise SystemExit((folder / "server.log").read_text(encoding="utf-8"))
            time.sleep(0.1)
        yield port
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as wire:
            wire.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return b" 200 " in wire.recv(100)
    except OSError:
        return False


def take(port: int, exams: list[Exam], first: int) -> list[float]:
    """Take every session `ROUNDS` questions further; returns the seconds of each round trip."""
    return asyncio.run(_take(port, exams, first))


async def _take(port: int, exams: list[Exam], first: int) -> list[float]:
    took: list[float] = []

    async def one(mine: list[Exam]) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for k in range(first, first + ROUNDS):
            for exam in mine:
                began = time.perf_counter()
                await _call(reader, writer, exam, "GET", f"questions/{k}", b"")
                body = json.dumps({"answer": f"An answer of a model to question {k}. " * 10})
                await _call(reader, writer, exam, "PUT", f"answers/{k}", body.encode())
                took.append(time.perf_counter() - began)
        writer.close()

    await asyncio.gather(*(one(exams[n::CONNECTIONS]) for n in range(CONNECTIONS)))
    return took


async def _call(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    exam: Exam,
    method: str,
    path: str,
    body: bytes,
) -> None:
    writer.write(
        f"{method} /sessions/{exam.session}/{path} HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: Bearer {exam.token}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n".encode()
        + body
    )
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
    said = await reader.readexactly(length)
    if not head.startswith(b"HTTP/1.1 200"):
        raise SystemExit(f"{method} {path}: {said.decode()}")


def measured(bank: str, database: str, workers: int, folder: Path) -> Speed:
    """Fill a bank, serve it, and measure round trips, after some sessions to warm up."""
    engine = open_bank(bank, create=True)
    fill(engine)
    exams = open_sessions(engine)
    engine.dispose()
    parts = [exams[n::PROCESSES] for n in range(PROCESSES)]
    with (
        served(bank, workers, folder) as port,
        ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool,
    ):
        list(pool.map(take, [port] * PROCESSES, [part[:50] for part in parts], [1] * PROCESSES))
        rest = [part[50:] for part in parts]
        began = time.perf_counter()
        took = sorted(
            second
            for part in pool.map(take, [port] * PROCESSES, rest, [1] * PROCESSES)
            for second in part
        )
        seconds = time.perf_counter() - began
    n = len(took)
    return Speed(database, workers, n / seconds, took[n // 2], took[n * 99 // 100])


def main() -> int:
    """Measure, print the table, return the exit code."""
    from tests.fair.bank import postgres

    # The tests' cluster does not wait for the disk, but a database that people rely on does.
    postgres.SETTINGS.update(dict.fromkeys(("fsync", "synchronous_commit"), "on"))
    postgres.SETTINGS.update(full_page_writes="on", autovacuum="on", shared_buffers="128MB")
    busy = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        speeds = [measured(str(folder / "bank.db"), "SQLite", 1, folder)]
        if postgres.programs() is not None:
            with postgres.postgresql() as cluster:
                speeds.append(measured(cluster.url, "PostgreSQL", 4, folder))
        opened = [opening(folder, n) for n in SIZES]
    title = f"bank serve, {N_QUESTIONS:,} questions, {N_SESSIONS:,} open sessions"
    table = Table(title=f"{title}, {os.cpu_count()} cores, load before {busy:.1f}")
    for column in ("", "workers", "round trips/s", "bound", " ", "median", "99th of 100"):
        table.add_column(column, justify="left" if not column else "right")
    for speed in speeds:
        bounded = speed.database == "SQLite"
        verdict = ("ok" if speed.per_second >= BOUND else "MISSED") if bounded else ""
        table.add_row(
            speed.database,
            str(speed.workers),
            f"{speed.per_second:.0f}",
            f"≥ {BOUND:.0f}" if bounded else "",
            verdict,
            f"{1000 * speed.median:.0f} ms",
            f"{1000 * speed.late:.0f} ms",
        )
    console = Console(width=120)
    console.print(table)
    shown = " and ".join(
        f"{1000 * seconds:.1f} ms with {n:,} questions"
        for n, seconds in zip(SIZES, opened, strict=True)
    )
    growth = opened[-1] / opened[0]
    console.print(f"opening a session: {shown}, {growth:.2f} × (bound {GROWTH})")
    return int(speeds[0].per_second < BOUND or growth > GROWTH)


if __name__ == "__main__":
    sys.exit(main())
