"""Files of causes and of dates: what is read, and what is said of what cannot be."""

from datetime import date
from pathlib import Path

import pytest

from tiebreak.tables import TableError
from tiebreak.tables.dates import ReleaseDate, read_dates
from tiebreak.tables.human import CAUSES, read_causes


def test_causes_of_the_paper_come_first_and_spellings_are_one(tmp_path: Path) -> None:
    path = tmp_path / "c.csv"
    path.write_text(
        "question_uuid,model,cause,rater\nq1,a,other,ann\nq2,a,Logical_Reasoning,ann\n"
        "q2,a,logical  reasoning,ben\nq3,b,Disciplinary knowledge,ben\n"
    )
    found = read_causes(path)
    assert found.causes == (CAUSES[0], CAUSES[2], "other")
    assert [label.rater for label in found.labels] == ["ann", "ann", "ben", "ben"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("item_id,cause\nq1,x\n", "no column 'model'"),
        ("item_id,model,cause\nq1,a,\n", "the cause has no name"),
        ("item_id,model,cause\nq1,a,x\nq1,a,y\n", "a second time"),
    ],
)
def test_causes_that_cannot_be_used(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "c.csv"
    path.write_text(text)
    with pytest.raises(TableError, match=words):
        read_causes(path)


def test_dates(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("model,date,series\na,2025-06-07,X\nb,2024-3,\nc,2023,Y\n")
    assert read_dates(path) == (
        ReleaseDate("a", date(2025, 6, 7), "X"),
        ReleaseDate("b", date(2024, 3, 1)),
        ReleaseDate("c", date(2023, 1, 1), "Y"),
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("model,day\na,2025\n", "no column 'date'"),
        ("model,date\na,June 2025\n", "is no date"),
        ("model,date\na,2025-02-30\n", "is no date"),
        ("model,date\na,2025\na,2024\n", "a second time"),
    ],
)
def test_dates_that_cannot_be_used(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "d.csv"
    path.write_text(text)
    with pytest.raises(TableError, match=words):
        read_dates(path)
