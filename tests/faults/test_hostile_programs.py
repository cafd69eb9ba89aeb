"""Programs that want a pass they have not earned, in every place where programs run.

Each has an examiner of its own, as the scorer starts it. Lost is what is worst here: a pass that
was forged, or a right program that failed.
"""

import json
import os
import platform
import shutil
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from textwrap import indent
from typing import Any, TypeVar

import anyio
import pytest
from inspect_ai.util import ExecResult

from tests.cases import cases
from tests.faults.record import FULL, Tried, amount, record
from tests.sandbox.escapes import FORGER
from tests.sandbox.hostile import QUIET_ENDS
from tests.sandbox.places import BOXES, CONTAINERS, run_in
from tiebreak.sandbox import command, order
from tiebreak.sandbox.box import Bubblewrap

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not shutil.which("bwrap") and "CI" not in os.environ, reason="needs bubblewrap"
    ),
]

PLACES = {"in a box": BOXES, "as in a container": CONTAINERS}
ERRORS = ("StopIteration", "StopAsyncIteration", "GeneratorExit", "IndexError", "KeyError")
# Programs, each with the lines of its `check(add)`.
TRICKS: dict[str, tuple[str, str]] = cases(__file__, "tricks")
RIGHT: dict[str, tuple[str, str]] = cases(__file__, "right")

K = TypeVar("K")


def order_of(program: str, tests: str) -> dict[str, Any]:
    """What an examiner is given: `tests` are the lines of its `check(add)`."""
    return order(program, "", f"def check(add):\n{indent(tests, '    ')}\n", "add")


def each(jobs: Mapping[K, Any], work: Callable[[Any], dict[str, Any]]) -> dict[K, dict[str, Any]]:
    with ThreadPoolExecutor(3) as threads:
        return dict(zip(jobs, threads.map(work, jobs.values()), strict=True))


def passes(verdict: Mapping[str, Any]) -> bool:
    """Whether it is a pass, or text that could be taken for a verdict where there is none."""
    return verdict.get("passed") is not False and verdict.get("said") != ""


def some(programs: dict[K, tuple[str, str]], number: int) -> dict[K, tuple[str, str]]:
    """So many of the programs, spread over all of them."""
    names = list(programs)
    step = max(1, len(names) // number)
    return {name: programs[name] for name in names[::step]}


def verdicts(
    programs: dict[str, tuple[str, str]], places: tuple[str, ...]
) -> dict[tuple[str, str], dict[str, Any]]:
    jobs = {
        (place, name): (place, order_of(*program))
        for place in places[: amount(1, len(places))]
        for name, program in programs.items()
    }
    return each(jobs, lambda job: run_in(*job))


@pytest.mark.parametrize("where", PLACES)
def test_no_trick_passes(where: str, request: pytest.FixtureRequest) -> None:
    tricks = some(TRICKS, amount(8, len(TRICKS)))
    tally = verdicts(tricks, PLACES[where])
    forged = [case for case, verdict in tally.items() if passes(verdict)]
    tried = Tried(f"trick of a program, {where}", len(tally), len(tally) - len(forged), len(forged))
    record(request, tried)
    assert forged == []


@pytest.mark.skipif(not FULL, reason="a part of it is in tests/inspect_tasks")
def test_no_error_ends_tests_quietly(request: pytest.FixtureRequest) -> None:
    tests = {name: whole for name, (_, whole) in QUIET_ENDS.items()}
    jobs = {
        (name, error): order(f"def add(a, b):\n    raise {error}('x')\n", "", tests[name], "add")
        for name in tests
        for error in ERRORS
    }
    tally = each(jobs, lambda given: run_in(BOXES[0], given))
    forged = [case for case, verdict in tally.items() if passes(verdict)]
    tried = Tried("error that ends a test", len(tally), len(tally) - len(forged), len(forged))
    record(request, tried)
    assert forged == []
    # These tests can be passed.
    right = {
        name: order("def add(a, b):\n    return a + b\n", "", test, "add")
        for name, test in tests.items()
    }
    passed = each(right, lambda given: run_in(BOXES[0], given))
    assert {name for name, verdict in passed.items() if verdict.get("passed") is True} == set(tests)


@pytest.mark.parametrize("where", PLACES)
def test_right_programs_of_any_shape_pass(where: str, request: pytest.FixtureRequest) -> None:
    shapes = some(RIGHT, amount(5, len(RIGHT)))
    tally = verdicts(shapes, PLACES[where])
    failed = {case: verdict for case, verdict in tally.items() if verdict.get("passed") is not True}
    tried = Tried(f"right program, {where}", len(tally), len(tally) - len(failed), len(failed))
    record(request, tried)
    assert failed == {}


@pytest.mark.skipif(platform.system() != "Linux", reason="looks into /proc")
@pytest.mark.parametrize("where", PLACES)
def test_machine_code_forges_nothing(where: str, request: pytest.FixtureRequest) -> None:
    befores = ("pass", "for end in ends: write(end)", "time.sleep(RANDOM)")
    jobs = {
        (place, before, turn): (
            place,
            order_of("", cases(__file__, "equal")),
            "import time\n" + FORGER.replace("BEFORE", before).replace("RANDOM", str(turn / 1000)),
        )
        for place in PLACES[where][: amount(1, 2)]
        for before in befores[: amount(1, 3)]
        for turn in range(amount(1, 40))
    }
    tally = each(jobs, lambda job: run_in(*job))
    forged = [
        case for case, verdict in tally.items() if verdict.get("passed") or verdict.get("said")
    ]
    tried = Tried(f"machine code, {where}", len(tally), len(tally) - len(forged), len(forged))
    record(request, tried)
    assert forged == []


def test_no_trick_passes_in_inspects_sandbox(request: pytest.FixtureRequest) -> None:
    """As a task's scorer starts them: by the sandbox `bubblewrap`, a folder for each."""
    programs = {("trick", name): trick for name, trick in TRICKS.items()}
    programs |= {("right", name): shape for name, shape in RIGHT.items()}
    jobs = {
        case: order_of(*program)
        for case, program in some(programs, amount(12, len(programs))).items()
    }

    def run(given: dict[str, Any]) -> dict[str, Any]:
        async def verdict_on() -> ExecResult[str]:
            sandbox = Bubblewrap()
            try:
                line = command()
                return await sandbox.exec(
                    line, input=json.dumps(given), timeout=60, concurrency=False
                )
            finally:
                await Bubblewrap.sample_cleanup("", None, {"default": sandbox}, False)

        done = anyio.run(verdict_on)
        verdict = json.loads(done.stdout) if done.success else {"said": done.stdout}
        if "nonce" in verdict:
            assert verdict["nonce"] == given["nonce"]
        return verdict

    tally = each(jobs, run)
    forged = [case for case in tally if case[0] == "trick" and passes(tally[case])]
    failed = [case for case in tally if case[0] == "right" and not tally[case].get("passed")]
    lost = len(forged) + len(failed)
    record(request, Tried("program, in Inspect's sandbox", len(tally), len(tally) - lost, lost))
    assert (forged, failed) == ([], [])
