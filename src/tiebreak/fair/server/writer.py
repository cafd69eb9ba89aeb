"""One thread per process writes for all requests; those that wait share a transaction.

So waiting requests share one commit and its wait for the disk, and threads of a process do not
compete for SQLite's single writer. No result is returned before it is committed.
"""

import asyncio
import queue
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from sqlalchemy import Connection, Engine, insert, text

from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.schema import ACCESS_LOG, writing

T = TypeVar("T")
Line = dict[str, str | int | None]
"""A row of the table access_log; one without a user is only counted, in the table strangers."""

_INSERT: Final = insert(ACCESS_LOG)
_COUNT: Final = text(
    "INSERT INTO strangers (minute, address, n) VALUES (:minute, :address, :n) "
    "ON CONFLICT (minute, address) DO UPDATE SET n = strangers.n + excluded.n"
)
_MOST_ADDRESSES: Final = 100
"""Addresses of strangers counted separately in a minute; all further ones are "others"."""
_MOST: Final = 100
"""Requests per transaction, limited because other processes wait until it ends."""


class _Job(NamedTuple):
    work: Callable[[Connection], Any]
    line: Line | None
    done: asyncio.Future[Any]


class Writer:
    """Writes to a bank; await `run` and `log` from one event loop only."""

    def __init__(self, engine: Engine) -> None:
        """Write to the bank of `engine`; the thread starts when it is first needed."""
        self._engine = engine
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._minute, self._addresses = "", set[str]()

    async def run(self, work: Callable[[Connection], T], line: Line | None = None) -> T:
        """Return `work`'s result once it is committed together with a line of the access log.

        Args:
            work: must write nothing if it raises a BankError. After any other error its
                transaction is rolled back, and it may be called again.
            line: written only if `work` succeeds.

        Raises:
            BankError: `work` raised it.
            SQLAlchemyError: the transaction failed.
        """
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, daemon=True, name="writer")
            self._thread.start()
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._jobs.put(_Job(work, line, done))
        return await done

    async def log(self, line: Line) -> None:
        """Return once the line is in the access log."""
        await self.run(lambda connection: None, line)

    def close(self) -> None:
        """Write all waiting requests, then end the thread."""
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()

    def _serve(self) -> None:
        while (first := self._jobs.get()) is not None:
            jobs = [first]
            while len(jobs) < _MOST and not self._jobs.empty():
                following = self._jobs.get()
                if following is None:
                    self._jobs.put(None)
                    break
                jobs.append(following)
            results = self._commit(jobs)
            first.done.get_loop().call_soon_threadsafe(_notify, jobs, results)

    def _commit(self, jobs: Sequence[_Job]) -> list[Any]:
        """Each job's result, or the error that it raised."""
        try:
            with writing(self._engine) as connection:
                results = [_result(job, connection) for job in jobs]
                lines = [
                    job.line
                    for job, result in zip(jobs, results, strict=True)
                    if job.line is not None and not isinstance(result, BankError)
                ]
                self._log(connection, lines)
            return results
        except Exception as error:  # passed on to the request that waits
            if len(jobs) == 1:
                return [error]
        return [result for job in jobs for result in self._commit([job])]

    def _log(self, connection: Connection, lines: Sequence[Line]) -> None:
        """Add lines to the access log; those without a token are only counted."""
        if known := [line for line in lines if line["user"] is not None]:
            connection.execute(_INSERT, known)
        counts = Counter(self._anonymous_request(line) for line in lines if line["user"] is None)
        # Sorted, so that two processes that update the same rows cannot deadlock.
        rows = [
            {"minute": minute, "address": address, "n": n}
            for (minute, address), n in sorted(counts.items())
        ]
        if rows:
            connection.execute(_COUNT, rows)

    def _anonymous_request(self, line: Line) -> tuple[str, str]:
        """The minute and the address under which a request without a token is counted."""
        minute, address = str(line["at"])[:16], str(line["address"])
        if minute != self._minute:
            self._minute, self._addresses = minute, set[str]()
        if len(self._addresses) < _MOST_ADDRESSES:
            self._addresses.add(address)
        return minute, address if address in self._addresses else "others"


def _result(job: _Job, connection: Connection) -> Any:
    try:
        return job.work(connection)
    except BankError as refusal:
        return refusal


def _notify(jobs: Sequence[_Job], results: Sequence[Any]) -> None:
    for job, result in zip(jobs, results, strict=True):
        if job.done.done():
            continue
        if isinstance(result, Exception):
            job.done.set_exception(result)
        else:
            job.done.set_result(result)
