"""What the server's log says when something around it goes wrong, and how often."""

import logging
import sys
from logging import ERROR, INFO, WARNING
from pathlib import Path

import pytest

from tests.bank.serving import KEYS
from tiebreak.bank.schema import open_bank
from tiebreak.bank.server.app import create_app
from tiebreak.bank.server.settings import Settings
from tiebreak.bank.server.trouble import Sparing

NO_MORE = "socket.accept() out of system resource\nsocket: <fd={}>"


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
def test_what_is_written_in_a_minute(records: list[logging.LogRecord], written: int) -> None:
    time = 0.0
    sparing = Sparing(lambda: time)
    assert sum(map(sparing.filter, records)) == written
    time = 59.0
    assert sum(map(sparing.filter, records)) in (0, len(records))
    time = 61.0
    assert sum(map(sparing.filter, records)) == written


def test_a_thousand_messages_are_not_kept_for_ever() -> None:
    sparing = Sparing()
    assert all(sparing.filter(record(str(k))) for k in range(1000))
    assert sys.getsizeof(sparing._last) < 20_000


def test_the_server_spares_its_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    bank = f"{tmp_path}/bank.db"
    open_bank(bank, create=True)
    create_app(Settings(bank, KEYS))
    for name in ("asyncio", "uvicorn.error"):
        for number in range(100):
            logging.getLogger(name).warning("a request of a stranger\n%d", number)
    assert len(caplog.records) == 2
