"""What a run may spend on judging: at most so many calls, or so many dollars.

A run that has spent its budget stops asking and keeps what it has: items judged to the end are
ranked, the others are cut short. All attempts at a run share its budget: what one paid for until it
was killed, or failed, is in its ledger. Calls served from the cache cost nothing, so the same
command goes on, with a budget of its own, where a run ended that had spent its own.

Many items half judged are worth nothing. So an item begins only when what is left will see it to
its end, going by the most expensive item so far, or when no other item is under way. (An item that
needed no call shows nothing about the others.)

What is paid for is noted in a ledger, which outlives the process. A line says that a call is about
to leave, another one what became of it. So a call that was under way when the process was killed
counts: it may have been paid for, though its reply is nowhere. The file lies beside Inspect's
cache, because it says what the replies in there have cost. It is written without waiting for the
disk: it survives the end of the process, not that of the power.

Two attempts at a run at once would not know of each other's calls. So an attempt has a lock of the
operating system, which ends with its process, however that ends.
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
"""The budget as one item sees it: `Budget.call` for what that item took."""


async def wake_all(changed: anyio.Condition) -> None:
    """Have all that wait look again, also when who tells them is being cancelled."""
    with anyio.CancelScope(shield=True):
        async with changed:
            changed.notify_all()


class BudgetSpentError(TiebreakError, LimitExceededError):
    """The next call would go beyond the budget; Inspect takes it as a limit that was reached."""


class UnknownPriceError(TiebreakError, RuntimeError):
    """A budget in dollars, and a model of unknown price."""

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
        """Count one call more; without a known price it is worth nothing here."""
        self.calls += 1
        self.cost += call.cost or 0.0

    def plus(self, other: "Spent") -> "Spent":
        """Both together."""
        return Spent(self.calls + other.calls, self.cost + other.cost)

    def minus(self, other: "Spent") -> "Spent":
        """What is left of it, at least nothing."""
        return Spent(max(0, self.calls - other.calls), max(0, self.cost - other.cost))

    def larger(self, other: "Spent") -> "Spent":
        """The more of each."""
        return Spent(max(self.calls, other.calls), max(self.cost, other.cost))

    def __str__(self) -> str:
        cost = f" (${self.cost:,.2f})" if self.cost else ""
        return f"{self.calls:,} calls{cost}"

    def below(self, limit: "Spent") -> bool:
        """Whether there is room for one more."""
        return self.calls < limit.calls and self.cost < limit.cost

    def within(self, limit: "Spent") -> bool:
        """Whether it is no more than this; sums of dollars may differ in their last digits."""
        return self.calls <= limit.calls and self.cost <= limit.cost + 1e-9


class Budget:
    """Counts what is paid for, and refuses the call that would be one too many.

    Args:
        max_calls: number of calls that may be paid for; never exceeded.
        max_cost: US dollars that may be spent. A call's price is known when it has ended: the first
            call runs alone, then as many side by side as fit when each costs as much as the most
            expensive so far. Only a call more expensive than all before may exceed the limit.

    Nothing is asked any more once all is spent. An attempt that goes on with a run still gets what
    the cache holds then: that is what earlier ones paid for.
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
        # Calls of earlier attempts that may have been paid for at a price that is not known yet.
        self._unpriced = 0
        # What each item under way took so far, and the most that one took to its end.
        self._items: list[Spent] = []
        self._item: Spent | None = None

    @property
    def limited(self) -> bool:
        """Whether there is a limit at all."""
        return self._most != Spent(math.inf, math.inf)

    def begin_attempt(self, ledger: "Ledger") -> None:
        """Begin an attempt: what earlier ones spent counts, and what is spent now is noted.

        A call that was under way when an attempt was killed counts as one that was paid for, at the
        highest price so far.

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
        """Around an item: waits until there is room for it; its calls go through the account.

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
        """Around a call of an item: waits for room; what it yields takes the call that has ended.

        Raises:
            BudgetSpentError: nothing is left, and no call under way can change that.
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
        """Wait until there is room; False when there will be none, and the cache may have it."""
        async with self._changed:
            # Others may turn out to be cached, and leave their room.
            await self._changed.wait_for(lambda: room() or not under_way())
        has_room = room()
        if not (has_room or self._goes_on):
            raise self._spent()
        return has_room

    def _room_for_item(self) -> bool:
        if not self._items or not self.limited:
            return self.paid.below(self._most)
        if self._item is None:
            return False  # the first item shows what one takes
        total = self.paid.plus(self._item)
        for took in self._items:
            total = total.plus(self._item.minus(took))
        return total.within(self._most)

    def _room_for_call(self) -> bool:
        calls = self._calls_under_way + 1
        if self._highest_price is None and self._most.cost < math.inf and calls > 1:
            return False  # the first call shows what one costs
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
    """Refuse a call that the cache does not have: a limit of Inspect's looks at those only."""
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
    """What a ledger says: calls that ended and what they cost, and calls of which no end is known.

    `highest` is the price of the most expensive call; None when no price is known.
    """

    calls: int = 0
    cost: float = 0.0
    open: int = 0
    highest: float | None = None


