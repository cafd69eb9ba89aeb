"""The budget of a run: a maximum number of judge calls, or of dollars.

A run that has spent its budget stops asking and keeps its ballots: items judged to the end are
ranked, the others are cut short. All attempts at a run share its budget: the ledger records what an
earlier attempt paid for until it was killed, or failed. Calls served from the cache cost nothing,
so after a run has ended with its budget spent, the same command continues it with a new budget.

Half-judged items are worthless. So an item starts only if the remaining budget covers it, assuming
the cost of the most expensive item so far, or if no other item is in progress. (An item that needed
no call says nothing about the others.)

The ledger outlives the process. One line records that a call is about to be sent, another one its
outcome. A call in flight when the process was killed counts as paid: the provider may have billed
it although its reply is lost. The file is beside Inspect's cache because it records what the cached
replies cost. It is not synced to disk: it survives the end of the process, but not a power failure.

Two concurrent attempts at a run would not know of each other's calls, so an attempt holds a lock of
the operating system, which is released when its process ends, for whatever reason.
"""

import math
import os
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Final

import anyio
from filelock import FileLock, Timeout
from inspect_ai.hooks import BeforeModelGenerate, Hooks, RunEnd, hooks
from inspect_ai.model import cache_path
from inspect_ai.util import LimitExceededError, token_limit
from typing_extensions import override

from tiebreak.errors import TiebreakError
from tiebreak.scorers.ballots import Call

Account = Callable[[], AbstractAsyncContextManager[Callable[[Call], None]]]
"""The budget from one item's point of view: `Budget.call` with what that item has spent."""


async def wake_all(changed: anyio.Condition) -> None:
    """Wake all waiting tasks, even if the current task is being cancelled."""
    with anyio.CancelScope(shield=True):
        async with changed:
            changed.notify_all()


class BudgetSpentError(TiebreakError, LimitExceededError):
    """The next call would exceed the budget; Inspect treats it as a limit that was reached."""


class UnknownPriceError(TiebreakError, RuntimeError):
    """A budget in dollars cannot be kept because a model's price is unknown."""

    def __init__(self, model: str) -> None:
        super().__init__(
            f"No price is known for {model}, so a limit in dollars cannot be kept. Give prices "
            "with --model-cost-config FILE, or limit the calls: -T max_calls=N."
        )


@dataclass
class Spent:
    """A number of calls, and US dollars."""

    calls: float = 0
    cost: float = 0.0

    def add(self, call: Call) -> None:
        """Count one more call; a call without a known price adds no cost."""
        self.calls += 1
        self.cost += call.cost or 0.0

    def plus(self, other: "Spent") -> "Spent":
        """The sum of both."""
        return Spent(self.calls + other.calls, self.cost + other.cost)

    def minus(self, other: "Spent") -> "Spent":
        """The difference, at least 0 for calls and cost."""
        return Spent(max(0, self.calls - other.calls), max(0, self.cost - other.cost))

    def larger(self, other: "Spent") -> "Spent":
        """The larger number of calls and the larger cost."""
        return Spent(max(self.calls, other.calls), max(self.cost, other.cost))

    def __str__(self) -> str:
        cost = f" (${self.cost:,.2f})" if self.cost else ""
        return f"{self.calls:,} calls{cost}"

    def below(self, limit: "Spent") -> bool:
        """Whether one more call is allowed: calls and cost are below the limit."""
        return self.calls < limit.calls and self.cost < limit.cost

    def within(self, limit: "Spent") -> bool:
        """Whether the limit is not exceeded; sums of dollars may differ in their last digits."""
        return self.calls <= limit.calls and self.cost <= limit.cost + 1e-9


