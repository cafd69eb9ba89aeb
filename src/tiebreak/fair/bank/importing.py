"""Import files of questions into a bank: all or nothing, streaming, each file once.

Rows are read, checked and put into a temporary table of one connection (`Staging`). In this time
the bank is only read, and no transaction is open between reads, so that a server can go on writing
sessions. Then one transaction, for which others wait some seconds, copies all into the bank.

    a fault of format, a repeated id  nothing is imported, unless faulty rows are to be skipped
    the same text and options         the later question is left out and named
    nearly the same                   the later question becomes a draft, which is not asked until
                                      somebody approves it; or it is left out, or kept

A question that is already in the bank, with the same id and fields, is not changed.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from tiebreak.fair.bank import reading
from tiebreak.fair.bank.duplicates import key_of, near_pairs
from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.question import BankQuestion, Remarks, faults_of
from tiebreak.fair.bank.rows import (
    AT_ONCE,
    COLUMNS,
    FIELDS,
    parts,
    question_from,
    rows_of,
    signatures_from,
)
from tiebreak.fair.bank.schema import IMPORTS, QUESTIONS
from tiebreak.progress import doing
from tiebreak.text import listed

if TYPE_CHECKING:
    from numpy.typing import NDArray

NearDuplicates = Literal["draft", "skip", "keep"]

_STAGED = sa.Table(
    "staged_questions",
    sa.MetaData(),
    *(
        sa.Column(column.name, column.type, primary_key=column.primary_key, nullable=False)
        for column in QUESTIONS.columns
    ),
    prefixes=["TEMPORARY"],
)


@dataclass(slots=True)
class FileCounts:
    """Numbers of a file's rows by what was done with them."""

    name: str
    digest: str
    before: str = ""
    """Time of an earlier import of this file, ISO 8601; then no row is read. Otherwise ""."""
    rows: int = 0
    faulty: int = 0
    known: int = 0
    duplicates: int = 0
    near: int = 0
    imported: int = 0
    category: str = ""
    """Category of the `without_category` rows that have no field for it: the file's name."""
    without_category: int = 0


@dataclass(slots=True, kw_only=True)
class ImportReport:
    """Result of an import; `refused` is true if nothing was imported because of faults."""

    bank: str
    near_duplicates: NearDuplicates
    refused: bool = False
    files: list[FileCounts]
    faults: Remarks
    duplicates: Remarks
    near: Remarks
    unread: list[str]

    @property
    def n_imported(self) -> int:
        """Number of questions that were added to the bank."""
        return sum(file.imported for file in self.files)


def import_files(
    engine: sa.Engine,
    sources: Sequence[reading.Source],
    *,
    bank: str = "",
    skip_faulty: bool = False,
    near_duplicates: NearDuplicates = "draft",
    fields: reading.Fields = reading.AS_THEY_ARE,
    most_shown: int = 20,
) -> ImportReport:
    """Import the questions of files into a bank; for the rules see above.

    The report has the name `bank` and at most `most_shown` remarks of each kind. With
    `skip_faulty`, rows without faults are imported even if others have some. `near_duplicates` is
    what to do with near duplicates of earlier questions. `fields` maps other names of fields and
    gives missing ones; a row without a field for its category gets the file's name.

    Raises:
        BankError: a file cannot be read, has no row, or lacks a name that `fields` maps; or another
            import ran at the same time.
    """
    report = ImportReport(
        bank=bank,
        near_duplicates=near_duplicates,
        files=[],
        faults=Remarks(most_shown),
        duplicates=Remarks(most_shown),
        near=Remarks(most_shown),
        unread=[],
    )
    with Staging(engine) as staging:
        run = _Import(staging, report, skip_faulty, fields)
        for source in sources:
            run.read(source)
        if run.names and (missing := [name for name in fields.names if name not in run.names]):
            raise BankError(f"no row has {missing[0]!r}; they have {listed(sorted(run.names))}")
        report.unread.sort()
        if not report.refused:
            with doing("comparing questions"):
                run.settle(run.near_pairs())
            with doing("writing questions"):
                staging.take_over(report.files, datetime.now(UTC))
    return report


