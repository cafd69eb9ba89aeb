"""What is taken out of a question, and when a reply gives it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import cases
from tiebreak.fair.tasks.replay import BLANK, MASKS, MaskKind, mask, same_fill

TEXT = "Which planet of our system has the shortest orbital period of 88 days?"
OPTIONS = ("Mercury", "Venus", "Earth", "Which planet")
CHINESE = "如果有向图的邻接矩阵中对角线以下元素均为零，则该图的拓扑序列必定存在。"


def test_words() -> None:
    found = {one.fill for k in range(200) if (one := mask(TEXT, (), kind="word", seed=k, name="q"))}
    assert found == {"system", "shortest", "orbital", "period", "88"}


def test_options() -> None:
    draws = [mask(TEXT, OPTIONS, kind="option", seed=k, name="q") for k in range(100)]
    # "Which planet" stands in the question, and could be copied.
    assert {one.fill for one in draws if one} == {"Mercury", "Venus", "Earth"}
    for one in draws:
        assert one is not None
        assert one.text == TEXT
        assert one.options.count(BLANK) == 1


def test_a_script_without_spaces() -> None:
    found = [mask(CHINESE, (), kind="word", seed=k, name="q") for k in range(50)]
    assert len({one.fill for one in found if one}) > 5
    assert all(one and 2 <= len(one.fill) <= 4 for one in found)
    assert all(one and CHINESE.count(one.fill) == 1 for one in found)


@given(st.text(max_size=80), st.sampled_from(MASKS), st.integers(0, 3), st.text(max_size=3))
def test_nothing_of_the_part_is_left(text: str, kind: MaskKind, seed: int, name: str) -> None:
    options = tuple(text.split("a")[:4])
    one = mask(text, options, kind=kind, seed=seed, name=name)
    assert one == mask(text, options, kind=kind, seed=seed, name=name)
    if one is None:
        return
    if kind == "word":
        assert one.text.replace(BLANK, one.fill, 1) == text
        assert one.fill not in one.text.replace(BLANK, "").split()
    else:
        assert tuple(one.fill if o == BLANK else o for o in one.options) == options
    assert same_fill(one.fill, one.fill) or not one.fill.strip(" .,;:!?")


@pytest.mark.parametrize("text", ["", "?", "a b c", "one two two", "the same the same the same"])
def test_questions_without_a_part(text: str) -> None:
    assert mask(text, (), kind="word", seed=0, name="q") is None
    assert mask(text, (), kind="option", seed=0, name="q") is None


@pytest.mark.parametrize(("reply", "fill", "same"), cases(__file__, "replies"))
def test_replies(reply: str, fill: str, same: bool) -> None:
    assert same_fill(reply, fill) is same
