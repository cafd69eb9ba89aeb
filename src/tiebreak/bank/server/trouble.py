"""What goes wrong around the server: said in its log, and not a thousand times a second."""

import logging
import time
from collections.abc import Callable
from typing import Final

SECONDS: Final = 60.0
"""For so long a message is not repeated."""

_LOGGERS: Final = ("asyncio", "uvicorn.error")
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
