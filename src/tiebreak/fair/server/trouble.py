"""What goes wrong around the server: said in its log, and not a thousand times a second."""

import logging
import sqlite3
import time
from typing import Final

from starlette.responses import JSONResponse

from tiebreak.fair.server.replies import problem

_LOGGER: Final = logging.getLogger(__name__)
_LAST: Final[dict[tuple[str, str], float]] = {}


def once_a_minute(record: logging.LogRecord) -> bool:
    """Whether a record is written: not if it is a warning whose first line was lately.

    Errors with a traceback are, but for those of the system (no descriptor is left, say).
    """
    error = record.exc_info[1] if record.exc_info else None
    if record.levelno < logging.WARNING or not isinstance(error, OSError | None):
        return True
    key, now = (record.name, str(record.msg).partition("\n")[0]), time.monotonic()
    if now - _LAST.get(key, -60) < 60:
        return False
    _LAST[key] = now
    return True


def spare_the_log() -> None:
    """Have what strangers can cause at will written once a minute, from now on."""
    for name in (__name__, "tiebreak.fair.bank.schema", "asyncio", "uvicorn.error"):
        logging.getLogger(name).addFilter(once_a_minute)


def later(error: Exception) -> JSONResponse:
    """What is said where the database failed: it is busy, or full, and the organiser has to act."""
    cause = getattr(error, "orig", None)
    full = getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    # PostgreSQL's state for that.
    if full or getattr(cause, "sqlstate", None) == "53100":
        _LOGGER.error("the disk under the bank is full, and nothing is kept: make room on it")
        return problem(503, "the bank takes nothing for now: ask later", {"Retry-After": "30"})
    return problem(503, "the bank is busy: ask again", {"Retry-After": "1"})
