"""Model-written code: what is run, what is not, and that nothing happens to the machine."""

import gc
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tiebreak.inspect_tasks.run_code import complete_program, parse_program, refusal, run_tests

PROMPT = 'from typing import List\n\ndef add(a: int, b: int) -> int:\n    """Add."""\n'
TEST = "def check(candidate):\n    assert candidate(1, 2) == 3\n    assert candidate(0, 0) == 0\n"


def run(answer: str) -> tuple[bool, str]:
    return run_tests(answer, prompt=PROMPT, test=TEST, entry_point="add")


@pytest.mark.parametrize(
    "answer",
    [
        "    return a + b\n",
        "```python\ndef add(a, b):\n    return a + b\n```\nThis adds them.",
        "```\ndef add(a: List[int], b):\n    return a + b",
        "Here it is:\n\ndef add(a, b):\n    return a + b\nprint(add(1, 2))\nThis adds them.",
        "import math\n\ndef add(a, b):\n    return int(math.fsum([a, b]))\n\nadd(1, 'cut off",
        "    from collections import Counter\n    print('adding')\n    return a + b",
    ],
)
def test_right_answers_in_many_forms(answer: str) -> None:
    assert run(answer) == (True, "")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("    return a - b", "failed: AssertionError"),
        ("    return a / 0", "failed: ZeroDivisionError"),
        ("    return add(a, b)", "failed: RecursionError"),
        ("    raise SystemExit(0)", "failed: NameError"),
        ("I do not know.", "not run: no complete function add"),
        ("def other(a, b):\n    return a + b", "failed: AssertionError"),
    ],
)
def test_wrong_answers(answer: str, why: str) -> None:
    passed, reason = run(answer)
    assert not passed
    assert reason.startswith(why)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("    import os\n    return os.getpid()", "it imports os"),
        ("    import subprocess", "it imports subprocess"),
        ("    from os import system\n    return 3", "it imports os"),
        ("    import math, sys\n    return 3", "it imports sys"),
        ("    from . import x\n    return 3", "it imports ."),
        ("    from typing import _sys\n    return 3", "it imports _sys"),
        ("    return open('/etc/passwd')", "it uses open"),
        ("    return eval('a + b')", "it uses eval"),
        ("    exec('import os')\n    return 3", "it uses exec"),
        ("    return __import__('os')", "it uses __import__"),
        ("    return getattr(a, 'real')", "it uses getattr"),
        ("    return globals()", "it uses globals"),
        ("    return input()", "it uses input"),
        ("    return ().__class__", "it uses the attribute __class__"),
        ("    return (x for x in ()).gi_frame", "it uses the attribute gi_frame"),
        ("    return '{0.__class__}'.format(a)", "it holds a text with two underscores"),
        ("    class A:\n        pass\n    return 3", "it holds a ClassDef"),
    ],
)
def test_what_is_not_run_at_all(answer: str, why: str) -> None:
    assert run(answer) == (False, f"not run: {why}")


@pytest.mark.parametrize(
    "answer",
    [
        "    import typing\n    return typing.sys",
        "    from re import enum\n    return 3",
        "    import string\n    return string.Formatter",
        "    from typing import get_type_hints\n    return 3",
    ],
)
def test_modules_hold_no_way_back_to_the_interpreter(answer: str) -> None:
    passed, reason = run(answer)
    assert not passed
    assert reason.startswith(("failed: ImportError", "failed: AttributeError"))


@pytest.mark.parametrize(
    "answer",
    [
        "    x = [0] * 10**10\n    return 3",
        "    x = []\n    while True:\n        x.append('a' * 10**7)",
        "    return len(str(10 ** (10 ** 8)))",
        "    while True:\n        pass",
        "    import re\n    return re.match('(a+)+b', 'a' * 50)",
    ],
)
def test_bombs_and_endless_loops_end(answer: str) -> None:
    began = time.monotonic()
    passed, reason = run(answer)
    assert not passed
    assert reason
    assert time.monotonic() - began < 30


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    target = tmp_path / "written"
    for answer in (
        f"    open({str(target)!r}, 'w')\n    return 3",
        f"    import os\n    os.system('touch {target}')\n    os.fork()\n    return 3",
        "    return a + b",
    ):
        run(answer)
    assert os.listdir(tmp_path) == []  # noqa: PTH208


def test_tests_may_use_what_the_answer_may_not() -> None:
    test = "import random\n\ndef check(candidate):\n    assert candidate(1, 2) == 3\n"
    answer = "    return a + b"
    assert run_tests(answer, prompt=PROMPT, test=test, entry_point="add").passed


def test_helpers_of_the_prompt_are_kept() -> None:
    prompt = "def one():\n    return 1\n\n\ndef two():\n"
    program = complete_program("def two():\n    return one() + 1", prompt, "two")
    assert program == "def one():\n    return 1\n\ndef two():\n    return one() + 1"


def test_programs_that_cannot_be_judged_are_refused() -> None:
    assert refusal("x = (") == "the program does not parse"
    assert refusal("x = 1\n" * 20_000) == "the program is too long"


def test_programs_are_parsed_one_at_a_time() -> None:
    """The garbage collector may let other threads run in the middle of a parse."""

    def let_others_run(phase: str, info: object) -> None:
        time.sleep(0.0005)

    program = "def f(x):\n    return " + "(" * 20 + "x" + "+1)" * 20 + "\n"
    before = gc.get_threshold()
    gc.callbacks.append(let_others_run)
    gc.set_threshold(20, 2, 2)
    try:
        with ThreadPoolExecutor(4) as threads:
            parsed = list(threads.map(parse_program, [program] * 16))
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(let_others_run)
    assert len(parsed) == 16