class Staging:
    """The temporary table of an import, and its connection; used in a `with` block."""

    def __init__(self, engine: sa.Engine) -> None:
        self._connection = engine.connect()

    def __enter__(self) -> Self:
        _STAGED.create(self._connection)
        self._connection.commit()
        self._empty = self._scalar(sa.select(sa.func.count()).select_from(QUESTIONS)) == 0
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.rollback()
        _STAGED.drop(self._connection)
        self._connection.commit()
        self._connection.close()

    def imported_before(self, digest: str) -> str:
        """Time when a file with this digest was imported, ISO 8601; "" if never."""
        return self._scalar(sa.select(IMPORTS.c.at).where(IMPORTS.c.digest == digest)) or ""

    def known(
        self, uuids: Sequence[str], digests: Sequence[str]
    ) -> tuple[dict[str, BankQuestion], dict[str, BankQuestion]]:
        """Questions of the bank with one of these ids or digests, by id and by digest."""
        by_uuid: dict[str, BankQuestion] = {}
        by_digest: dict[str, BankQuestion] = {}
        if self._empty:
            return by_uuid, by_digest
        for ids, contents in zip(parts(uuids), parts(digests), strict=True):
            same = sa.or_(QUESTIONS.c.uuid.in_(ids), QUESTIONS.c.digest.in_(contents))
            wanted = sa.select(*COLUMNS, QUESTIONS.c.digest).where(same)
            for row in self._connection.execute(wanted):
                question = question_from(row)
                by_uuid[row.uuid] = question
                by_digest.setdefault(row.digest, question)
        self._connection.commit()
        return by_uuid, by_digest

    def lay(self, rows: Sequence[dict[str, Any]]) -> None:
        """Insert rows into the temporary table."""
        self._connection.execute(sa.insert(_STAGED), rows)
        self._connection.commit()

    def signed(self) -> Iterator[tuple[list[tuple[str, str]], "NDArray[np.uint32]"]]:
        """Yield the bank's questions in batches: ids with raw ids, and signatures."""
        if self._empty:
            return
        wanted = sa.select(*COLUMNS, QUESTIONS.c.signature).order_by(QUESTIONS.c.uuid)
        result = self._connection.execution_options(yield_per=AT_ONCE).execute(wanted)
        for rows in result.partitions():
            yield [(row.uuid, row.raw_uuid) for row in rows], signatures_from(rows)
        self._connection.commit()

    def questions(self, uuids: Sequence[str]) -> dict[str, BankQuestion]:
        """Questions by id, from the bank and from the temporary table."""
        by_uuid = {}
        for part in parts(uuids):
            for table in (QUESTIONS, _STAGED):
                wanted = sa.select(*(table.c[name] for name in FIELDS)).where(
                    table.c.uuid.in_(part)
                )
                for row in self._connection.execute(wanted):
                    by_uuid[row.uuid] = question_from(row)
        self._connection.commit()
        return by_uuid

    def make_drafts(self, uuids: Sequence[str]) -> None:
        """Turn questions of the temporary table into drafts."""
        for part in parts(uuids):
            some = _STAGED.c.uuid.in_(part)
            self._connection.execute(sa.update(_STAGED).where(some).values(status="draft"))
        self._connection.commit()

    def leave_out(self, uuids: Sequence[str]) -> None:
        """Delete questions from the temporary table."""
        for part in parts(uuids):
            self._connection.execute(sa.delete(_STAGED).where(_STAGED.c.uuid.in_(part)))
        self._connection.commit()

    def take_over(self, files: Sequence[FileCounts], at: datetime) -> None:
        """Copy all rows to the bank, in one transaction, and count the questions of each file.

        The `import_id` of rows in the temporary table is the number of their file, from 1.

        Raises:
            BankError: one of the questions or files was added to the bank in the meantime.
        """
        columns = [column for column in _STAGED.columns if column.name != "import_id"]
        names = [*(column.name for column in columns), "import_id"]
        try:
            with self._connection.begin():
                for number, file in enumerate(files, start=1):
                    if file.before:
                        continue
                    of_file = _STAGED.c.import_id == number
                    values = {"name": file.name, "digest": file.digest, "n_questions": 0}
                    imported = sa.insert(IMPORTS).values(
                        **values, at=at.isoformat(timespec="seconds")
                    )
                    # Write before reading: SQLite may refuse to turn a reader into a writer.
                    [key] = self._connection.execute(imported).inserted_primary_key or (0,)
                    counted: sa.Select[Any] = sa.select(sa.func.count()).where(of_file)
                    file.imported = self._connection.execute(counted).scalar_one()
                    same = sa.update(IMPORTS).where(IMPORTS.c.id == key)
                    self._connection.execute(same.values(n_questions=file.imported))
                    rows = sa.select(*columns, sa.literal(key)).where(of_file)
                    self._connection.execute(sa.insert(QUESTIONS).from_select(names, rows))
        except IntegrityError as error:
            raise BankError(
                "Another import changed the bank meanwhile; nothing was imported. Run it again."
            ) from error

    def _scalar(self, wanted: sa.Select[Any]) -> Any:
        value = self._connection.execute(wanted).scalar()
        self._connection.commit()
        return value


