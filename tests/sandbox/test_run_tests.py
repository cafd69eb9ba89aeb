"""What runs in a sandbox: right programs pass, wrong and hostile ones fail, nothing is harmed.

The runner is started as the scorer starts it, but without a sandbox around it.
"""

import io
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from tests.cases import cases
from tests.sandbox.hostile import ACTIONS, ENDINGS, PROCESSES, QUIET_ENDS, REPLIES
from tests.sandbox.places import CONTAINERS, run_in
from tiebreak.sandbox import order
from tiebreak.sandbox.run_tests import Candidate, ProgramEnded

TEST = "def check(add):\n    assert add(1, 2) == 3\n    assert add(0, 0) == 0\n"
LIMITS: dict[str, Any] = {"cpu_seconds": 1, "wall_seconds": 5, "memory_bytes": 256 * 1024 * 1024}
PASSED = {"passed": True, "why": ""}


def run(program: str, test: str = TEST, prompt: str = "", **limits: Any) -> dict[str, Any]:
    """The verdict on a program, in the box that this machine has for it."""
    return run_in("here", order(program, prompt, test, "add", **limits))


def at_once(jobs: dict[str, Any], work: Any) -> dict[str, Any]:
    """What some work says of every job; most of the time they wait."""
    with ThreadPoolExecutor(4) as threads:
        return dict(zip(jobs, threads.map(work, jobs.values()), strict=True))


HONEST: dict[str, str] = cases(__file__, "honest")


@pytest.fixture(scope="module")
def honest() -> dict[str, dict[str, Any]]:
    return at_once(HONEST, run)


@pytest.mark.slow
@pytest.mark.parametrize("name", HONEST)
def test_honest_programs_pass(name: str, honest: dict[str, dict[str, Any]]) -> None:
    assert honest[name] == PASSED


TESTS: dict[str, str] = cases(__file__, "tests")


@pytest.mark.parametrize("name", TESTS)
def test_tests_may(name: str) -> None:
    prompt = "def one():\n    return 1\n\ndef add(a, b):\n"
    program = "def add(a, b):\n    return a + b\n"
    assert run(program, TESTS[name], prompt) == PASSED


def test_a_test_that_catches_everything_hides_no_exit() -> None:
    test = "def check(add):\n    try:\n        add(1, 2)\n    except:\n        pass\n"
    verdict = run("def add(a, b):\n    raise SystemExit\n", test)
    assert verdict == {"passed": False, "why": "stopped: it raised SystemExit"}


@pytest.mark.parametrize(
    ("handler", "why"),
    [("", "failed: Slow: slow"), ("except BaseException: time.sleep(1)", "stopped: it ran")],
)
def test_the_clock_runs_out_while_an_error_is_looked_at(handler: str, why: str) -> None:
    test = (
        "import time\nclass Slow(Exception):\n    def __str__(self):\n        time.sleep(2)\n"
        "        return 'slow'\ndef check(add):\n"
    )
    test += f"    try: time.sleep(5)\n    {handler}\n" if handler else "    raise Slow\n"
    verdict = run("def add(a, b):\n    return 3\n", test, wall_seconds=1)
    assert verdict["passed"] is False
    assert verdict["why"].startswith(why)


@pytest.mark.slow
def test_an_error_that_cannot_be_shown_is_a_failure() -> None:
    verdict = run(
        "def add(a, b):\n    return 10**5000\n", "def check(add): raise ValueError(add())"
    )
    assert verdict["passed"] is False
    verdict = run("", "def check(add):\n    raise KeyError(10**5000)\n")
    assert verdict["why"].startswith("failed: KeyError")


@pytest.mark.slow
def test_sets_have_the_same_order_in_every_run() -> None:
    """Or a verdict may be another one tomorrow."""
    program = "def add(a, b):\n    return list(set('abcdefghijklmnop'))\n"
    orders = [run(program, "def check(add):\n    raise ValueError(add(1, 2))") for _ in range(3)]
    assert orders[0] == orders[1] == orders[2]


@pytest.mark.skipif(not CONTAINERS, reason="needs root, and a Python")
def test_root_becomes_nobody() -> None:
    """So that limits on processes bind, and files of root are out of reach."""
    program = "import os\ndef add(a, b):\n    return os.getuid()\n"
    given = order(program, "", "def check(add):\n    assert add(0, 0) == 65534", "add")
    assert run_in("container of root", given) == PASSED


# Every action in a scope of its own; the program answers with the names of those that failed.
ATTACK = """\
import io, os, queue, sys
CANARY, NEW, ACTIONS = {canary!r}, {new!r}, {actions}
def add(a, b):
    failed = []
    for name, action in ACTIONS.items():
        try:
            exec(action, dict(globals()))
        except BaseException:
            failed.append(name)
    return failed
"""


