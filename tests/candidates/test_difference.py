"""Two questions are shown where they differ, and so that the difference can be seen."""

from typing import Any

import pytest

from tests.cases import cases
from tiebreak.candidates.identity import input_hash
from tiebreak.candidates.placement import excerpts
from tiebreak.candidates.pool import Item, ItemKey

LONG = "Ann has three apples and gives one of them to her brother. " * 4
CASES = cases(__file__, "excerpts")


def item(prompt: str = LONG, target: str = "", **lists: list[Any]) -> Item:
    prompt = prompt.replace("LONG", LONG)
    parts: dict[str, Any] = {name: tuple(lists.get(name, ())) for name in ("choices", "tools")}
    code = input_hash(prompt, parts["choices"], parts["tools"], target)
    return Item(key=ItemKey("b", "q"), input_hash=code, prompt=prompt, target=target, **parts)


@pytest.mark.parametrize("name", CASES)
def test_excerpts(name: str) -> None:
    *questions, expected = CASES[name]
    one, other = (item(**parts) for parts in questions)
    assert one.input_hash != other.input_hash
    assert [*excerpts(one, other)] == expected
