"""Every request is a row of the access log before its response leaves.

Rows of requests that are under way at the same time are written in one transaction, by one thread
of each process.
"""

import asyncio
import queue
import threading
from typing import Final

from sqlalchemy import Engine, insert

from tiebreak.bank.schema import writing
from tiebreak.bank.session_tables import ACCESS_LOG

Line = dict[str, str | int | None]
"""A row of the table access_log."""

_INSERT: Final = insert(ACCESS_LOG)
_MOST: Final = 500


class AccessLog:
    """Writes lines; `write` is called in an event loop."""

    def __init__(self, engine: Engine) -> None:
        """Of a bank; the thread is started with the first line."""
        self._engine = engine
        self._waiting: queue.SimpleQueue[tuple[Line, asyncio.Future[None]] | None] = (
            queue.SimpleQueue()
        )
        self._thread: threading.Thread | None = None

    async def write(self, line: Line) -> None:
        """Return once the line is in the table.

        Raises:
            SQLAlchemyError: it could not be written.
        """
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, daemon=True, name="access log")
            self._thread.start()
        written = asyncio.get_running_loop().create_future()
        self._waiting.put((line, written))
        await written

    def close(self) -> None:
        """Write what waits, and end."""
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join()

    def _run(self) -> None:
        while (first := self._waiting.get()) is not None:
            batch = [first]
            while len(batch) < _MOST and not self._waiting.empty():
                following = self._waiting.get()
                if following is None:
                    self._waiting.put(None)
                    break
                batch.append(following)
            failure: Exception | None = None
            try:
                with writing(self._engine) as connection:
                    connection.execute(_INSERT, [line for line, _ in batch])
            except Exception as error:  # whoever waits hears of it
                failure = error
            loop = batch[0][1].get_loop()
            loop.call_soon_threadsafe(_tell, [written for _, written in batch], failure)


def _tell(waiting: list[asyncio.Future[None]], failure: Exception | None) -> None:
    for written in waiting:
        if written.done():
            continue
        if failure is None:
            written.set_result(None)
        else:
            written.set_exception(failure)
