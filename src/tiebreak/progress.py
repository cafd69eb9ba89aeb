"""Progress of long activities, for a program that displays it.

Code that may take long reports with `tracked` or `doing`, and does not know how that is shown.
Reports go nowhere unless a program calls `watch`, as the command line does to draw a bar.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")


@dataclass(eq=False, slots=True)
class Activity:
    """A running activity: `done` of `total` parts; `total` is None if not known.

    `description` is shown as its `str`.
    """

    description: object
    total: int | None = None
    done: int = 0


@dataclass(slots=True)
class _Watch:
    seen: Callable[[Activity | None], object]
    under_way: list[Activity] = field(default_factory=list)
    process: int = field(default_factory=os.getpid)


_WATCH: ContextVar[_Watch | None] = ContextVar("tiebreak_watch", default=None)


@contextmanager
def watch(seen: Callable[[Activity | None], object] | None) -> Iterator[None]:
    """Watch the activities in this block.

    `seen` is called with each activity that begins, again with the enclosing activity when one
    ends, and with None when none is left. With `seen` None nothing is watched.
    """
    token = _WATCH.set(None if seen is None else _Watch(seen))
    try:
        yield
    finally:
        _WATCH.reset(token)


def watched() -> bool:
    """Whether activities are being watched."""
    return _WATCH.get() is not None


@contextmanager
def doing(description: object, total: int | None = None) -> Iterator[Activity]:
    """Report an activity for this block; the block may add finished parts to its `done`."""
    activity, here = Activity(description, total), _WATCH.get()
    # A forked worker has inherited the watch, but must not draw on its parent's terminal.
    if here is None or here.process != os.getpid():
        yield activity
        return
    here.under_way.append(activity)
    here.seen(activity)
    try:
        yield activity
    finally:
        here.under_way.remove(activity)
        here.seen(here.under_way[-1] if here.under_way else None)


def tracked(
    parts: Iterable[T],
    description: object,
    total: int | None = None,
    *,
    size: Callable[[T], int] = lambda part: 1,
) -> Iterator[T]:
    """Yield the parts unchanged, and report each as done.

    `total` is the sum of sizes if `parts` has no length; each part counts as its `size`.
    """
    n = len(parts) if total is None and isinstance(parts, Sized) else total
    with doing(description, n) as activity:
        for part in parts:
            yield part
            activity.done += size(part)
