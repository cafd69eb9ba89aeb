"""The bar that shows on a terminal what is being done, and how far it is."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import RLock, Timer
from typing import TYPE_CHECKING

from tiebreak.progress import Activity, watch, watched

if TYPE_CHECKING:
    from rich.progress import Progress

_AFTER = 0.5
"""Seconds that a command takes before it shows a bar: one that flashes tells nobody anything."""

_DUMB = ("dumb", "unknown")
"""Terminals on which nothing can be taken back."""


@contextmanager
def progress_bar() -> Iterator[None]:
    """Show on standard error what is done in this block, if that is a terminal and it takes long.

    Nothing of it stays. In a block inside another it is the other's bar.
    """
    if watched() or not _can_redraw():
        yield
        return
    bar = _Bar()
    try:
        with watch(bar.seen):
            yield
    finally:
        bar.close()


def _can_redraw() -> bool:
    """Whether what stands on the screen can be taken back.

    In a notebook `!tiebreak` has a terminal, too, but all that was drawn there stays.
    """
    notebook = "JPY_PARENT_PID" in os.environ
    return sys.stderr.isatty() and os.environ.get("TERM") not in _DUMB and not notebook


class _Bar:
    """A bar that comes late, and only while something is being done."""

    def __init__(self) -> None:
        self._now: Activity | None = None
        self._bar: Progress | None = None
        self._lock = RLock()
        self._late = False
        self._timer = Timer(_AFTER, self._show_late)
        self._timer.daemon = True
        self._timer.start()

    def seen(self, now: Activity | None) -> None:
        with self._lock:
            self._now = now
            self._show()

    def close(self) -> None:
        self._timer.cancel()
        with self._lock:
            self._late, self._now = False, None
            self._show()

    def _show_late(self) -> None:
        with self._lock:
            self._late = True
            self._show()

    def _show(self) -> None:
        if self._now is None:
            if self._bar is not None:
                self._bar.stop()
                self._bar = None
        elif self._late and self._bar is None:
            self._bar = _drawn(lambda: self._now)
            self._bar.start()


def _drawn(now: Callable[[], Activity | None]) -> "Progress":
    """A bar that looks up what is being done whenever it is drawn anew."""
    from rich.console import Console, RenderableType
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    class Drawn(Progress):
        def get_renderables(self) -> Iterable[RenderableType]:
            seen = now()
            if seen is not None and self.tasks:
                [task] = self.tasks
                task.description, task.total = str(seen.description), seen.total
                task.completed = seen.done
                task.fields["parts"] = f"{seen.done:,} of {seen.total:,}" if seen.total else ""
            return super().get_renderables()

    bar = Drawn(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[parts]}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        # What is printed on standard output is no business of a bar's.
        redirect_stdout=False,
    )
    bar.add_task("", total=None, parts="")
    return bar
