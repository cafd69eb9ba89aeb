"""Names that a log brings may hold anything: displays show them, and they do nothing there."""

import csv
import io
import json
import re
from pathlib import Path

import pytest

from tests.candidates.builders import make_rows, write_inspect_log
from tests.cases import cases
from tests.faults.record import FULL, Tried, amount, record
from tests.harness import run_here, run_on_terminal
from tests.inspect_tasks.runs import ballots_of, logs_in
from tests.ranking_logs.builders import graded, write_log

pytestmark = pytest.mark.slow

# What a model is called, and how a display shows that.
NAMES = {
    "[red]x[/red][/]": "[red]x[/red][/]",
    "esc\x1b[31mred\x1b]0;title\x07": r"esc\x1b[31mred\x1b]0;title\x07",
    "two\nlines\r": r"two\nlines\r",
    "bidi\u202e\u2066": r"bidi\u202e\u2066",
    "c1\x9b31m\x00": r"c1\x9b31m\x00",
    "[link=http://evil.example]l[/link]": "[link=http://evil.example]l[/link]",
    "back\\[b]slash": "back\\[b]slash",
    "n" * 300: "n" * 60,
}
STEERING = ("\x1b[31m", "\x1b]0;", "\x9b", "\u202e", "\u2066", "\x00", "]8;")
DISPLAYS = ("rich", "full", "plain") if FULL else ("rich",)
TASKS = ("round_robin", "seal", "stars", "listwise") if FULL else ("round_robin",)
VERBS = cases(__file__, "verbs")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of models with such names, one of a strange item, and a board of the models."""
    folder = tmp_path_factory.mktemp("names")
    for number, name in enumerate(NAMES):
        rows = make_rows(2, answer=f"It is {{i}}. quality={number + 1}")
        write_inspect_log(folder / "logs" / f"{number}.eval", name, rows, task="gsm8k")
    other = [{"id": "q\x1b[31m", "question": "Another?", "answer": "1", "native": 1.0}]
    write_inspect_log(folder / "strange" / "x.eval", "x\x1b[31m", other, task="gsm8k")
    points = {name: number / 10 for number, name in enumerate(NAMES)}
    write_log(folder / "board" / "x.eval", [graded(f"q{i}", points) for i in range(3)])
    return folder


def bare(written: str) -> str:
    """What was written, without what moves the cursor and without blanks."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\s", "", written)


def test_a_run_ends_well_and_shows_them(folder: Path, request: pytest.FixtureRequest) -> None:
    tried = 0
    for display in DISPLAYS:
        for task in TASKS:
            out = f"out-{display}-{task}"
            written, code = run_on_terminal(
                *("inspect", "eval", f"tiebreak/{task}", "-T", "candidates=logs"),
                *("--model-role", "judge=planted/x", "--log-dir", out),
                cwd=folder,
                INSPECT_DISPLAY=display,
                COLUMNS="180",
            )
            assert code == 0, written
            assert not [mark for mark in STEERING if mark in written], (display, task)
            seen = bare(written)
            # A long name loses its middle; the models differ in either half of it.
            begins = (f"stderr:{name[:15]}" for name in NAMES.values())
            assert [name for name in begins if name not in seen] == [], display
            [log] = logs_in(folder / out)
            assert log.status == "success"
            # In the log they are what they are.
            assert all(set(item.models) == set(NAMES) for item in ballots_of(log).values())
            for sample in log.samples or []:
                [score] = (sample.scores or {}).values()
                assert isinstance(score.value, dict)
                assert set(score.value) == set(NAMES)
            tried += 1
    record(request, Tried("names that steer, inspect eval", tried * len(NAMES), tried * len(NAMES)))


def test_no_verb_lets_them_steer(folder: Path, request: pytest.FixtureRequest) -> None:
    verbs = VERBS[: amount(1, len(VERBS))]
    for verb in verbs:
        written, _ = run_on_terminal("tiebreak", *verb, cwd=folder)
        assert not [mark for mark in STEERING if mark in written], verb
        assert "Traceback" not in written, verb
    record(request, Tried("names that steer, tiebreak on a terminal", len(verbs), len(verbs)))


def test_in_data_they_stay_as_they_are(folder: Path) -> None:
    [board] = json.loads(run_here("tiebreak", "rank", "board", "--json", cwd=folder))[
        "leaderboards"
    ]
    assert {row["model"] for row in board["rows"]} == set(NAMES)
    rows = csv.DictReader(io.StringIO(run_here("tiebreak", "rank", "board", "--csv", cwd=folder)))
    assert {row["model"] for row in rows} == set(NAMES)


def test_csv_on_a_terminal_is_a_line_for_each_model(folder: Path) -> None:
    written, code = run_on_terminal("tiebreak", "rank", "board", "--csv", cwd=folder)
    assert code == 0
    # What the bar does to the cursor goes to the same screen.
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written).replace("\r\n", "\n").splitlines()
    assert not [mark for mark in STEERING if mark in written]
    rows = list(csv.DictReader(lines[next(k for k, line in enumerate(lines) if "," in line) :]))
    assert len(rows) == len(NAMES)
    assert {r"two\nlines\r", r"esc\x1b[31mred\x1b]0;title\x07"} <= {row["model"] for row in rows}
