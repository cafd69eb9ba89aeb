"""Convert questions to rows of the bank's table, and back."""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final, TypeVar

from sqlalchemy import Connection, Engine, Row, select

from tiebreak.fair.bank.duplicates import PERMUTATIONS, digest_of, normal_parts, signatures
from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.question import BankQuestion
from tiebreak.fair.bank.schema import QUESTIONS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

FIELDS: Final = tuple(field.name for field in fields(BankQuestion))
"""Columns of the table that are fields of a question."""

AT_ONCE: Final = 2_000
"""Number of rows that are read or written at once."""

_VALUES_AT_ONCE: Final = 500
"""Number of values in one statement; SQLite accepts some thousands."""

COLUMNS: Final = tuple(QUESTIONS.c[name] for name in FIELDS)


def rows_of(questions: Sequence[BankQuestion], *, import_id: int = 0) -> list[dict[str, Any]]:
    """Rows to insert, with digest and signature; `import_id` 0 means that no file had them."""
    if not questions:
        return []
    normals = [normal_parts(question) for question in questions]
    signed = signatures(normals)
    return [
        {
            **{name: getattr(question, name) for name in FIELDS},
            "options": list(question.options),
            "digest": digest_of(normal),
            "signature": signature.astype("<u4").tobytes(),
            "import_id": import_id,
        }
        for question, normal, signature in zip(questions, normals, signed, strict=True)
    ]


def question_from(row: "Row[*tuple[Any, ...]]") -> BankQuestion:
    """Make a question of a row that has at least `COLUMNS`."""
    values = {name: getattr(row, name) for name in FIELDS}
    return BankQuestion(**{**values, "options": tuple(values["options"])})


def questions_in(connection: Connection, *where: Any) -> Iterator[BankQuestion]:
    """Yield the questions of a bank that satisfy the conditions, by id."""
    wanted = select(*COLUMNS).where(*where).order_by(QUESTIONS.c.uuid)
    for row in connection.execution_options(yield_per=AT_ONCE).execute(wanted):
        yield question_from(row)


def questions(engine: Engine, uuids: Sequence[str]) -> list[BankQuestion]:
    """The questions with these uuids, in this order; raise BankError if the bank lacks one."""
    with engine.connect() as connection:
        by_id = by_uuid(connection, uuids)
    if missing := [uuid for uuid in uuids if uuid not in by_id]:
        raise BankError(f"the bank has no question {missing[0]} (any more)", kind="missing")
    return [by_id[uuid] for uuid in uuids]


def by_uuid(
    connection: Connection, uuids: Sequence[str], *, locked: bool = False
) -> dict[str, BankQuestion]:
    """The questions that the bank has; `locked` locks the rows, if the database can do that."""
    by_id: dict[str, BankQuestion] = {}
    for part in parts(uuids):
        wanted = select(*COLUMNS).where(QUESTIONS.c.uuid.in_(part))
        for row in connection.execute(wanted.with_for_update() if locked else wanted):
            by_id[row.uuid] = question_from(row)
    return by_id


def parts(values: Sequence[T], most: int = _VALUES_AT_ONCE) -> Iterator[Sequence[T]]:
    """Split values into parts of at most `most`, by default as many as fit into a statement."""
    return (values[start : start + most] for start in range(0, len(values), most))


def signatures_from(rows: "Sequence[Row[*tuple[Any, ...]]]") -> "NDArray[np.uint32]":
    """Signatures of rows; all are computed anew if one has another length."""
    import numpy as np

    size = PERMUTATIONS * 4
    if all(len(row.signature) == size for row in rows):
        signed = np.frombuffer(b"".join(row.signature for row in rows), dtype="<u4")
        return signed.reshape(len(rows), PERMUTATIONS).astype(np.uint32)
    return signatures([normal_parts(question_from(row)) for row in rows])
