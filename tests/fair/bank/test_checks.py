"""A sound bank, and every kind of thing that can be wrong with one, planted and found by name."""

from dataclasses import replace
from typing import Any

import pytest

from tests import expected
from tests.cases import cases
from tests.fair.bank.questions import keep
from tiebreak.fair.bank.checks import BankCheck, check_bank
from tiebreak.fair.bank.question import BankQuestion, faults_of, n_blanks
from tiebreak.fair.bank.schema import open_bank

CHOICE, FILL, *STATEMENTS = (
    BankQuestion(**{"category": "Tides", **row, "options": tuple(row.get("options", ()))})
    for row in cases(__file__, "sound")
)
SOUND = [CHOICE, *STATEMENTS, FILL]


def checked(questions: list[BankQuestion]) -> BankCheck:
    engine = open_bank("sqlite://", create=True)
    keep(engine, *questions)
    return check_bank(engine, bank="b")


def found(check: BankCheck) -> dict[str, list[tuple[str, str]]]:
    return {
        kind: [(one.where, one.what) for one in remarks.shown]
        for kind, remarks in check.remarks.items()
        if remarks.total
    }


def test_nothing_is_wrong_with_a_sound_bank() -> None:
    check = checked(SOUND)
    assert found(check) == {}
    assert (check.n_questions, check.n_wrong) == (5, 0)


def changed(uuid: str, **fields: Any) -> list[BankQuestion]:
    return [replace(one, **fields) if one.uuid == uuid else one for one in SOUND]


def test_what_is_wrong_is_named() -> None:
    texts = []
    for name, (uuid, fields) in cases(__file__, "changes").items():
        check = checked(changed(uuid, **fields) if fields else [q for q in SOUND if q.uuid != uuid])
        assert check.n_wrong > 0
        said = [f"{kind}: {where}: {what}" for kind, v in found(check).items() for where, what in v]
        texts.append("\n".join([f"== {name}", *said]))
    expected.check(__file__, "checks.txt", "\n\n".join(texts) + "\n")


def test_the_same_again_is_named() -> None:
    check = checked([*SOUND, replace(FILL, uuid="g", raw_uuid="g")])
    assert found(check)["duplicates"] == [("g", "the same as f")]


def test_near_duplicates_are_for_a_person_to_decide() -> None:
    again = replace(FILL, uuid="g", raw_uuid="g", question=FILL.question.replace("that of", "of"))
    check = checked([*SOUND, again])
    assert found(check) == {"near duplicates": [("g", "nearly the same as f")]}
    assert check.n_wrong == 0
    assert found(checked([*SOUND, replace(again, status="draft")])) == {}


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
