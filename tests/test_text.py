import unicodedata

import pytest

from tiebreak.text import count, listed, percent, split_names, visible, words_of


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a", ["a"]),
        ("a, b ,c d", ["a", "b", "c d"]),
        ("a,,b,", ["a", "", "b", ""]),
        ("", [""]),
    ],
)
def test_names_in_one_text(text: str, names: list[str]) -> None:
    assert split_names(text) == names


@pytest.mark.parametrize(
    ("most", "text"), [(3, "a; b; c"), (2, "a; b and 1 more"), (1, "a and 2 more")]
)
def test_of_many_names_the_first_are_listed(most: int, text: str) -> None:
    assert listed(["a", "b", "c"], "; ", most) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 漢 💥", "plain é 漢 💥"),
        ("\x1b[31m\x9b0m\x00\x7f", r"\x1b[31m\x9b0m\x00\x7f"),
        ("a\tb\r\nc", "a\\tb\\r\nc"),
        ("\u202e\u200b\u2028\xa0\ud800", r"\u202e\u200b\u2028\xa0\ud800"),
        ("\U000e0001", r"\U000e0001"),
    ],
)
def test_what_steers_is_shown(text: str, shown: str) -> None:
    assert visible(text, keep="\n") == shown
    assert visible(text) == shown.replace("\n", r"\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Rejects ﬂoats, such as 3.0!", ["rejects", "floats", "such", "as", "3", "0"]),
        ("snake_case can't", ["snake_case", "can", "t"]),
        ("检查isinstance和３个参数。", [*"检查", "isinstance", "和", "3", *"个参数"]),
        ("空のリストを処理", ["空", "のリストを", *"処理"]),
        # Marks belong to their letters, which Python's \\w does not know; so do invisible joiners.
        ("ที่นี่ ไม่", ["ที่นี่", "ไม่"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("می\u200cخواهم", ["میخواهم"]),
        ("세 인수", ["세", "인수"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        (" \u3000…—", []),
    ],
)
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
