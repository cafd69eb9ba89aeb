"""The progress bar on a terminal."""

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
"""Seconds before a command shows a bar; a bar that only flashes up is of no use."""

_DUMB = ("dumb", "unknown")
"""Values of TERM for terminals that cannot redraw a line."""


@contextmanager
def progress_bar() -> Iterator[None]:
    """Show the progress of this block on standard error, if it is a terminal and takes long.

    The bar is removed at the end. A block inside another uses the outer block's bar.
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
    """Whether standard error is a terminal that can redraw a line.

    In a notebook, `!tiebreak` has a terminal, too, but everything drawn there stays.
    """
    notebook = "JPY_PARENT_PID" in os.environ
    return sys.stderr.isatty() and os.environ.get("TERM") not in _DUMB and not notebook


class _Bar:
    """A bar that appears after a delay, and only while an activity is running."""

    def __init__(self) -> None:
        self._now: Activity | None = None
        self._bar: Progress | None = None
        self._lock = RLock()
        self._late = False
        self._timer = Timer(_AFTER, self._show_late)
        self._timer.daemon = True  # a pending bar must not keep a finished command alive
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
    """A bar that asks `now` for the current activity whenever it is redrawn."""
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
        # The bar is on standard error, and must not change what verbs print.
        redirect_stdout=False,
    )
    bar.add_task("", total=None, parts="")
    return bar
