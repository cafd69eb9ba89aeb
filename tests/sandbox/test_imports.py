"""Right programs pass whatever they import of the standard library; what is not there is named."""

import json
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from tests.cases import cases
from tests.sandbox.places import run_in
from tests.sandbox.test_run_tests import PASSED, at_once
from tiebreak.benchmarks.program import complete_program
from tiebreak.inspect_tasks import generate
from tiebreak.sandbox import order

ITEMS = [
    json.loads(line)
    for line in (Path(generate.__file__).parent / "items" / "humaneval.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
USES = cases(__file__, "uses")
MISSING = cases(__file__, "missing")
# What an answer begins with, and lines of its function before those that solve the item.
WRITTEN: dict[str, tuple[str, list[str]]] = {
    **{f"{module}, used": (f"import {module}", uses) for module, uses in USES.items()},
    **{f"{module}, inside": ("", [f"import {module}"]) for module in USES},
    **{line: (line, [use]) for line, use in cases(__file__, "from").items()},
}
LEAST_SHARE = 0.99


def run(head: str, lines: list[str], item: dict[str, str]) -> dict[str, Any]:
    """The verdict on an answer that solves an item, and does something else before."""
    inside = "".join(indent(f"{line}\n", "    ") for line in lines)
    answer = f"```python\n{head}\n\n{item['prompt']}{inside}{item['canonical_solution']}```"
    program = complete_program(answer, item["prompt"], item["entry_point"])
    assert program is not None
    return run_in("here", order(program, item["prompt"], item["test"], item["entry_point"]))


@pytest.mark.slow
def test_right_programs_pass_whatever_they_import() -> None:
    jobs = {
        name: (*written, ITEMS[number % len(ITEMS)])
        for number, (name, written) in enumerate(WRITTEN.items())
    }
    verdicts = at_once(jobs, lambda job: run(*job))
    wrong = {name: verdict for name, verdict in verdicts.items() if verdict != PASSED}
    assert len(wrong) <= (1 - LEAST_SHARE) * len(verdicts), wrong


@pytest.mark.slow
def test_what_is_not_there_is_named() -> None:
    jobs = {name: ("", [line], ITEMS[0]) for name, (line, _) in MISSING.items()}
    for name, verdict in at_once(jobs, lambda job: run(*job)).items():
        assert verdict["passed"] is False, name
        assert verdict["why"].startswith("not there: "), (name, verdict)
        assert MISSING[name][1] in verdict["why"], (name, verdict)


@pytest.mark.parametrize("error", ["ValueError", "OSError", "Exception", "ImportError"])
def test_tests_that_expect_an_error_get_none_for_what_is_not_there(error: str) -> None:
    """A refusal is of types that tests may name, and yet says nothing about the program."""
    test = f"def check(add):\n    try: add(1, 2)\n    except {error}: return\n    assert False\n"
    item = {**ITEMS[0], "test": test}
    for line, name in MISSING["a file"], MISSING["numpy"]:
        verdict = run("", [line], item)
        assert verdict["passed"] is False
        assert name in verdict["why"]
