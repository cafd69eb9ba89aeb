"""Where an import lays its questions until it is known that all of them may come in.

A temporary table of one connection: until `take_over` the bank itself is only read, and between
those readings no transaction is open, so nobody waits for an import but in its last seconds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy import (
    Column,
    Engine,
    MetaData,
    Select,
    Table,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)

from tiebreak.bank.question import BankQuestion
from tiebreak.bank.rows import AT_ONCE, COLUMNS, FIELDS, question_from, signatures_from
from tiebreak.bank.schema import IMPORTS, QUESTIONS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_STAGED = Table(
    "staged_questions",
    MetaData(),
    *(
        Column(column.name, column.type, primary_key=column.primary_key, nullable=False)
        for column in QUESTIONS.columns
    ),
    prefixes=["TEMPORARY"],
)
_PARTS = 500  # ids in one condition


@dataclass(frozen=True, slots=True)
class Known:
    """Questions that the bank has: by id, and by the digest of their content."""

    by_uuid: dict[str, BankQuestion]
    by_digest: dict[str, BankQuestion]


class Staging:
    """The temporary table, with the connection that has it; used in a `with` block."""

    def __init__(self, engine: Engine) -> None:
        self._connection = engine.connect()

    def __enter__(self) -> Self:
        _STAGED.create(self._connection)
        self._connection.commit()
        self._empty = self._one(select(func.count()).select_from(QUESTIONS)) == 0
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.rollback()
        _STAGED.drop(self._connection)
        self._connection.commit()
        self._connection.close()

    def imported_before(self, digest: str) -> str:
        """When a file with this digest was imported, ISO 8601; empty if never."""
        return self._one(select(IMPORTS.c.at).where(IMPORTS.c.digest == digest)) or ""

    def known(self, uuids: Sequence[str], digests: Sequence[str]) -> Known:
        """The bank's questions that have one of these ids or digests."""
        found = Known({}, {})
        if self._empty:
            return found
        for start in range(0, len(uuids), _PARTS):
            part = slice(start, start + _PARTS)
            same = or_(QUESTIONS.c.uuid.in_(uuids[part]), QUESTIONS.c.digest.in_(digests[part]))
            wanted = select(*COLUMNS, QUESTIONS.c.digest).where(same)
            for row in self._connection.execute(wanted):
                question = question_from(row)
                found.by_uuid[row.uuid] = question
                found.by_digest.setdefault(row.digest, question)
        self._connection.commit()
        return found

    def lay(self, rows: Sequence[dict[str, Any]]) -> None:
        """Put rows of the questions' table here."""
        self._connection.execute(insert(_STAGED), rows)
        self._connection.commit()

    def signed(self) -> Iterator[tuple[list[tuple[str, str]], "NDArray[np.uint32]"]]:
        """The bank's questions by `AT_ONCE`: ids with raw ids, and signatures."""
        if self._empty:
            return
        wanted = select(*COLUMNS, QUESTIONS.c.signature).order_by(QUESTIONS.c.uuid)
        result = self._connection.execution_options(yield_per=AT_ONCE).execute(wanted)
        for rows in result.partitions():
            yield [(row.uuid, row.raw_uuid) for row in rows], signatures_from(rows)
        self._connection.commit()

    def questions(self, uuids: Sequence[str]) -> dict[str, BankQuestion]:
        """Questions by id, from the bank and from here."""
        found = {}
        for start in range(0, len(uuids), _PARTS):
            part = uuids[start : start + _PARTS]
            for table in (QUESTIONS, _STAGED):
                wanted = select(*(table.c[name] for name in FIELDS)).where(table.c.uuid.in_(part))
                for row in self._connection.execute(wanted):
                    found[row.uuid] = question_from(row)
        self._connection.commit()
        return found

    def make_drafts(self, uuids: Sequence[str]) -> None:
        """Questions laid here become drafts."""
        for start in range(0, len(uuids), _PARTS):
            some = _STAGED.c.uuid.in_(uuids[start : start + _PARTS])
            self._connection.execute(update(_STAGED).where(some).values(status="draft"))
        self._connection.commit()

    def leave_out(self, uuids: Sequence[str]) -> None:
        """Questions laid here are not taken over."""
        for start in range(0, len(uuids), _PARTS):
            some = _STAGED.c.uuid.in_(uuids[start : start + _PARTS])
            self._connection.execute(delete(_STAGED).where(some))
        self._connection.commit()

    def take_over(self, files: Sequence[tuple[int, str, str]], at: datetime) -> list[int]:
        """Put everything into the bank, in one transaction.

        Args:
            files: number (the `import_id` of its rows here), name and digest of each.
            at: now.

        Returns:
            How many questions came from each file.

        Raises:
            IntegrityError: one has come into the bank meanwhile.
        """
        counts = []
        others = [column for column in _STAGED.columns if column.name != "import_id"]
        with self._connection.begin():
            for number, name, digest in files:
                mine: Select[Any] = select(func.count()).where(_STAGED.c.import_id == number)
                values = {"name": name, "digest": digest, "at": at.isoformat(timespec="seconds")}
                # A write before any reading: SQLite does not turn a reader into a writer.
                done = self._connection.execute(insert(IMPORTS).values(**values, n_questions=0))
                [key] = done.inserted_primary_key or (0,)
                n = self._connection.execute(mine).scalar_one()
                same = IMPORTS.c.id == key
                self._connection.execute(update(IMPORTS).where(same).values(n_questions=n))
                rows = select(*others, literal(key)).where(_STAGED.c.import_id == number)
                names = [*(column.name for column in others), "import_id"]
                self._connection.execute(insert(QUESTIONS).from_select(names, rows))
                counts.append(n)
        return counts

    def _one(self, wanted: Select[Any]) -> Any:
        found = self._connection.execute(wanted).scalar()
        self._connection.commit()
        return found
