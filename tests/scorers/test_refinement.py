import pytest

from tiebreak.scorers.refinement import LONGEST_SNIPPET, duplicate_of, item_of, next_id
from tiebreak.scorers.replies import RefineReply
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


def test_an_item_comes_with_its_demonstration() -> None:
    reply = RefineReply(
        principle_id="P2",
        description="Rejects floats",
        differentiator="One does.",
        anchor_split="4 vs 3",
        higher_snippet="\nif isinstance(x, float):\n    return False\n",
        lower_snippet="y" * (LONGEST_SNIPPET + 1),
    )
    found = item_of(reply, "C5")
    assert (found.id, found.principle, found.description) == ("C5", "P2", "Rejects floats")
    assert found.demonstration is not None
    assert found.demonstration.levels == (
        ("4", "if isinstance(x, float):\n    return False"),
        ("3", "y" * LONGEST_SNIPPET + " …"),
    )
    # Half a pair shows nothing.
    assert item_of(reply.model_copy(update={"lower_snippet": " \n"}), "C5").demonstration is None
