"""A sound bank, and every kind of thing that can be wrong with one, planted and found by name."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import insert

from tests.cases import cases
from tiebreak.cli.verbs import main
from tiebreak.fair.bank.checks import BankCheck, check_bank
from tiebreak.fair.bank.question import BankQuestion, faults_of, n_blanks
from tiebreak.fair.bank.rows import rows_of
from tiebreak.fair.bank.schema import QUESTIONS, open_bank

CHOICE = BankQuestion(
    uuid="c",
    raw_uuid="c",
    category="Tides",
    type="multiple_choice",
    question="How many high tides does most of the Atlantic coast have in a lunar day?",
    answer="B",
    options=("one", "two", "four"),
)
STATEMENTS = [
    BankQuestion(
        uuid=f"c{k}",
        raw_uuid="c",
        category="Tides",
        type="true_false",
        question=f"Most of the Atlantic coast has {option} high tides in a lunar day.",
        answer="true" if k == 1 else "false",
        parent="c",
        made_by="true_false",
    )
    for k, option in enumerate(CHOICE.options)
]
FILL = BankQuestion(
    uuid="f",
    raw_uuid="f",
    category="Tides",
    type="fill_in",
    question="The range of a spring tide is ____ than that of a neap tide.",
    answer="larger",
)
SOUND = [CHOICE, *STATEMENTS, FILL]


def bank(path: Path, questions: list[BankQuestion]) -> Path:
    with open_bank(path, create=True).begin() as connection:
        connection.execute(insert(QUESTIONS), rows_of(questions))
    return path


def checked(path: Path, questions: list[BankQuestion]) -> BankCheck:
    return check_bank(open_bank(bank(path, questions)), bank="b")


def found(check: BankCheck) -> dict[str, list[tuple[str, str]]]:
    return {
        kind: [(one.where, one.what) for one in remarks.shown]
        for kind, remarks in check.remarks.items()
        if remarks.total
    }


def test_nothing_is_wrong_with_a_sound_bank(tmp_path: Path) -> None:
    check = checked(tmp_path / "b.db", SOUND)
    assert found(check) == {}
    assert (check.n_questions, check.n_wrong) == (5, 0)


def changed(uuid: str, **fields: Any) -> list[BankQuestion]:
    return [replace(one, **fields) if one.uuid == uuid else one for one in SOUND]


WRONG: dict[str, tuple[list[BankQuestion], str, str, str]] = {
    "a key that is no option": (changed("c", answer="D"), "format", "c", "no letter from A to C"),
    "a fill without a blank": (changed("f", question="Larger?"), "format", "f", "no blank"),
    "a sibling elsewhere": (changed("c1", category="Moon"), "siblings", "c1", "another category"),
    "no parent": (SOUND[1:], "parents", "c0", "is not in the bank"),
    "a rejected parent": (changed("c", status="rejected"), "parents", "c0", "is rejected"),
    "its own parent": (changed("f", parent="f"), "parents", "f", "its own parent"),
    "a parent elsewhere": (changed("c2", raw_uuid="z"), "parents", "c2", "another raw_uuid"),
    "two true": (changed("c0", answer="true"), "statements", "c", "2 of 3 statements are true"),
    "none true": (changed("c1", answer="false"), "statements", "c", "0 of 3 statements are true"),
    "one too few": (
        [one for one in SOUND if one.uuid != "c2"],
        *("statements", "c", "2 statements of 3 options"),
    ),
    "the same again": (
        [*SOUND, replace(FILL, uuid="g", raw_uuid="g")],
        *("duplicates", "g", "the same as f"),
    ),
}


@pytest.mark.parametrize(("questions", "kind", "where", "what"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_named(
    questions: list[BankQuestion], kind: str, where: str, what: str, tmp_path: Path
) -> None:
    check = checked(tmp_path / "b.db", questions)
    assert any(place == where and what in text for place, text in found(check)[kind])
    assert set(found(check)) <= {kind, "near duplicates"} | (
        {"statements"} & {"statements"} if kind == "parents" else set()
    )
    assert check.n_wrong > 0


def test_near_duplicates_are_for_a_person_to_decide(tmp_path: Path) -> None:
    again = replace(FILL, uuid="g", raw_uuid="g", question=FILL.question.replace("that of", "of"))
    check = checked(tmp_path / "b.db", [*SOUND, again])
    assert found(check) == {"near duplicates": [("g", "nearly the same as f")]}
    assert check.n_wrong == 0
    drafts = [*SOUND, replace(again, status="draft")]
    assert found(checked(tmp_path / "c.db", drafts)) == {}


@pytest.mark.parametrize(("questions", "code"), [(SOUND, 0), (SOUND[1:], 1)])
def test_the_verb_says_so_with_its_exit_code(
    questions: list[BankQuestion], code: int, tmp_path: Path
) -> None:
    path = bank(tmp_path / "b.db", questions)
    done = CliRunner().invoke(main, ["bank", "check", "--bank", str(path), "--json"])
    assert done.exit_code == code
    told = json.loads(done.output)
    assert told["format"] == "tiebreak/bank-check"
    assert bool(told["n_wrong"]) == bool(code)
    assert told["remarks"]["parents"]["total"] == 3 * code


@pytest.mark.parametrize(("change", "fault"), cases(__file__, "faults of a question"))
def test_faults_of_a_question(change: dict[str, Any], fault: str) -> None:
    assert faults_of(CHOICE) == ()
    assert any(fault in one for one in faults_of(replace(CHOICE, **change)))


@pytest.mark.parametrize(("text", "n"), cases(__file__, "blanks"))
def test_blanks(text: str, n: int) -> None:
    assert n_blanks(text) == n


@pytest.mark.parametrize(
    ("answer", "sound"), [("a; b", True), ("a；b", True), ("a", False), ("a;", False)]
)
def test_as_many_fills_as_blanks(answer: str, sound: bool) -> None:
    question = replace(FILL, question="Between ____ and ____.", answer=answer)
    assert (faults_of(question) == ()) == sound
