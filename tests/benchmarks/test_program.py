"""From an answer to a program: the many forms in which models write one."""

import ast
import gc
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import cases, some
from tiebreak.benchmarks.program import (
    LONGEST_SOURCE,
    complete_program,
    parse_program,
    without_docstrings,
)

PROMPT = 'from typing import List\n\n\ndef add(a: int, b: int) -> int:\n    """Add."""\n'
WHOLE = "def add(a, b):\n    return a + b\n"
BODY = "    return a + b\n"
PIECES = ["```", "```py", "def add(a, b):", "    return a", "  x", "(", "'''", "@", "x = 1", "\0"]


def sums(answer: str, prompt: str = PROMPT) -> tuple[Any, ...] | None:
    """What the function of an answer says of (1, 2) and (0, 0); None when there is no program."""
    program = complete_program(answer, prompt, "add")
    if program is None:
        return None
    scope: dict[str, Any] = {"__name__": "program"}
    exec(program, scope)
    return scope["add"](1, 2), scope["add"](0, 0)


RIGHT: dict[str, str] = cases(__file__, "right") | {
    "whole, then one that repeats itself": (
        f"{WHOLE}def sub(a, b):\n    try:\n" + "        a = a + b\n" * 100
    ),
    "whole, then much that does not parse": WHOLE + "x = (\n" * 100,
}
HUGE = {"NINES": "9" * 5000, "BRACKETS": "(" * 1000}


@pytest.mark.parametrize("form", RIGHT)
def test_right_answers_in_many_forms(form: str) -> None:
    assert sums(RIGHT[form]) == (3, 0)


@pytest.mark.parametrize(
    "form", ["tests of its own", "main that fails", "loop of asserts", "imports for examples"]
)
def test_what_only_tries_the_function_is_left_out(form: str) -> None:
    program = some(complete_program(RIGHT[form], PROMPT, "add"))
    assert not any(word in program for word in ("unittest", "nowhere", "main", "assert"))


@pytest.mark.parametrize("form", cases(__file__, "none"))
def test_no_program_where_there_is_none(form: str) -> None:
    answer = cases(__file__, "none")[form]
    for name, text in HUGE.items():
        answer = answer.replace(name, text)
    assert complete_program(answer, PROMPT, "add") is None


@pytest.mark.parametrize("case", cases(__file__, "kept"))
def test_the_text_of_a_program_stays_as_it_was_written(case: dict[str, str]) -> None:
    """Helpers of the prompt come first, the function's own beginning comes from the answer."""
    prompt = 'def one():\n    return 1\n\n\ndef two():\n    """2"""\n'
    assert complete_program(case["answer"], prompt, "two") == case["program"]


@pytest.mark.parametrize("prompt", cases(__file__, "prompts"))
def test_prompts_of_many_forms(prompt: str) -> None:
    for answer in (BODY, WHOLE, f"{prompt.rstrip()}\n{BODY}"):
        assert sums(answer, prompt) == (3, 0)


def test_async_functions_and_classes_are_definitions() -> None:
    found = some(complete_program("async def add(a, b):\n    return a + b\nx()", PROMPT, "add"))
    assert found.endswith("async def add(a, b):\n    return a + b\n")
    assert complete_program("class add:\n    pass\nx()", "", "add") == "class add:\n    pass\n"


@pytest.mark.slow
@settings(max_examples=200)
@given(
    st.text(st.characters(exclude_categories=())) | st.lists(st.sampled_from(PIECES)).map("\n".join)
)
def test_whatever_is_found_defines_the_function(answer: str) -> None:
    program = complete_program(answer, PROMPT, "add")
    if program is not None:
        names = {getattr(node, "name", "add") for node in ast.parse(program).body}
        assert "add" in names


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer",
    [
        "x\n" * 250_000,
        "import a\n" * 100_000 + "(\n",
        "```\ndef add(:\n```\n" * 20_000,
        "import a\n$\n" * 1_000 + WHOLE,
        "`" * 1_000_000,
        " " * 1_000_000,
        "'''\n" * 100_000,
        WHOLE + "x = (\n" * 100_000,
        # Models that loop, and never close what they opened.
        "```python\ndef add(a, b):\n    try:\n" + "        a=a+1\n" * 3_500,
        ("```\ndef add(a, b):\n    try:\n" + "      a+1\n" * 220 + "```\n") * 20,
        "x = 1 $\n" * 6_000 + WHOLE,
        "add=a0\n" + "".join(f"a{n}=a{n + 1}\n" for n in range(4_000)),
        "@add\n" * 10_000,
    ],
    ids=range(13),
)
def test_giant_answers_take_no_time(answer: str) -> None:
    began = time.process_time()
    complete_program(answer, PROMPT, "add")
    assert time.process_time() - began < 5


@pytest.mark.slow
def test_answers_of_very_many_broken_pieces_are_given_up() -> None:
    assert sums("x = 1 $\n" * 100 + WHOLE) == (3, 0)
    assert sums("x = 1 $\n" * 6_000 + WHOLE) is None


def test_what_is_beyond_the_longest_source_is_cut_off() -> None:
    room = LONGEST_SOURCE - len(WHOLE)
    assert sums("#" * (room - 2) + "\n" + WHOLE) == (3, 0)
    assert sums("#" * (room + 2) + "\n" + WHOLE) is None


def test_docstrings_go_and_code_stays() -> None:
    program = 'import math\n\ndef f(x):\n    """Say\n    much.\n    """\n    # note\n    return x\n'
    assert without_docstrings(program) == "import math\n\ndef f(x):\n    # note\n    return x"
    assert without_docstrings("def f(:") == "def f(:"
    assert without_docstrings('def f(x):\n    """Only this."""') == "def f(x):"
    assert without_docstrings('def f(x): """Here."""; return x') == (
        'def f(x): """Here."""; return x'
    )
    assert without_docstrings('def f(x):\n    import os\n    """Late."""\n') == (
        "def f(x):\n    import os"
    )
    assert without_docstrings('class A:\n    """A."""\n    x = """kept"""') == (
        'class A:\n    x = """kept"""'
    )


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