class Budget:
    """Counts paid calls, and refuses a call that would exceed the limit.

    Args:
        max_calls: number of calls that may be paid for; never exceeded.
        max_cost: US dollars that may be spent. A call's price is known only when it has ended: the
            first call runs alone, then as many run side by side as fit if each costs as much as the
            most expensive so far. Only a call more expensive than all before may exceed the limit.

    Once all is spent, no model is asked. A resumed run still gets replies from the cache, which
    earlier attempts have paid for.
    """

    def __init__(self, max_calls: int | None = None, max_cost: float | None = None) -> None:
        self.paid = Spent()
        self._most = Spent(
            math.inf if max_calls is None else max_calls, math.inf if max_cost is None else max_cost
        )
        self._changed = anyio.Condition()
        self._calls_under_way = 0
        self._highest_price: float | None = None
        self._ledger: Ledger | None = None
        self._goes_on = False
        # Calls of earlier attempts that may have been paid for, while no price is known yet.
        self._unpriced = 0
        # The spending of each item in progress, and the most that a finished item took.
        self._items: list[Spent] = []
        self._item: Spent | None = None

    @property
    def limited(self) -> bool:
        """Whether there is any limit."""
        return self._most != Spent(math.inf, math.inf)

    def begin_attempt(self, ledger: "Ledger") -> None:
        """Begin an attempt: count the spending in the ledger, and record further spending there.

        A call that was in flight when an attempt was killed counts as paid, at the highest price so
        far.

        Raises:
            OSError: the ledger cannot be read or written.
        """
        noted = ledger.begin()
        self._ledger = ledger
        self._goes_on = noted.calls + noted.open > 0
        self._highest_price = noted.highest
        self._unpriced = noted.open if noted.highest is None else 0
        self.paid = Spent(noted.calls + noted.open, noted.cost + noted.open * (noted.highest or 0))

    @asynccontextmanager
    async def item(self) -> AsyncIterator[Account]:
        """Enclose an item: wait until there is room for it, and yield the account for its calls.

        Raises:
            BudgetSpentError: nothing is left.
        """
        took = Spent()
        if await self._wait_for(self._room_for_item, lambda: bool(self._items)):
            self._items.append(took)
        try:
            yield partial(self.call, took)
            if took.calls:
                self._item = took if self._item is None else self._item.larger(took)
        finally:
            self._items = [item for item in self._items if item is not took]
            await wake_all(self._changed)

    @asynccontextmanager
    async def call(self, took: Spent) -> AsyncIterator[Callable[[Call], None]]:
        """Enclose a call of an item: wait for room, and yield a function that takes the ended call.

        Raises:
            BudgetSpentError: nothing is left, and no call in flight can change that.
            UnknownPriceError: a call has no price and there is a limit in dollars.
        """
        room = await self._wait_for(self._room_for_call, lambda: self._calls_under_way > 0)
        self._calls_under_way += room
        out = NotedCall(self._ledger)

        def ended(call: Call) -> None:
            took.add(call)
            if call.cost is not None:
                self._highest_price = max(self._highest_price or 0.0, call.cost)
                self.paid.cost += self._unpriced * call.cost
                self._unpriced = 0
            if call.cached:
                out.free()
                return
            out.paid(call.cost)
            self.paid.add(call)
            if call.cost is None and self._most.cost < math.inf:
                raise UnknownPriceError(call.model)

        try:
            with out, nullcontext() if room else _only_cached(self._spent()):
                yield ended
        finally:
            if out.lost:
                self.paid = self.paid.plus(Spent(1, self._highest_price or 0.0))
            self._calls_under_way -= room
            await wake_all(self._changed)

    async def _wait_for(self, room: Callable[[], bool], under_way: Callable[[], bool]) -> bool:
        """Wait until there is room; False if there will be none but a cached reply is possible."""
        async with self._changed:
            # Other calls may turn out to be cached, and release their room.
            await self._changed.wait_for(lambda: room() or not under_way())
        has_room = room()
        if not (has_room or self._goes_on):
            raise self._spent()
        return has_room

    def _room_for_item(self) -> bool:
        if not self._items or not self.limited:
            return self.paid.below(self._most)
        if self._item is None:
            return False  # the first item shows what an item costs
        total = self.paid.plus(self._item)
        for took in self._items:
            total = total.plus(self._item.minus(took))
        return total.within(self._most)

    def _room_for_call(self) -> bool:
        calls = self._calls_under_way + 1
        if self._highest_price is None and self._most.cost < math.inf and calls > 1:
            return False  # the first call shows what a call costs
        total = self.paid.plus(Spent(calls, calls * (self._highest_price or 0.0)))
        return self.paid.below(self._most) and total.within(self._most)

    def _spent(self) -> BudgetSpentError:
        if self.paid.calls >= self._most.calls:
            value, limit = self.paid.calls, self._most.calls
            words = f"{value:,} of {limit:,} calls"
        else:
            value, limit = self.paid.cost, self._most.cost
            words = f"${value:,.2f} of ${limit:,.2f}"
        message = f"The budget is spent ({words})"
        return BudgetSpentError("custom", value=value, limit=limit, message=message)


@contextmanager
def _only_cached(spent: BudgetSpentError) -> Iterator[None]:
    """Refuse a call that is not cached: Inspect's token limit ignores cached replies."""
    nothing = token_limit(0)
    try:
        with nothing:
            yield
    except LimitExceededError as error:
        if error.source is nothing:
            raise spent from error
        raise


