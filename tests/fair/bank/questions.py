"""Questions for tests, and banks that hold them."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sqlalchemy import Engine, insert, select

from tiebreak.fair.bank.question import BankQuestion
from tiebreak.fair.bank.rows import question_from, rows_of
from tiebreak.fair.bank.schema import QUESTIONS


def choice(
    stem: str = "A full binary tree of height three has exactly ( ) nodes.",
    options: Iterable[str] = ("3", "5", "7", "9"),
    answer: str = "C",
    uuid: str = "q1",
    **more: Any,
) -> BankQuestion:
    own = BankQuestion(
        uuid=uuid,
        raw_uuid=uuid,
        category="Engineering",
        sub_category="Computer science",
        type="multiple_choice",
        question=stem,
        answer=answer,
        hint="Every level is full.",
        options=tuple(options),
        source="an examination",
        date="2024-05",
    )
    return replace(own, **more)


MATERIAL = BankQuestion(
    uuid="m1",
    raw_uuid="m1",
    category="History",
    type="material",
    question="The mill opened in 1802.  It employed 40 people,\nmostly weavers. What followed?",
    answer="A town grew around it.",
)


def keep(engine: Engine, *questions: BankQuestion) -> None:
    with engine.begin() as connection:
        connection.execute(insert(QUESTIONS), rows_of(questions))


def kept(engine: Engine) -> dict[str, BankQuestion]:
    with engine.connect() as connection:
        return {row.uuid: question_from(row) for row in connection.execute(select(QUESTIONS))}
