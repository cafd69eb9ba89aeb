"""What people say, and when models came out, in CSV: forms, what is refused and passed over."""

from datetime import date
from pathlib import Path

import pytest

from tests.cases import cases
from tests.tables.builders import write
from tiebreak.tables import HumanLabels, HumanRanking, TableError
from tiebreak.tables.dates import ReleaseDate, read_dates
from tiebreak.tables.human import (
    CAUSES,
    HumanLabel,
    read_causes,
    read_human_labels,
    read_human_ranking,
)


def read(folder: Path, text: str) -> HumanRanking:
    return read_human_ranking(write(folder / "people.csv", text))


def labelled(folder: Path, text: str) -> HumanLabels:
    return read_human_labels(write(folder / "people.csv", text))


# a first, b and c tied; scores turn round.
SAME = cases(__file__, "one ranking")


@pytest.mark.parametrize(("text", "ranks"), SAME.values(), ids=SAME)
def test_one_ranking(tmp_path: Path, text: str, ranks: dict[str, float]) -> None:
    human = read(tmp_path, text)
    assert human.ranks == {"": ranks}
    assert human.of("gsm8k") == ranks
    assert (human.source, human.notes) == (str(tmp_path / "people.csv"), ())


def test_a_ranking_for_each_benchmark(tmp_path: Path) -> None:
    human = read(tmp_path, "benchmark,model,score\ngsm8k,a,5\n,a,7\nmbpp,b,9\ngsm8k,b,6\n")
    assert human.of("gsm8k") == {"a": -5, "b": -6}
    assert human.of("mbpp") == {"b": -9}
    # None of its own.
    assert human.of("ifeval") == {"a": -7}
    assert read(tmp_path, "benchmark,model,rank\ngsm8k,a,1\n").of("mmlu") == {}


def test_what_is_passed_over_is_told(tmp_path: Path) -> None:
    human = read(tmp_path, "model,rank,votes,x\na,1,7,\nb,,7,\nc,n/a,7,\nd,2,8,\n")
    assert human.ranks == {"": {"a": 1, "d": 2}}
    assert [note.partition(": ")[2] for note in human.notes] == [
        "columns not read: 'votes', 'x'",
        "no rank for b, c",
    ]
    human = read(tmp_path, "model,score,benchmark\na,1,x\nb,,x\n")
    assert [note.partition(": ")[2] for note in human.notes] == ["no score for b on x"]


def test_stars(tmp_path: Path) -> None:
    read = labelled(
        tmp_path,
        "Item_ID;model;stars;rater;round;benchmark;answer_digest\n"
        "q1;a;3;ann;1;fair;0123ABCD\nq1;a;2;ben;1;fair;\nq1;a;;eve;1;fair;\n",
    )
    assert read.kind == "stars"
    shared = {"round": "1", "benchmark": "fair"}
    assert read.labels == (
        HumanLabel(2, "q1", ("a",), 3, digests=("0123abcd",), rater="ann", **shared),
        HumanLabel(3, "q1", ("a",), 2, digests=("",), rater="ben", **shared),
    )
    assert [note.partition(": ")[2] for note in read.notes] == ["no stars in line 4"]


@pytest.mark.parametrize("name", ["item", "item_id", "question", "question_uuid", "Question"])
def test_names_of_the_item(tmp_path: Path, name: str) -> None:
    assert labelled(tmp_path, f"{name},model,stars\nq1,a,0\n").labels[0].item_id == "q1"


def test_a_question_beside_its_item_is_not_labelled(tmp_path: Path) -> None:
    read = labelled(tmp_path, "item,question,model,stars\nq1,Why?,a,0\n")
    assert read.labels[0].item_id == "q1"
    assert "columns not read: 'question'" in read.notes[0]


@pytest.mark.parametrize(
    ("winner", "value"),
    [("a", 2), ("B", 0), ("tie", 1), ("org/x", 2), ("y", 0), ("model_b", 0), ("even", 1)],
)
def test_preferences(tmp_path: Path, winner: str, value: int) -> None:
    read = labelled(tmp_path, f"item_id,model_a,model_b,winner\nq1,org/x,y,{winner}\n")
    assert read.kind == "preferences"
    [label] = read.labels
    assert (label.models, label.value, label.digests) == (("org/x", "y"), value, ("", ""))


def test_causes_of_the_paper_come_first_and_spellings_are_one(tmp_path: Path) -> None:
    path = write(
        tmp_path / "c.csv",
        "question_uuid,model,cause,rater\nq1,a,other,ann\nq2,a,Logical_Reasoning,ann\n"
        "q2,a,logical  reasoning,ben\nq3,b,Disciplinary knowledge,ben\n",
    )
    found = read_causes(path)
    assert found.causes == (CAUSES[0], CAUSES[2], "other")
    assert [(label.rater, label.value) for label in found.labels] == [
        ("ann", 2),
        ("ann", 1),
        ("ben", 1),
        ("ben", 0),
    ]


def test_dates(tmp_path: Path) -> None:
    path = write(tmp_path / "d.csv", "model,date,series\na,2025-06-07,X\nb,2024-3,\nc,2023,Y\n")
    assert read_dates(path) == (
        ReleaseDate("a", date(2025, 6, 7), "X"),
        ReleaseDate("b", date(2024, 3, 1)),
        ReleaseDate("c", date(2023, 1, 1), "Y"),
    )


FAULTY = "item_id,model,stars\nq1,a,3\nq2,a,7\nq3,a\nq1,a,2\nq4,a,1\n"


def test_faulty_rows_are_named_or_left_out(tmp_path: Path) -> None:
    path = write(tmp_path / "people.csv", FAULTY)
    with pytest.raises(TableError) as caught:
        read_human_labels(path)
    *named, advice = str(caught.value).splitlines()
    assert [text.partition(": ")[0].partition(", column")[0] for text in named] == [
        f"{path}, line {line}" for line in (4, 3, 5)
    ]
    assert advice.startswith("3 rows are faulty")
    read = read_human_labels(path, skip_faulty=True)
    assert [label.line for label in read.labels] == [2, 6]
    assert len(read.notes) == 3
    many = write(tmp_path / "many.csv", FAULTY + "q9,a,9\n" * 1_000)
    assert "998 more" in read_human_labels(many, skip_faulty=True).notes[-1]
    none = write(tmp_path / "none.csv", "item_id,model,stars\nq,a,9\n")
    with pytest.raises(TableError, match="no row has stars"):
        read_human_labels(none, skip_faulty=True)
