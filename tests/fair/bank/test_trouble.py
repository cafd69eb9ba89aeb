"""What the server's log says when something around it goes wrong, and how often."""

import json
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from logging import ERROR, INFO, WARNING
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from sqlalchemy import Pool, event
from sqlalchemy.exc import OperationalError

from tests.fair.bank.serving import KEYS, client, grant, make_bank, served, token
from tiebreak.fair.bank.schema import open_bank
from tiebreak.fair.server import envelope
from tiebreak.fair.server.app import create_app
from tiebreak.fair.server.envelope import later, once_a_minute
from tiebreak.fair.server.settings import Settings

NO_MORE = "socket.accept() out of system resource\nsocket: <fd={}>"


@pytest.fixture(autouse=True)
def a_new_minute() -> None:
    envelope._LAST.clear()


def record(
    message: str, level: int = WARNING, name: str = "asyncio", error: Exception | None = None
) -> logging.LogRecord:
    raised = (type(error), error, None) if error else None
    return logging.LogRecord(name, level, "", 0, message, (), raised)


@pytest.mark.parametrize(
    ("records", "written"),
    [
        ([record(NO_MORE.format(k), ERROR, error=OSError(24, "")) for k in range(9)], 1),
        ([record("Invalid HTTP request received.", name="uvicorn.error") for _ in range(9)], 1),
        ([record("a"), record("b"), record("a", name="other"), record("a")], 3),
        ([record("Started", INFO) for _ in range(3)], 3),
        ([record("a", ERROR, error=ValueError("a mistake of ours")) for _ in range(3)], 3),
    ],
)
def test_what_is_written_in_a_minute(
    records: list[logging.LogRecord], written: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for time, most in ((0.0, written), (59.0, len(records)), (61.0, written)):
        clock = SimpleNamespace(monotonic=partial(float, time))
        monkeypatch.setattr(envelope, "time", clock)
        passed = sum(map(once_a_minute, records))
        assert passed in ((0, most) if time == 59.0 else (written,))


def test_the_server_spares_its_log(tmp_path: Path) -> None:
    open_bank(tmp_path / "bank.db", create=True)
    create_app(Settings(str(tmp_path / "bank.db"), KEYS))
    for name in ("asyncio", "uvicorn.error"):
        stranger = [record(f"a request of a stranger\n{k}", name=name) for k in range(100)]
        assert sum(map(bool, map(logging.getLogger(name).filter, stranger))) == 1


def sqlite(code: int, message: str = "a reason") -> OperationalError:
    cause = sqlite3.OperationalError(message)
    cause.sqlite_errorcode = code
    return OperationalError("INSERT …", {}, cause)


def postgresql(state: str) -> OperationalError:
    return OperationalError("INSERT …", {}, psycopg.errors.lookup(state)("a reason"))


FULL = "the disk under the bank is full"


@pytest.mark.parametrize(
    ("error", "full"),
    [
        (sqlite(sqlite3.SQLITE_BUSY), False),
        (sqlite(sqlite3.SQLITE_LOCKED), False),
        (sqlite(sqlite3.SQLITE_FULL), True),
        (postgresql("40P01"), False),
        (postgresql("53100"), True),
    ],
)
def test_a_bank_that_is_busy_and_a_full_disk(
    error: OperationalError, full: bool, caplog: pytest.LogCaptureFixture
) -> None:
    reply = later(error)
    detail = json.loads(bytes(reply.body))["detail"]
    said = ("ask later", "30") if full else ("busy: ask again", "1")
    assert reply.status_code == 503
    assert (detail.endswith(said[0]), reply.headers["Retry-After"]) == (True, said[1])
    assert [line.startswith(FULL) for line in caplog.messages] == [True] * full


@contextmanager
def pages(most: int) -> Iterator[None]:
    """Let SQLite's files have so many pages, or as many as they have."""

    def limit(connection: Any, record: object, proxy: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {most}")

    event.listen(Pool, "checkout", limit)
    yield
    event.remove(Pool, "checkout", limit)


@pytest.mark.slow
def test_a_full_disk(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """SQLite says the same where a file may not grow as where the disk is full."""
    engine = make_bank(tmp_path / "bank.db", 60)
    grant(engine, "example.org", 60)
    given = token(engine)

    with (
        served(Settings(str(tmp_path / "bank.db"), KEYS, durable=False)) as address,
        client(address, given) as ada,
    ):
        wanted = {"k": 50, "model": "m"}
        key = {"Idempotency-Key": "k"}
        path = f"/sessions/{ada.post('/sessions', json=wanted, headers=key).json()['id']}"
        assert ada.get(f"{path}/questions/1").status_code == 200
        text = {"answer": "x" * 100_000}
        with pages(1):
            replies = [ada.put(f"{path}/answers/1", json=text) for _ in range(5)]
        assert [reply.status_code for reply in replies] == [503] * 5
        assert {reply.json()["detail"] for reply in replies} == {
            "the bank takes nothing for now: ask later"
        }
        assert {reply.headers["Retry-After"] for reply in replies} == {"30"}
        assert [FULL in line for line in caplog.messages].count(True) == 1
        # Once there is room it goes on where it was.
        with pages(1_000_000):
            assert ada.put(f"{path}/answers/1", json={"answer": "x"}).status_code == 200
