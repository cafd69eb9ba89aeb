"""What is being done and how far it is, for whoever watches.

Nobody does unless a program asks to (`watch`): the command line draws a bar. Whatever may take
long says so, with `tracked` or `doing`, and knows nothing of how that is shown.
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
    """Something that is being done: `done` of `total` parts, None where nobody knows how many.

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
    """Watch what is done in this block.

    `seen` receives whatever begins, and again when what it contains has ended; None when nothing is
    being done any more. Without it nobody watches.
    """
    token = _WATCH.set(None if seen is None else _Watch(seen))
    try:
        yield
    finally:
        _WATCH.reset(token)


def watched() -> bool:
    """Whether somebody watches."""
    return _WATCH.get() is not None


@contextmanager
def doing(description: object, total: int | None = None) -> Iterator[Activity]:
    """Say that something is being done in this block; who counts its parts adds to `done`."""
    activity, here = Activity(description, total), _WATCH.get()
    # A forked worker has inherited a watch, and no terminal of its own.
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
    """The same parts, one after the other, counted.

    `total` is how many there are, of an iterator whose length is known; each counts as its `size`.
    """
    n = len(parts) if total is None and isinstance(parts, Sized) else total
    with doing(description, n) as activity:
        for part in parts:
            yield part
            activity.done += size(part)
