import pytest

from tiebreak.scorers.refinement import duplicate_of, next_id
from tiebreak.scorers.rubric import ChecklistItem


def item(id: str, description: str) -> ChecklistItem:
    return ChecklistItem(id=id, principle="P1", description=description)


LIST = [item("C1", "Checks all three arguments with isinstance"), item("C7", "Rejects floats")]


@pytest.mark.parametrize(
    ("description", "twin"),
    [
        ("checks ALL three arguments, with isinstance!", "C1"),  # case and punctuation
        ("With isinstance, checks all the three arguments", "C1"),  # 6 of 7 words
        ("Checks two arguments", None),
        ("Rejects whole-valued floats such as 3.0", None),  # 2 of 7 words
        ("Rejects ﬂoats", "C7"),  # a ligature (NFKC)
    ],
)
def test_duplicates(description: str, twin: str | None) -> None:
    assert duplicate_of(description, LIST) == twin


def test_next_id_is_free() -> None:
    assert next_id(LIST) == "C3"
    assert next_id([item("C2", "x")]) == "C3"
    assert next_id([]) == "C1"
