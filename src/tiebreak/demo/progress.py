"""How far a step of the demo is, and how long it will take: on standard error."""

import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

HEARTBEAT: Final = 15.0
"""Seconds between two signs of life where there is no terminal."""

# How Inspect's plain display counts.
_SAMPLES: Final = re.compile(r"Samples: *(\d+)/")

Show = Callable[[int], None]
"""Takes how many are done."""


@contextmanager
def counted(what: str, total: int) -> Iterator[Show]:
    """On a terminal a bar with counts and the time that is left; elsewhere a line now and then."""
    if not sys.stderr.isatty():
        yield _lines(what, total)
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn(what), TimeRemainingColumn())
    console = Console(stderr=True, highlight=False)
    # What is printed meanwhile stands above the bar, unless it goes elsewhere.
    both = sys.stdout.isatty()
    with Progress(*columns, console=console, transient=True, redirect_stdout=both) as bar:
        task = bar.add_task("", total=total)
        yield lambda done: bar.update(task, completed=done)


def _lines(what: str, total: int) -> Show:
    began = last = time.monotonic()

    def show(done: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < HEARTBEAT:
            return
        last = now
        known = 10 * done >= total
        left = f", {about((now - began) / done * (total - done))} left" if known else ""
        print(f"  … {done} of {total} {what}{left}", file=sys.stderr, flush=True)

    return show


def watched(child: "subprocess.Popen[str]", show: Show) -> tuple[int, str]:
    """Wait for an `inspect eval` that prints plain lines; its exit status and what it printed."""
    lines: list[str] = []
    done = 0

    def read() -> None:
        nonlocal done
        for line in child.stdout or ():
            lines.append(line)
            if found := _SAMPLES.search(line):
                done = int(found[1])

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    while True:
        try:
            status = child.wait(timeout=1)
            break
        except subprocess.TimeoutExpired:
            show(done)
        except KeyboardInterrupt:
            # The child got the signal as well, and ends by itself.
            status = child.wait()
            break
    reader.join()
    return status, "".join(lines)


def about(seconds: float) -> str:
    """A time as people say it: about 40 seconds, about 3 minutes."""
    if seconds < 90:
        return f"about {max(10, round(seconds, -1)):.0f} seconds"
    return f"about {seconds / 60:.0f} minutes"
