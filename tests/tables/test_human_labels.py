"""People's stars and preferences in CSV: forms, what is refused, what is passed over."""

from pathlib import Path

import pytest

from tests.tables.builders import write
from tiebreak.tables import HumanLabels, TableError, read_human_labels


def read(folder: Path, text: str) -> HumanLabels:
    return read_human_labels(write(folder / "people.csv", text))


def test_stars(tmp_path: Path) -> None:
    text = (
        "Item_ID;model;stars;rater;round;benchmark;answer_digest\n"
        "q1;a;3;ann;1;fair;0123ABCD\nq1;a;2;ben;1;fair;\nq1;a;;eve;1;fair;\n"
    )
    found = read(tmp_path, text)
    assert found.kind == "stars"
    assert [(one.item_id, one.models, one.value) for one in found.labels] == [
        ("q1", ("a",), 3),
        ("q1", ("a",), 2),
    ]
    assert [one.digests for one in found.labels] == [("0123abcd",), ("",)]
    first = found.labels[0]
    assert (first.rater, first.round, first.benchmark, first.line) == ("ann", "1", "fair", 2)
    assert [note.partition(": ")[2] for note in found.notes] == ["no stars in line 4"]


@pytest.mark.parametrize("name", ["item", "item_id", "question", "question_uuid", "Question"])
def test_names_of_the_item(tmp_path: Path, name: str) -> None:
    assert read(tmp_path, f"{name},model,stars\nq1,a,0\n").labels[0].item_id == "q1"


def test_a_question_beside_its_item_is_not_read(tmp_path: Path) -> None:
    found = read(tmp_path, "item,question,model,stars\nq1,Why?,a,0\n")
    assert found.labels[0].item_id == "q1"
    assert "columns not read: 'question'" in found.notes[0]


@pytest.mark.parametrize(
    ("winner", "value"),
    [("a", 2), ("B", 0), ("tie", 1), ("org/x", 2), ("y", 0), ("model_b", 0), ("even", 1)],
)
def test_preferences(tmp_path: Path, winner: str, value: int) -> None:
    found = read(tmp_path, f"item_id,model_a,model_b,winner\nq1,org/x,y,{winner}\n")
    assert found.kind == "preferences"
    [one] = found.labels
    assert (one.models, one.value, one.digests) == (("org/x", "y"), value, ("", ""))


WRONG = {
    "no item": ("model,stars\na,1\n", "no column 'item_id'"),
    "no stars": ("item,model\nq,a\n", "no column 'stars'"),
    "both": ("item,model,stars,winner\nq,a,1,a\n", "both columns"),
    "no model": ("item,winner\nq,a\n", "no column 'model_a'"),
    "a name missing": ("item,model,stars\nq,,1\n", "line 2: the model has no name"),
    "four stars": ("item,model,stars\nq,a,4\n", "line 2, column 'stars': 4 stars"),
    "half a star": ("item,model,stars\nq,a,1.5\n", "1.5 stars"),
    "a word": ("item,model,stars\nq,a,good\n", "is not a finite number"),
    "itself": ("item,model_a,model_b,winner\nq,a,a,a\n", "compared with itself"),
    "nobody": ("item,model_a,model_b,winner\nq,x,y,z\n", "write a, b, tie, 'x' or 'y'"),
    "digest": ("item,model,stars,answer_digest\nq,a,1,xyz\n", "is no digest"),
    "twice": ("item,model,stars\nq,a,1\nq,a,2\n", "no column 'rater'"),
    "twice by one": ("item,model,stars,rater\nq,a,1,x\nq,a,2,x\n", "by 'x' a second time"),
    "turned round": ("item,model_a,model_b,winner\nq,x,y,a\nq,y,x,b\n", "a second time"),
    "empty": ("item,model,stars\nq,a,\n", "no row has stars"),
}


@pytest.mark.parametrize(("text", "words"), WRONG.values(), ids=WRONG)
def test_what_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(TableError, match=r"people\.csv") as error:
        read(tmp_path, text)
    assert words in str(error.value)
