"""Which calls a written answer makes."""

import time
from typing import Final

import pytest

from tests.cases import cases
from tiebreak.benchmarks.bfcl.check import LONGEST_ANSWER, Call, written_calls

ROME: Final = Call("weather", {"city": "Rome"})
OSLO: Final = Call("weather", {"city": "Oslo"})
SHAPES: Final = cases(__file__, "shapes")
AROUND: Final = cases(__file__, "around")


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_one_call_in_every_shape(shape: str, around: str) -> None:
    assert written_calls(around.replace("{}", shape)) == [ROME]


@pytest.mark.parametrize("text", cases(__file__, "together"))
def test_several_calls_stay_together(text: str) -> None:
    assert written_calls(text) == [ROME, OSLO]


@pytest.mark.parametrize("text", cases(__file__, "the last"))
def test_the_last_group_counts(text: str) -> None:
    assert written_calls(text) == [OSLO]


@pytest.mark.parametrize("text", cases(__file__, "none"))
def test_no_calls(text: str) -> None:
    assert written_calls(text) == []


@pytest.mark.parametrize(
    ("value", "read"),
    [
        *(("1", 1), ("-2.5", -2.5), ("True", True), ("None", None), ("'a, b)'", "a, b)")),
        *(("[1, 'x']", [1, "x"]), ("(1, 2)", (1, 2)), ("{'k': [True]}", {"k": [True]})),
        *(("Rome", "Rome"), ("true", "true"), ("today()", "today()"), ("rows[0]", "rows[0]")),
        *(("point(x=1)", {"point": {"x": 1}}), ("2 * 3 + 1", 7), ("10**6", 1_000_000)),
    ],
)
def test_values(value: str, read: object) -> None:
    (call,) = written_calls(f"[f(a={value})]")
    assert repr(call) == repr(Call("f", {"a": read}))  # repr: True is not 1


@pytest.mark.parametrize(
    "value",
    [
        *("9**9**9", "2**1e308", "(-1)**10**9", "1 << 10**9", "'x' * 10**9", "1 / 0", "5 % 0"),
        *("9" * 5000, "0x" + "f" * 5000, "*".join(["9" * 4000] * 3), "{[1]: 2}", "{**x}", "'\0'"),
        *("__import__('os').x", "[x for x in y]", "lambda: 1", "open('f').read", "-'x'", "x + 1"),
        *("(" * 300 + "1" + ")" * 300, "-" * 10_000 + "1", "1+" * 10_000 + "1", "\ud800"),
    ],
    ids=range(23),
)
def test_values_that_are_not_read(value: str) -> None:
    assert written_calls(f"[f(a={value})]") == []


@pytest.mark.parametrize("part", cases(__file__, "hostile"), ids=repr)
def test_a_megabyte_of_anything_takes_a_moment(part: str) -> None:
    began = time.process_time()
    written_calls(part * (10**6 // len(part)))
    assert time.process_time() - began < 5


def test_brackets_in_quotes() -> None:
    text = """So I call:\n[weather(city="Rome ][")]\nThat is all."""
    assert written_calls(text) == [Call("weather", {"city": "Rome ]["})]


def test_only_the_end_of_a_long_answer_is_looked_at() -> None:
    call = "\n[f(a=1)]"
    assert written_calls("so " * LONGEST_ANSWER + call) == [Call("f", {"a": 1})]
    assert written_calls(call + " so" * LONGEST_ANSWER) == []
