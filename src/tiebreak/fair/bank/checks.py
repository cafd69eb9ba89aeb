"""Check a whole bank: each question, each family of siblings, and duplicates.

Source: LLMEval-Fair, A.2.2 (format validation, redundancy checks).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress, groupby
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine, func, select

from tiebreak.fair.bank.duplicates import near_pairs
from tiebreak.fair.bank.question import BankQuestion, Remarks, faults_of
from tiebreak.fair.bank.rows import AT_ONCE, COLUMNS, by_uuid, question_from, signatures_from
from tiebreak.fair.bank.schema import QUESTIONS
from tiebreak.progress import doing, tracked
from tiebreak.text import count

Kind = Literal["format", "siblings", "parents", "statements", "duplicates", "near duplicates"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

WARNINGS: Final[frozenset[Kind]] = frozenset({"near duplicates"})
"""Kinds that a person has to look at, because they may be false alarms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BankCheck:
    """Faults of a bank, by kind."""

    bank: str
    n_questions: int
    remarks: dict[Kind, Remarks]

    @property
    def n_wrong(self) -> int:
        """Number of faults, without warnings."""
        return sum(remarks.total for kind, remarks in self.remarks.items() if kind not in WARNINGS)


def check_bank(engine: Engine, *, bank: str = "", most_shown: int = 20) -> BankCheck:
    """Check every question that is not rejected.

    Near duplicates are searched for among approved questions, because only these are asked. `bank`
    is the bank's name in the result, which has at most `most_shown` remarks of each kind.
    """
    remarks: dict[Kind, Remarks] = {kind: Remarks(most_shown) for kind in KINDS}
    ids: list[tuple[str, str]] = []
    signed: list[NDArray[np.uint32]] = []
    n = 0
    with engine.connect() as connection:
        for family, signatures in tracked(_families(connection), "checking questions"):
            n += len(family)
            for question in family:
                for fault in faults_of(question):
                    remarks["format"].add(question.uuid, fault)
            for kind, where, fault in _family_faults(family, connection):
                remarks[kind].add(where, fault)
            approved = [question.status == "approved" for question in family]
            ids += [(question.uuid, question.raw_uuid) for question in compress(family, approved)]
            signed.append(signatures[approved])
        for first, doubles in _exact(connection):
            for other in doubles:
                remarks["duplicates"].add(other, f"the same as {first}")
        with doing("comparing questions"):
            fetch = partial(by_uuid, connection)
            pairs = near_pairs(ids, np.concatenate(signed), fetch) if ids else ()
            for later, earlier in pairs:
                remarks["near duplicates"].add(later, f"nearly the same as {earlier}")
    return BankCheck(bank=bank, n_questions=n, remarks=remarks)


def _statement_faults(parent: BankQuestion, statements: Sequence[BankQuestion]) -> Iterator[str]:
    """Faults of the true/false statements that an expansion made of a multiple-choice question.

    There must be one statement for each option, and one of them true (figure 7).
    """
    true = sum(statement.answer == "true" for statement in statements)
    if len(statements) != len(parent.options):
        made = count(len(statements), "statement")
        yield f"{made} of {count(len(parent.options), 'option')}"
    if true != 1:
        yield f"{true} of {count(len(statements), 'statement')} are true, where one is"


def _families(
    connection: Connection,
) -> Iterator[tuple[list[BankQuestion], "NDArray[np.uint32]"]]:
    """Yield the siblings of each family with their signatures, without rejected questions."""
    wanted = (
        select(*COLUMNS, QUESTIONS.c.signature)
        .where(QUESTIONS.c.status != "rejected")
        .order_by(QUESTIONS.c.raw_uuid, QUESTIONS.c.uuid)
    )
    rows = connection.execution_options(yield_per=AT_ONCE).execute(wanted)
    for _, group in groupby(rows, key=lambda row: row.raw_uuid):
        family = list(group)
        yield [question_from(row) for row in family], signatures_from(family)


def _family_faults(
    family: Sequence[BankQuestion], connection: Connection
) -> Iterator[tuple[Kind, str, str]]:
    by_uuid = {question.uuid: question for question in family}
    first = family[0]
    for other in family[1:]:
        if other.category != first.category:
            yield "siblings", other.uuid, f"is in another category than its sibling {first.uuid}"
    made: dict[tuple[str, str], list[BankQuestion]] = {}
    for question in family:
        if question.parent and question.parent not in by_uuid:
            yield "parents", question.uuid, _parent_fault(question, connection)
        elif question.parent == question.uuid:
            yield "parents", question.uuid, "is its own parent"
        elif question.parent and question.type == "true_false":
            made.setdefault((question.parent, question.made_by), []).append(question)
    for (parent, by), statements in made.items():
        if by_uuid[parent].type == "multiple_choice":
            for fault in _statement_faults(by_uuid[parent], statements):
                yield "statements", parent, f"{fault} ({by or 'made by nobody knows whom'})"


def _parent_fault(question: BankQuestion, connection: Connection) -> str:
    wanted = select(QUESTIONS.c.status, QUESTIONS.c.raw_uuid)
    parent = connection.execute(wanted.where(QUESTIONS.c.uuid == question.parent)).first()
    if parent is None:
        return f"its parent {question.parent} is not in the bank"
    if parent.raw_uuid != question.raw_uuid:
        return f"its parent {question.parent} has another raw_uuid"
    return f"its parent {question.parent} is rejected"


def _exact(connection: Connection) -> Iterator[tuple[str, list[str]]]:
    """Yield the id of the first of several equal questions, and those of the others."""
    kept = QUESTIONS.c.status != "rejected"
    twice = select(QUESTIONS.c.digest).where(kept).group_by(QUESTIONS.c.digest)
    wanted = (
        select(QUESTIONS.c.digest, QUESTIONS.c.uuid)
        .where(kept, QUESTIONS.c.digest.in_(twice.having(func.count() > 1)))
        .order_by(QUESTIONS.c.digest, QUESTIONS.c.import_id, QUESTIONS.c.uuid)
    )
    for _, group in groupby(connection.execute(wanted), key=lambda row: row.digest):
        first, *doubles = (row.uuid for row in group)
        yield first, doubles
