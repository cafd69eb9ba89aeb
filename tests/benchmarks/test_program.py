"""From an answer to a program: the many forms in which models write one."""

import ast
import gc
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak.benchmarks.program import (
    LONGEST_SOURCE,
    complete_program,
    parse_program,
    without_docstrings,
)

PROMPT = 'from typing import List\n\n\ndef add(a: int, b: int) -> int:\n    """Add."""\n'
WHOLE = "def add(a, b):\n    return a + b\n"
BODY = "    return a + b\n"
ONCE = "def add(a, b):\n    return (a + b) * "


def sums(answer: str, prompt: str = PROMPT) -> tuple[Any, ...] | None:
    """What the function of an answer says of (1, 2) and (0, 0); None when there is no program."""
    program = complete_program(answer, prompt, "add")
    if program is None:
        return None
    scope: dict[str, Any] = {"__name__": "program"}
    exec(program, scope)
    return scope["add"](1, 2), scope["add"](0, 0)


RIGHT = {
    "body": BODY,
    "body without its first blanks": "return a + b",
    "body of more lines without its first blanks": "c = a\n    if b:\n        c += b\n    return c",
    "body without any indentation": "c = a\nif b:\n    c += b\nreturn c",
    "body, then prose": f"{BODY}\nThis adds them.",
    "body without blanks, then prose": "return a + b\n\nThis adds them.",
    "body, then another function that is cut off": f"{BODY}\n\ndef sub(a, b):\n    return (a -",
    "body, then examples": f"{BODY}\nprint(add(1, 2))\nassert add(0, 0) == 0\nx = add('cut off",
    "body with imports": "    import math\n    return int(math.fsum([a, b]))",
    "body in a block": f"The body:\n```python\n{BODY}```\nand use it:\n```python\nadd(1, 2)\n```",
    "body, block closed": f"{BODY}```\nThis works. Example:\n```python\nprint(add(1, 2))\n```",
    "body in a block, not indented": "```\nc = a\nreturn c + b\n```",
    "whole": WHOLE,
    "whole with the prompt's docstring": f"{PROMPT}{BODY}",
    "prose around it": f"Here it is:\n\n{WHOLE}\nThis adds (see above) them; it's easy.",
    "prose behind it, indented a little": f"{WHOLE}\n  * It adds them.",
    "block": f"```python\n{WHOLE}```",
    "block of another name": f"Sure!\n```Python3 title=add.py\n{WHOLE}```\nDone.",
    "block of tildes": f"~~~python\n{WHOLE}~~~",
    "block without an end": f"Here:\n```python\n{WHOLE}",
    "block that is closed only": f"{WHOLE}```\nThis adds them.",
    "block inside of a list": "1. So:\n\n   ```py\n   def add(a, b):\n       return a + b\n   ```",
    "draft first": f"```python\ndef add(a, b):\n    return a - b\n```\nNo:\n```python\n{WHOLE}```",
    "examples last": f"```python\n{WHOLE}```\nUse:\n```python\nfrom m import add\nadd(1, 2)\n```",
    "output last": f"```python\n{WHOLE}```\nOutput:\n```\n3\n```",
    "draft cut off in the last block": f"```\n{WHOLE}```\nor\n```\ndef add(a, b):\n    return (",
    "lines as on Windows": f"Here:\r\n```python\r\n{WHOLE}```\r\n".replace("\n", "\r\n"),
    "lines as on old Macs": f"Here:\n```\n{WHOLE}```\n".replace("\n", "\r"),
    "helper before": f"def one():\n    return 1\n\n{ONCE}one()\n",
    "helper behind": f"{ONCE}one()\n\ndef one():\n    return 1\n",
    "helper class": f"class One:\n    n = 1\n\n{ONCE}One.n\n",
    "constant": f"ONE: int = 1\nONE *= 1\n{ONCE}ONE\n",
    "decorator": f"import functools\n\n@functools.lru_cache(None)\n{WHOLE}",
    "decorator of several lines": f"from functools import *\n@lru_cache(\n    None\n)\n{WHOLE}",
    "assigned": "add = lambda a, b: a + b",
    "assigned helper": "def _add(a, b):\n    return a + b\nadd = _add",
    "import or something else": (
        f"try:\n    from nowhere import one\nexcept ImportError:\n    one = 1\n{ONCE}one\n"
    ),
    "import from the future": f"from __future__ import annotations\nx: Unknown = 1\n{WHOLE}",
    "uses what the prompt imports": "def add(a: List, b):\n    return a + b",
    "main": f'{WHOLE}\nif __name__ == "__main__":\n    print(add(1, 2))\n    exit()',
    "asks for input": f"{WHOLE}\na = int(input())\nb = list(map(int, input().split()))",
    "examples that fail": f"{WHOLE}\nresult = add(1, 'x')\nresult = [add(None, 1)]\n1 / 0",
    "imports for examples": f"import unittest, doctest\nimport nowhere.at as n\n{WHOLE}\nn.run()",
    "examples on one line": f"{WHOLE}x = 1; y = 2; x\n",
    "table that a loop fills": f"ones = []\nfor i in range(2):\n    ones.append(i)\n{ONCE}ones[1]",
    "table that a while fills": f"ones = [0]\nwhile len(ones) < 2:\n    ones += [1]\n{ONCE}ones[1]",
    "table that a call fills": f"ones = {{}}\nones.update(one=1)\n{ONCE}ones['one']",
    "table that a function fills": (
        f"ones = []\ndef fill():\n    ones.append(1)\nfill()\n{ONCE}ones[0]"
    ),
    "table that an item fills": f"ones = {{}}\nones['one'] = 1\n{ONCE}ones['one']",
    "table that a with fills": (
        f"import decimal\nwith decimal.localcontext():\n    one = 1\n{ONCE}one"
    ),
    "attribute": "def add(a, b):\n    return a + b * add.one\nadd.one = 1",
    "deep recursion": (
        "import sys\nsys.setrecursionlimit(3000)\ndef deep(n):\n    return n and 1 + deep(n - 1)\n"
        "def add(a, b):\n    return a + b + deep(2000) - 2000"
    ),
    "looked up by name": (
        "def _add(a, b):\n    return a + b\ndef add(a, b):\n    return eval('_add')(a, b)"
    ),
    "tests of its own": (
        f"import unittest\n{WHOLE}class Test(unittest.TestCase):\n    def test(self):\n"
        "        assert add(1, 2) == 4\nunittest.main()"
    ),
    "main that fails": f"{WHOLE}def main():\n    print(add(1, 'x'))\nmain()",
    "main with a variable": f'{WHOLE}if __name__ == "__main__":\n    x = 1 / 0\n    print(x)',
    "loop of examples": f"{WHOLE}for a in (1, 'x'):\n    print(add(1, a))",
    "loop of asserts": f"ONE = 1\n{ONCE}ONE\nfor x in (1, 2):\n    assert x == ONE",
    "whole, then one that repeats itself": (
        f"{WHOLE}def sub(a, b):\n    try:\n" + "        a = a + b\n" * 100
    ),
    "whole, then much that does not parse": WHOLE + "x = (\n" * 100,
    "text with a fence": 'def add(a, b):\n    """Like\n    ```\n    """\n    return a + b',
    "comment last": f"{WHOLE}    # done\n",
}


