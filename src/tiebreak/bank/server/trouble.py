"""What goes wrong around the server: said in its log, and not a thousand times a second."""

import logging
import sqlite3
import time
from collections.abc import Callable
from typing import Final

from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from starlette.responses import JSONResponse

from tiebreak.bank.server.replies import problem

SECONDS: Final = 60.0
"""For so long a message is not repeated."""

_LOGGER: Final = logging.getLogger(__name__)
_LOGGERS: Final = (__name__, "asyncio", "uvicorn.error")
_FULL: Final = "the disk under the bank is full, and nothing is kept any more: make room on it"
_BUSY: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
# Of PostgreSQL: not serialised, a deadlock, a lock that is taken, too many connections; no space.
_BUSY_STATES: Final = ("40001", "40P01", "55P03", "53300")
_FULL_STATE: Final = "53100"
_KEPT: Final = 100


class Sparing(logging.Filter):
    """Lets a warning through once a minute, whatever its first line is filled in with.

    Errors with a traceback pass, but for those of the system (no descriptor is left, say).
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """By a clock, in seconds."""
        super().__init__()
        self._clock = clock
        self._last: dict[tuple[str, str], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is written."""
        error = record.exc_info[1] if record.exc_info else None
        if record.levelno < logging.WARNING or not isinstance(error, OSError | None):
            return True
        key, now = (record.name, str(record.msg).partition("\n")[0]), self._clock()
        if now - self._last.get(key, -SECONDS) < SECONDS:
            return False
        if len(self._last) >= _KEPT:
            self._last.clear()
        self._last[key] = now
        return True


_SPARING: Final = Sparing()


def spare_the_log() -> None:
    """Have what strangers can cause at will written once a minute, from now on."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_SPARING)


def later(error: SQLAlchemyError) -> JSONResponse:
    """What an examinee is told whom the bank cannot serve now.

    A bank that is busy will do by itself; of anything else the organiser has to hear.
    """
    cause = error.orig if isinstance(error, DBAPIError) else None
    code = getattr(cause, "sqlite_errorcode", 0) & 0xFF  # without what kind of busy it is
    state = getattr(cause, "sqlstate", None)
    if code in _BUSY or state in _BUSY_STATES:
        return problem(503, "the bank is busy: ask again", {"Retry-After": "1"})
    if code == sqlite3.SQLITE_FULL or state == _FULL_STATE:
        _LOGGER.error(_FULL)
    else:
        reason = str(cause or error).partition("\n")[0]
        _LOGGER.error("the bank cannot be read or written: %s", reason)
    return problem(503, "the bank takes nothing for now: ask again later", {"Retry-After": "30"})
