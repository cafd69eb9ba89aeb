"""What the demo says while it works."""

import itertools
import re
import subprocess
import sys
import time

import pytest

from tiebreak.demo.run import about, counted, watched


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "about 10 seconds"),
        (44, "about 40 seconds"),
        (89, "about 90 seconds"),
        (91, "about 2 minutes"),
        (200, "about 3 minutes"),
    ],
)
def test_times_are_round(seconds: float, said: str) -> None:
    assert about(seconds) == said


def test_without_a_terminal_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ticks = itertools.count(0, 10)  # seconds
    monkeypatch.setattr(time, "monotonic", lambda: next(ticks))
    with counted("answers", 100) as show:
        for done in (1, 2, 9, 10, 50, 60):
            show(done)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "  … 2 of 100 answers",
        "  … 10 of 100 answers, about 6 minutes left",
        "  … 60 of 100 answers, about 40 seconds left",
    ]


def test_on_a_terminal_a_bar_with_counts_and_the_time_that_is_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with counted("items judged", 40) as show:
        show(3)
        time.sleep(0.15)
    out, err = capsys.readouterr()
    assert out == ""
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", err)
    assert re.search(r" 3/40 items judged [-\d]:[-\d]{2}:[-\d]{2}", plain)


@pytest.mark.slow
def test_a_childs_count_is_shown_and_its_output_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    program = (
        "print('judge_items  | Steps:  16/40  40% | Samples:  16/ 40 | spread: 0.12', flush=True)\n"
        "input(); print('the end'); raise SystemExit(3)"
    )
    shown: list[int] = []
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as child:

        def show(done: int) -> None:
            shown.append(done)
            if done and child.stdin:
                child.stdin.write("\n")
                child.stdin.flush()

        status, printed = watched(child, show)
    assert status == 3
    assert printed.splitlines()[1:] == ["the end"]
    assert shown
    assert shown[-1] == 16