class Ledger:
    """The notes of one run; those of an earlier attempt that was not finished are gone on with.

    `name` is what tells the run from others, fit for a file's name.
    """

    def __init__(self, name: str) -> None:
        self.path = cache_path().parent / "tiebreak-spent" / name
        self._file: int | None = None

    def lock(self) -> FileLock | None:
        """Keep other attempts at the run out, until release or the end of Inspect's run.

        None where another attempt has the lock, in this process or one that shares the cache.

        Raises:
            OSError: there can be no lock.
        """
        _watch_runs()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Inspect may end a run in another thread than it began in.
        lock = FileLock(f"{self.path}.lock", timeout=0, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            return None
        _locks.append(lock)
        return lock

    def begin(self) -> LedgerTotals:
        """Open it; what earlier attempts noted.

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
        """Add a line."""
        # One call of the system: a process that is killed leaves whole lines.
        assert self._file is not None
        os.write(self._file, f"{line}\n".encode())

    def end(self) -> None:
        """The run has ended: the next one of its name begins with nothing spent."""
        self._close()
        self.path.unlink(missing_ok=True)

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    __del__ = _close


class NotedCall:
    """A call around which it is noted, once each, that it leaves and what became of it.

    It is `lost` when it was cancelled after it had left: nobody saw a reply, and yet it may be paid
    for. Without a ledger nothing is noted.
    """

    def __init__(self, ledger: Ledger | None) -> None:
        self.lost = False
        self._ledger = ledger
        self._left = False

    def leaves(self) -> None:
        """It has a connection; an attempt after one that failed is the same call."""
        if self._ledger is not None and not self._left:
            self._ledger.note(_SENT)
        self._left = True

    def paid(self, cost: float | None) -> None:
        """It was answered, at this price if that is known."""
        self.leaves()
        self._ends(_PAID if cost is None else f"{_PAID} {cost!r}")

    def free(self) -> None:
        """It cost nothing: the cache had the reply, or the provider failed."""
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
        """Also where an attempt did not come to its end."""
        while _locks:
            _locks.pop().release()

    @override
    async def on_before_model_generate(self, data: BeforeModelGenerate) -> None:
        """Nothing but a look into the cache is between this and the provider."""
        if (outgoing := _OUTGOING.get()) is not None:
            outgoing.leaves()


def _read(path: Path) -> LedgerTotals:
    lines = path.read_text("utf-8", errors="replace").splitlines()
    ended = [match for line in lines if (match := _PAID_LINE.fullmatch(line))]
    costs = [float(match[1]) for match in ended if match[1]]
    without = lines.count(_SENT) - len(ended) - lines.count(_FREE)
    return LedgerTotals(len(ended), sum(costs), max(0, without), max(costs, default=None))
