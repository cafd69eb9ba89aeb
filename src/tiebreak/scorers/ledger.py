"""What a run has paid for, noted where it outlives the process.

A line says that a call is about to leave, another one what became of it. So a call that was under
way when the process was killed counts: it may have been paid for, though its reply is nowhere.

The file lies beside Inspect's cache, because it says what the replies in there have cost. It is
written without waiting for the disk: it survives the end of the process, not that of the power.
"""

import os
import re
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from inspect_ai.hooks import BeforeModelGenerate, Hooks, hooks
from inspect_ai.model import cache_path
from typing_extensions import override

_SENT: Final = "sent"
_PAID: Final = "paid"
_FREE: Final = "free"
_PAID_LINE: Final = re.compile(rf"{_PAID}(?: (\d+\.?\d*(?:e-?\d+)?))?")


@dataclass(frozen=True)
class Noted:
    """What a ledger says: calls that ended and what they cost, and calls of which no end is known.

    `highest` is the price of the most expensive call; None when no price is known.
    """

    calls: int = 0
    cost: float = 0.0
    open: int = 0
    highest: float | None = None


class Ledger:
    """The notes of one run; those of an earlier attempt that was not finished are gone on with.

    Args:
        name: what tells the run from others, fit for a file's name.
    """

    def __init__(self, name: str) -> None:
        self.path = cache_path().parent / "tiebreak-spent" / name
        self._file: int | None = None

    def begin(self) -> Noted:
        """Open it; what earlier attempts noted.

        Raises:
            OSError: the file cannot be read or written.
        """
        if not _registered:
            _registered.append(hooks("ledger", "Notes calls of a run with a budget")(_AsItLeaves))
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


class Outgoing:
    """A call around which it is noted, once each, that it leaves and what became of it.

    It is `lost` when it was cancelled after it had left: nobody saw a reply, and yet it may be paid
    for.

    Args:
        ledger: where it is noted; nowhere when nothing is kept count of.
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


_OUTGOING: ContextVar[Outgoing | None] = ContextVar("tiebreak_outgoing", default=None)
_registered: list[type[Hooks]] = []


class _AsItLeaves(Hooks):
    @override
    async def on_before_model_generate(self, data: BeforeModelGenerate) -> None:
        """Nothing but a look into the cache is between this and the provider."""
        if (outgoing := _OUTGOING.get()) is not None:
            outgoing.leaves()


def _read(path: Path) -> Noted:
    lines = path.read_text("utf-8", errors="replace").splitlines()
    ended = [one for line in lines if (one := _PAID_LINE.fullmatch(line))]
    costs = [float(one[1]) for one in ended if one[1]]
    without = lines.count(_SENT) - len(ended) - lines.count(_FREE)
    return Noted(len(ended), sum(costs), max(0, without), max(costs, default=None))