_SENT: Final = "sent"
_PAID: Final = "paid"
_FREE: Final = "free"
_PAID_LINE: Final = re.compile(rf"{_PAID}(?: (\d+\.?\d*(?:e-?\d+)?))?")


@dataclass(frozen=True)
class LedgerTotals:
    """Totals of a ledger: `calls` that ended, their `cost`, and `open` calls of unknown outcome.

    `highest` is the price of the most expensive call; None if no price is known.
    """

    calls: int = 0
    cost: float = 0.0
    open: int = 0
    highest: float | None = None


class Ledger:
    """The record of one run's calls; an unfinished attempt's record is continued.

    `name` identifies the run, and is valid as a file name.
    """

    def __init__(self, name: str) -> None:
        self.path = cache_path().parent / "tiebreak-spent" / name
        self._file: int | None = None

    def lock(self) -> FileLock | None:
        """Exclude other attempts at the run, until release or the end of Inspect's run.

        None if another attempt has the lock, in this process or one that shares the cache.

        Raises:
            OSError: the lock file cannot be created.
        """
        _watch_runs()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Inspect may end a run in another thread than the one that began it.
        lock = FileLock(f"{self.path}.lock", timeout=0, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            return None
        _locks.append(lock)
        return lock

    def begin(self) -> LedgerTotals:
        """Open the ledger, and return the totals of earlier attempts.

        Raises:
            OSError: the file cannot be read or written.
        """
        _watch_runs()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._close()
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        self._file = os.open(self.path, flags | getattr(os, "O_CLOEXEC", 0), 0o600)
        return _read(self.path)

    def note(self, line: str) -> None:
        """Append a line."""
        # A single system call, so that a killed process leaves no partial line.
        assert self._file is not None
        os.write(self._file, f"{line}\n".encode())

    def end(self) -> None:
        """Delete the ledger of a finished run: the next run of its name starts from nothing."""
        self._close()
        self.path.unlink(missing_ok=True)

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    __del__ = _close


class NotedCall:
    """A context around a call that records once that it is sent, and once its outcome.

    The call is `lost` if it was cancelled after it was sent: nobody saw a reply, but it may be
    billed. Without a ledger nothing is recorded.
    """

    def __init__(self, ledger: Ledger | None) -> None:
        self.lost = False
        self._ledger = ledger
        self._left = False

    def leaves(self) -> None:
        """Record that the call is sent; a retry after a failed attempt is the same call."""
        if self._ledger is not None and not self._left:
            self._ledger.note(_SENT)
        self._left = True

    def paid(self, cost: float | None) -> None:
        """Record that the call was answered, with its price if known."""
        self.leaves()
        self._ends(_PAID if cost is None else f"{_PAID} {cost!r}")

    def free(self) -> None:
        """Record that the call cost nothing: the reply was cached, or the provider failed."""
        if self._left:
            self._ends(_FREE)

    def _ends(self, line: str) -> None:
        if self._ledger is not None:
            self._ledger.note(line)
        self._left = False

    def __enter__(self) -> None:
        self._before = _OUTGOING.set(self)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        _OUTGOING.reset(self._before)
        if kind is not None and issubclass(kind, Exception):
            self.free()
        self.lost = self._left


_OUTGOING: ContextVar[NotedCall | None] = ContextVar("tiebreak_outgoing", default=None)
_locks: list[FileLock] = []


@cache
def _watch_runs() -> None:
    hooks("ledger", "Notes what is under way and paid for")(_Watch)


class _Watch(Hooks):
    @override
    async def on_run_end(self, data: RunEnd) -> None:
        """Release the locks, also of attempts that did not finish."""
        while _locks:
            _locks.pop().release()

    @override
    async def on_before_model_generate(self, data: BeforeModelGenerate) -> None:
        """Record the call here because only the cache look-up is between this and the provider."""
        if (outgoing := _OUTGOING.get()) is not None:
            outgoing.leaves()


def _read(path: Path) -> LedgerTotals:
    lines = path.read_text("utf-8", errors="replace").splitlines()
    ended = [match for line in lines if (match := _PAID_LINE.fullmatch(line))]
    costs = [float(match[1]) for match in ended if match[1]]
    without = lines.count(_SENT) - len(ended) - lines.count(_FREE)
    return LedgerTotals(len(ended), sum(costs), max(0, without), max(costs, default=None))
