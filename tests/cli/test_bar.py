"""The bar: on a terminal, with counts, once a command takes long; nowhere else, and nothing stays.

The command's standard error is a terminal of its own (a pty), its standard output a pipe.
"""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

WORK = """
import sys, time
import click
from tiebreak.cli import _bar
from tiebreak.cli._shared import plain_errors
from tiebreak.progress import doing, tracked

@click.command()
@click.argument("seconds", type=float)
@click.argument("after", type=float)
def work(seconds, after):
    _bar._AFTER = after
    with plain_errors(), plain_errors():
        for part in tracked([1, 2, 3], "reading [red]logs"):
            time.sleep(seconds / 3)
            click.echo(f"part {part}")

work()
"""
HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"


def on_a_terminal(*command: str, env: dict[str, str] | None = None) -> tuple[str, str]:
    """Standard output, and what the terminal got."""
    ours, theirs = pty.openpty()
    more = {"COLUMNS": "80", "TERM": "xterm", **(env or {})}
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=theirs, env={**os.environ, **more}
    )
    os.close(theirs)
    screen = b""
    while True:
        try:
            read = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not read:
            break
        screen += read
    os.close(ours)
    assert child.stdout is not None
    with child.stdout as out:
        text = out.read().decode()
    assert child.wait() == 0
    return text, screen.decode()


def piped(*command: str) -> tuple[str, str]:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


@pytest.mark.slow
def test_a_bar_with_counts_and_nothing_of_it_stays() -> None:
    command = (sys.executable, "-c", WORK, "3", "0.01")
    text, screen = on_a_terminal(*command)
    assert text == "part 1\npart 2\npart 3\n"
    assert "reading [red]logs" in screen
    assert re.search(r"[12] of 3", screen)
    # The cursor is there again, and the line of the bar is empty.
    assert screen.count(HIDE) == screen.count(SHOW) == 1
    assert screen.rstrip().endswith("\x1b[2K")
    assert piped(*command) == (text, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("after", "env"),
    [("1000", {}), ("0", {"TERM": "dumb"}), ("0", {"JPY_PARENT_PID": "1"})],
    ids=["quick", "dumb", "notebook"],
)
def test_no_bar_flashes_and_none_where_it_cannot_be_taken_back(
    after: str, env: dict[str, str]
) -> None:
    text, screen = on_a_terminal(sys.executable, "-c", WORK, "0.3", after, env=env)
    assert (text.count("part"), screen) == (3, "")


@pytest.mark.slow
def test_a_verb_prints_the_same_with_a_terminal_and_without(tmp_path: Path) -> None:
    scores = tmp_path / "scores.csv"
    scores.write_text("model,maths,code,law\nx,9,8,7\ny,8,9,6\nz,1,2,3\n")
    # However quick it is, here it has taken long.
    code = "from tiebreak.cli import _bar, verbs; _bar._AFTER = 0.0; verbs.main()"
    asked = ("csd", str(scores), "--iterations", "300000", "--jobs", "1")
    command = (sys.executable, "-c", code, *asked)
    text, screen = on_a_terminal(*command)
    assert "playing contests" in screen
    assert re.search(r"\d of \d", screen)
    assert piped(*command) == (text, "")
