"""Which calls a written answer makes."""

import time
from typing import Final

import pytest

from tiebreak.benchmarks.bfcl.check import LONGEST_ANSWER, Call, written_calls

ROME: Final = Call("weather", {"city": "Rome"})
OSLO: Final = Call("weather", {"city": "Oslo"})
AS_JSON: Final = '{"name": "weather", "arguments": {"city": "Rome"}}'
OSLO_AS_JSON: Final = AS_JSON.replace("Rome", "Oslo")

SHAPES: Final = {
    "an object": AS_JSON,
    "a list": f"[{AS_JSON}]",
    "parameters": '{"name": "weather", "parameters": {"city": "Rome"}}',
    "function and parameters": '{"function": "weather", "parameters": {"city": "Rome"}}',
    "OpenAI": '{"id": "c1", "type": "function", "function": '
    '{"name": "weather", "arguments": "{\\"city\\": \\"Rome\\"}"}}',
    "OpenAI's message": f'{{"role": "assistant", "tool_calls": [{AS_JSON}]}}',
    "pretty": '{\n  "name": "weather",\n  "arguments": {\n    "city": "Rome"\n  }\n}',
    "BFCL": '[weather(city="Rome")]',
    "bare": "weather(city='Rome')",
    "indented": "weather(\n    city='Rome',\n)",
}
AROUND: Final = {
    "alone": "{}",
    "white space": "\n  {}  \n",
    "fence": "```\n{}\n```",
    "fence with language": "```json\n{}\n```",
    "fence and prose": "Here is the call:\n\n```python\n{}\n```\n\nIt asks for Rome (in °C).",
    "prose": "I'll ask for the weather (it's needed):\n\n{}\n\nThat is all.",
    "tags": "<tool_call>\n{}\n</tool_call>",
    "special token": "<|python_tag|>\n{}",
    "thinking": '<think>Or [weather(city="Oslo")]?\nNo.</think>\n{}',
    "draft": 'First I thought of [weather(city="Oslo")], but no:\n{}',
    "bullet": "1. {}",
    "after many open brackets": "(([[(([[ and so on\n\n{}",
    "after an open bracket": "(see [1, and so on\n{}",
}


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_one_call_in_every_shape(shape: str, around: str) -> None:
    assert written_calls(around.replace("{}", shape)) == [ROME]


@pytest.mark.parametrize(
    "text",
    [
        f"[{AS_JSON}, {OSLO_AS_JSON}]",
        f"{AS_JSON}\n{OSLO_AS_JSON}",
        f"{AS_JSON}, {OSLO_AS_JSON}",
        f"Both:\n```json\n{AS_JSON}\n```\n```json\n{OSLO_AS_JSON}\n```",
        f"<tool_call>{AS_JSON}</tool_call>\n<tool_call>{OSLO_AS_JSON}</tool_call>",
        "Calls:\n[weather(city='Rome'), weather(city='Oslo')]",
        "weather(city='Rome')\nweather(city='Oslo')",
        "Both cities:\n1. `weather(city='Rome')`\n2. `weather(city='Oslo')`\n\nDone.",
        "Both cities:\nweather(city='Rome'), weather(city='Oslo')",
    ],
)
def test_several_calls_stay_together(text: str) -> None:
    assert written_calls(text) == [ROME, OSLO]


@pytest.mark.parametrize(
    "text",
    [
        f"{AS_JSON}\nNo, it should be\n{OSLO_AS_JSON}",
        "[weather(city='Rome')]\n\nWait. Better:\n\n[weather(city='Oslo')]",
        "weather(city='Rome')\nor rather\nweather(city='Oslo')",
    ],
)
def test_the_last_group_counts(text: str) -> None:
    assert written_calls(text) == [OSLO]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "None of the functions fits.",
        "No function fits: weather(city='Rome') knows only the weather.",
        "I would need `weather(city='Rome')`, but you ask for trains [1].",
        "The list is empty: [].",
        "<think>[weather(city='Rome')]</think>That is not possible.",
        "<think>[weather(city='Rome')] or",
        # What a function looks like is no call of it.
        '{"name": "weather", "description": "Weather.", "parameters": {"city": {}}}',
        '{"city": "Rome"}',
        '{"name": "Rome"}',
        '{"name": "weather", "arguments": ["Rome"]}',
        '{"name": "weather", "arguments": "Rome"}',
        '{"name": 5, "arguments": {}}',
        # Programs are none either.
        "Use this:\n```python\ndata = load()\nprint(sorted(data))\nmain()\n```",
        "The sum of [max(a), min(b)] is asked for.",
        "weather(city='Rome'",
        "weather(city=)",
    ],
)
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


HOSTILE: Final = [
    *(
        "[",
        "[]",
        "()",
        "f() ",
        "f()\n",
        "go f(x=1)\n",
        "[a(b)] ",
        "(it's ",
        '{"a":',
        "[{(",
        "f(\n)",
    ),
    *("-", "1+", "`", "- ", "<think>", "<a", '("\\"', "(\\", '{"x"} ', "_", "a.", "\0", "\ud800"),
    '{"name":"f","arguments":{}} x ',
]


@pytest.mark.parametrize("part", HOSTILE, ids=range(len(HOSTILE)))
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
