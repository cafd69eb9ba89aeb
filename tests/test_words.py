import pytest

from tiebreak.words import split_names


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