class _Import:
    """State of one import while its files are read."""

    def __init__(
        self, staging: Staging, report: ImportReport, skip_faulty: bool, fields: reading.Fields
    ) -> None:
        self.staging, self.report, self.skip_faulty = staging, report, skip_faulty
        self.fields = fields
        self.names: set[str] = set()  # of the fields in all files
        # Of the staged questions: ids in order with raw ids, signatures, file and row of each.
        self.ids: list[tuple[str, str]] = []
        self.signed: list[NDArray[np.uint32]] = []
        self.places: dict[str, tuple[FileCounts, int]] = {}
        self.contents: dict[bytes, tuple[str, int]] = {}

    def read(self, source: reading.Source) -> None:
        """Check the rows of a file, and stage them as long as there is no fault."""
        digest = source.digest()
        before = self.staging.imported_before(digest)
        if any(file.digest == digest for file in self.report.files):
            before = "in this call"
        file = FileCounts(source.name, digest, before, category=Path(source.name).stem)
        self.report.files.append(file)
        rows = source.rows() if not before else iter(())
        with doing(f"reading {source.name}") as activity:
            while chunk := list(islice(rows, AT_ONCE)):
                file.rows += len(chunk)
                self._chunk(file, chunk)
                activity.done = file.rows
        if not (before or file.rows):
            raise BankError(f"{source.name} has no questions: give a file with one a row")

    def _chunk(self, file: FileCounts, chunk: Sequence[tuple[int, reading.Row | str]]) -> None:
        sound = list(self._valid_rows(file, chunk))
        rows = rows_of([question for _, question, _ in sound], import_id=len(self.report.files))
        by_uuid, by_digest = self.staging.known(
            [question.uuid for _, question, _ in sound], [row["digest"] for row in rows]
        )
        fresh = []
        for (number, question, own_id), row in zip(sound, rows, strict=True):
            where = f"{file.name}:{number}"
            digest = bytes.fromhex(row["digest"])
            if fault := self._id_fault(question, by_uuid.get(question.uuid), own_id=own_id):
                file.faulty += 1
                self._add_fault(where, fault)
            elif question.uuid in by_uuid:
                file.known += 1
            elif double := self._double(question, digest, by_digest.get(row["digest"])):
                file.duplicates += 1
                self.report.duplicates.add(where, double)
            else:
                self.ids.append((question.uuid, question.raw_uuid))
                self.places[question.uuid] = file, number
                self.contents[digest] = question.uuid, hash(key_of(question))
                fresh.append(row)
        if fresh and not self.report.refused:
            self.staging.lay(fresh)
            signed = np.frombuffer(b"".join(row["signature"] for row in fresh), dtype="<u4")
            self.signed.append(signed.reshape(len(fresh), -1))

    def _valid_rows(
        self, file: FileCounts, chunk: Sequence[tuple[int, reading.Row | str]]
    ) -> Iterator[tuple[int, BankQuestion, bool]]:
        """Yield rows without faults of format: number, question, and whether the row has an id."""
        for number, row in chunk:
            faults: tuple[str, ...] = (row,) if isinstance(row, str) else ()
            if not isinstance(row, str):
                self.names.update(row)
                row = self.fields.of(row)
                if not reading.has_category(row):
                    file.without_category += 1
                    row = {**row, "category": file.category}
                columns = reading.unread(tuple(row))
                self.report.unread += [name for name in columns if name not in self.report.unread]
                try:
                    question = reading.question_of(row)
                    faults = faults_of(question)
                except BankError as error:
                    faults = (str(error),)
                if not faults:
                    yield number, question, reading.has_uuid(row)
            file.faulty += bool(faults)
            for fault in faults:
                self._add_fault(f"{file.name}:{number}", fault)

    def _add_fault(self, where: str, fault: str) -> None:
        self.report.faults.add(where, fault)
        self.report.refused = not self.skip_faulty

    def _id_fault(self, question: BankQuestion, kept: BankQuestion | None, *, own_id: bool) -> str:
        """Fault of the id, or ""; an id that was made of the content may occur again."""
        if kept is not None and (other := _differences(question, kept)):
            return f"{question.uuid} is in the bank already, with another {', '.join(other)}"
        if own_id and question.uuid in self.places:
            return f"{question.uuid} a second time, after {self._name(question.uuid)}"
        return ""

    def _double(self, question: BankQuestion, digest: bytes, kept: BankQuestion | None) -> str:
        """Text that names an exact duplicate of the question, or "" if there is none."""
        if kept:
            another = "" if key_of(kept) == key_of(question) else ", with another key"
            return f"the same as {kept.uuid} in the bank{another}"
        if first := self.contents.get(digest):
            another = "" if first[1] == hash(key_of(question)) else ", with another key"
            return f"the same as {self._name(first[0])}{another}"
        return ""

    def _name(self, uuid: str) -> str:
        if uuid not in self.places:
            return f"{uuid} in the bank"
        file, number = self.places[uuid]
        return f"{file.name}:{number}"

    def near_pairs(self) -> Iterator[tuple[str, str]]:
        """Yield the ids of staged near duplicates, each with the id of an earlier question."""
        if not self.ids:
            return iter(())
        ids: list[tuple[str, str]] = []
        signed: list[NDArray[np.uint32]] = []
        for some, signatures in self.staging.signed():
            ids += some
            signed.append(signatures)
        first_new = len(ids)
        signatures = np.concatenate(signed + self.signed)
        self.signed = []
        return near_pairs(ids + self.ids, signatures, self.staging.questions, first_new=first_new)

    def settle(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Report near duplicates, and turn them into drafts, leave them out or keep them."""
        doubles = []
        for uuid, earlier in pairs:
            file, _ = self.places[uuid]
            file.near += 1
            self.report.near.add(self._name(uuid), f"nearly the same as {self._name(earlier)}")
            doubles.append(uuid)
        if self.report.near_duplicates == "draft":
            self.staging.make_drafts(doubles)
        elif self.report.near_duplicates == "skip":
            self.staging.leave_out(doubles)


def _differences(first: BankQuestion, other: BankQuestion) -> list[str]:
    """Fields in which two questions differ, without the status, which changes in the bank."""
    return [
        name for name in FIELDS if name != "status" and getattr(first, name) != getattr(other, name)
    ]