@pytest.mark.parametrize("form", RIGHT)
def test_right_answers_in_many_forms(form: str) -> None:
    assert sums(RIGHT[form]) == (3, 0)


@pytest.mark.parametrize(
    "form", ["tests of its own", "main that fails", "loop of asserts", "imports for examples"]
)
def test_what_only_tries_the_function_is_left_out(form: str) -> None:
    program = complete_program(RIGHT[form], PROMPT, "add")
    assert program is not None
    assert not any(word in program for word in ("unittest", "nowhere", "main", "assert"))


NO_PROGRAM = {
    "nothing": "",
    "prose": "I do not know.",
    "prose in several lines": "First, we add.\nThen, we return (the sum.\n",
    "another function": "def sub(a, b):\n    return a - b",
    "cut off": "def add(a, b):\n    c = a\n    return (c +",
    "cut off at a text": 'def add(a, b):\n    """Add two num',
    "cut off in the body": "    c = a\n    return (c +",
    "header only": "def add(a, b):\n",
    "wrong inside": "def add(a, b):\n    c = a\n    if b return c\n    return c + b\n",
    "method": "class Solution:\n    def add(self, a, b):\n        return a + b",
    "NUL": "def add(a, b):\n    x = '\0'\n    return a + b",
    "half a character": "def add(a, b):\n    return '\ud800'",
    "long number": f"def add(a, b):\n    return {'9' * 5000}",
    "deep": f"def add(a, b):\n    return {'(' * 1000}",
}


@pytest.mark.parametrize("form", NO_PROGRAM)
def test_no_program_where_there_is_none(form: str) -> None:
    assert complete_program(NO_PROGRAM[form], PROMPT, "add") is None


@pytest.mark.parametrize(
    ("answer", "program"),
    [
        # Helpers of the prompt come first, the function's own beginning comes from the answer.
        (
            "# mine\ndef two():\n    # twice\n    return one() + 1\n\n\nprint(two())",
            "def one():\n    return 1\n\n\n# mine\ndef two():\n    # twice\n    return one() + 1\n",
        ),
        (
            "    return one() + 1\nprint(two())",
            'def one():\n    return 1\n\n\ndef two():\n    """2"""\n    return one() + 1\n',
        ),
        (
            "from __future__ import annotations\nimport re, os\ndef two():\n    return 2",
            "from __future__ import annotations\ndef one():\n    return 1\n\n\n"
            "def two():\n    return 2\n",
        ),
    ],
)
def test_the_text_of_a_program_stays_as_it_was_written(answer: str, program: str) -> None:
    prompt = 'def one():\n    return 1\n\n\ndef two():\n    """2"""\n'
    assert complete_program(answer, prompt, "two") == program


@pytest.mark.parametrize(
    "prompt",
    [
        "def add(a, b):\n",
        "def add(a, b):\n    # Add them.\n",
        'import functools\n@functools.cache\ndef add(a, b):\n    """Add."""\n',
        'def add(a, b):\n    import math\n    """Add."""\n',
        'class T: ...\ndef add(a: T,\n        b: T):\n    """Add.\n    """\n\n\n',
        "def add(a, b):\r\n    '''Add.'''\r\n",
    ],
)
def test_prompts_of_many_forms(prompt: str) -> None:
    for answer in (BODY, WHOLE, f"{prompt.rstrip()}\n{BODY}"):
        assert sums(answer, prompt) == (3, 0)


def test_async_functions_and_classes_are_definitions() -> None:
    found = complete_program("async def add(a, b):\n    return a + b\nx()", PROMPT, "add")
    assert found is not None
    assert found.endswith("async def add(a, b):\n    return a + b\n")
    found = complete_program("class add:\n    pass\nx()", "", "add")
    assert found == "class add:\n    pass\n"


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(
    st.text(st.characters(exclude_categories=()))
    | st.lists(
        st.sampled_from(
            [
                "```",
                "```py",
                "def add(a, b):",
                "    return a",
                "  x",
                "(",
                "'''",
                "@",
                "x = 1",
                "\0",
            ]
        )
    ).map("\n".join)
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