@pytest.mark.slow
def test_nothing_outside_is_reached(tmp_path: Path) -> None:
    canary, new = tmp_path / "canary", tmp_path / "new"
    canary.write_text("alive")
    victim = subprocess.Popen(["sleep", "600"])
    actions = repr(ACTIONS).replace("VICTIM", str(victim.pid))
    program = ATTACK.format(canary=str(canary), new=str(new), actions=actions)
    test = (
        f"def check(add):\n    left = sorted(set({list(ACTIONS)}) - set(add(0, 0)))\n"
        "    assert not left, left\n"
    )
    try:
        assert run(program, test) == PASSED
        assert [path.name for path in tmp_path.iterdir()] == ["canary"]
        assert (canary.read_text(), canary.stat().st_mode & 0o200) == ("alive", 0o200)
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.wait()


@pytest.fixture(scope="module")
def endings() -> dict[str, dict[str, Any]]:
    programs = {
        name: f"def add(a, b):\n{indent(body, '    ')}\n" for name, (body, _) in ENDINGS.items()
    }
    return at_once(programs, lambda program: run(program, TEST, "", **LIMITS))


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDINGS)
def test_hostile_and_wrong_programs_fail(name: str, endings: dict[str, dict[str, Any]]) -> None:
    verdict = endings[name]
    assert verdict["passed"] is False
    assert verdict["why"].startswith(ENDINGS[name][1] or ("stopped: ", "failed: "))
    assert len(verdict["why"]) < 400


@pytest.fixture(scope="module")
def quiet_ends() -> dict[str, dict[str, Any]]:
    jobs = {
        name: (f"def add(a, b):\n    raise {error}('x')\n", tests)
        for name, (error, tests) in QUIET_ENDS.items()
    }
    return at_once(jobs, lambda job: run(*job))


@pytest.mark.slow
@pytest.mark.parametrize("name", QUIET_ENDS)
def test_no_error_of_a_program_ends_its_tests_quietly(
    name: str, quiet_ends: dict[str, dict[str, Any]]
) -> None:
    assert quiet_ends[name]["passed"] is False
    assert QUIET_ENDS[name][0] in quiet_ends[name]["why"]


@pytest.mark.parametrize("name", REPLIES)
def test_no_reply_is_an_answer_but_an_answer(name: str) -> None:
    candidate = Candidate(io.BytesIO(), io.BytesIO(REPLIES[name]), TEST)
    with pytest.raises(ProgramEnded):
        candidate(1, 2)
    assert candidate.ended


def test_who_has_ended_gives_no_more_answers() -> None:
    stdout = io.BytesIO(b'[3, [], ""]\n')
    candidate = Candidate(io.BytesIO(), stdout, TEST)
    candidate.ended = "it ran too long"
    with pytest.raises(ProgramEnded, match="it ran too long"):
        candidate(1, 2)
    assert stdout.tell() == 0


@pytest.mark.slow
def test_an_endless_loop_is_stopped_by_its_cpu_time() -> None:
    verdict = run("def add(a, b):\n    while True: pass\n", cpu_seconds=1, wall_seconds=30)
    assert verdict == {"passed": False, "why": "stopped: it used more than 1 s of CPU time"}


TAKEN_OVER = """\
import os, sys, time
def out(data):
    os.write(1, data)
def ready():
    sys.stdin.readline()
    out(b'"ready"\\n')
def main():
    {}
"""


def taken_over(body: str) -> dict[str, Any]:
    """The verdict on a candidate whose process is the attacker's from the start."""
    given = order("", "", TEST, "add", **LIMITS)
    return run_in("here", given, TAKEN_OVER.format(body))


@pytest.mark.slow
def test_a_process_that_is_lost_forges_no_verdict() -> None:
    verdicts = at_once({name: body for name, (body, _) in PROCESSES.items()}, taken_over)
    for name, (_, whys) in PROCESSES.items():
        assert verdicts[name]["passed"] is False
        assert verdicts[name]["why"].startswith(tuple(whys))


def test_a_right_reply_passes() -> None:
    """The attacks fail for what they write, not for the way they write it."""
    body = r"ready(); out(b'[0, [], 0]\n[3, [], 0]\n[0, [], 0]\n'); time.sleep(60)"
    assert taken_over(body) == PASSED


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("pass", "the process did not start: its process ended (0)"),
        (r"""out(b'"no limits"\n')""", "no limits"),
        ("raise SystemExit(3)", "the process did not start: its process ended (3)"),
    ],
)
def test_a_machine_that_runs_no_program_is_no_fault_of_the_program(body: str, why: str) -> None:
    assert taken_over(body) == {"error": why}
