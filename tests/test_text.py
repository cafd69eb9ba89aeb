import unicodedata

import pytest

from tests.cases import cases
from tiebreak.text import count, listed, percent, split_names, visible, words_of


@pytest.mark.parametrize(("text", "names"), cases(__file__, "names in one text"))
def test_names_in_one_text(text: str, names: list[str]) -> None:
    assert split_names(text) == names


@pytest.mark.parametrize(
    ("most", "text"), [(3, "a; b; c"), (2, "a; b and 1 more"), (1, "a and 2 more")]
)
def test_of_many_names_the_first_are_listed(most: int, text: str) -> None:
    assert listed(["a", "b", "c"], "; ", most) == text


@pytest.mark.parametrize(("text", "shown"), cases(__file__, "what steers is shown"))
def test_what_steers_is_shown(text: str, shown: str) -> None:
    assert visible(text, keep="\n") == shown
    assert visible(text) == shown.replace("\n", r"\n")


@pytest.mark.parametrize(("text", "words"), cases(__file__, "words in any script"))
def test_words_in_any_script(text: str, words: list[str]) -> None:
    assert words_of(text) == [unicodedata.normalize("NFKC", word) for word in words]


@pytest.mark.parametrize(
    ("rate", "text"), [(0, "0%"), (0.001, "<1%"), (0.5, "50%"), (0.999, ">99%"), (1, "100%")]
)
def test_percent(rate: float, text: str) -> None:
    assert percent(rate) == text


def test_count() -> None:
    assert count(1200, "match", "matches") == "1,200 matches"
    assert count(1, "match", "matches") == "1 match"
