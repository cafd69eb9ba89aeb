"""Two questions are shown where they differ, and so that the difference can be seen."""

from typing import Any

import pytest

from tiebreak.candidates.identity import input_hash
from tiebreak.candidates.placement import excerpts
from tiebreak.candidates.pool import Item, ItemKey

LONG = "Ann has three apples and gives one of them to her brother. " * 4
TOOLS = {"function": {"name": "add", "parameters": {"properties": {"a": {}}}}}


def item(prompt: str = LONG, **others: Any) -> Item:
    parts: dict[str, Any] = {"choices": (), "tools": (), "target": ""} | others
    code = input_hash(prompt, parts["choices"], parts["tools"], parts["target"])
    return Item(key=ItemKey("b", "q"), input_hash=code, prompt=prompt, **parts)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (
            item(LONG + "How many are left?"),
            item(LONG + "How many are gone?"),
            (
                "in the text, from character 250 on",
                "'…other. How many are left?'",
                "'…other. How many are gone?'",
            ),
        ),
        (
            item("How many?"),
            item("How\u200b many?"),
            (
                "in the text, from character 4 on",
                "'How many?' (there: U+0020 SPACE)",
                r"'How\u200b many?' (there: U+200B ZERO WIDTH SPACE)",
            ),
        ),
        (
            item("How many?"),
            item("H\u043ew many?"),
            (
                "in the text, from character 2 on",
                "'How many?' (there: U+006F LATIN SMALL LETTER O)",
                "'H\u043ew many?' (there: U+043E CYRILLIC SMALL LETTER O)",
            ),
        ),
        (
            item("How many?"),
            item("How many?\u2060"),
            (
                "in the text, from character 10 on",
                "'How many?' (there: the end)",
                r"'How many?\u2060' (there: U+2060 WORD JOINER)",
            ),
        ),
        (
            item(choices=("1", "2")),
            item(choices=("1", "2", "3")),
            ("in number", "'2 choices'", "'3 choices'"),
        ),
        (
            item(choices=("1", "2")),
            item(choices=("1", "3")),
            ("in choice 2", "'2'", "'3'"),
        ),
        (
            item(),
            item(tools=(TOOLS,)),
            ("in the tools, from character 2 on", "'[]'", "'[('add', ['a'])]'"),
        ),
        (
            item(target="#### 41"),
            item(target="42"),
            ("in the right answer, from character 2 on", "'41'", "'42'"),
        ),
    ],
)
def test_excerpts(one: Item, other: Item, expected: tuple[str, str, str]) -> None:
    assert one.input_hash != other.input_hash
    where, left, right = excerpts(one, other)
    assert (where, left, right) == expected
    assert left != right
