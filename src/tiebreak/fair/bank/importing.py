"""Files of questions into a bank: all or nothing, streaming, each file once.

Rows are read, checked and laid into a temporary table of one connection (`Staging`): until they are
taken over the bank itself is only read, and between those readings no transaction is open, so a
server goes on writing sessions, and nobody waits for an import but in its last seconds. Then one
transaction takes all over.

    a fault of format, an id twice    nothing is imported, unless faulty rows are to be skipped
    the same text and options         the later question is left out and named
    nearly the same                   the later question becomes a draft, which is not asked until
                                      somebody approves it; or it is left out, or kept

A question that the bank has already, with its id and all its fields, stays as it is.
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
    """What became of the rows of a file."""

    name: str
    digest: str
    before: str = ""
    """When this file was imported before, ISO 8601; then no row is read."""
    rows: int = 0
    faulty: int = 0
    known: int = 0
    duplicates: int = 0
    near: int = 0
    imported: int = 0
    category: str = ""
    """That of `without_category` rows, which have no field for it: the file's name."""
    without_category: int = 0


@dataclass(slots=True, kw_only=True)
class ImportReport:
    """What an import did; `refused` says that it did nothing because of faults."""

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
        """How many questions the bank has more."""
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
    """Take the questions of files into a bank: see above.

    The report has the name `bank`, and `most_shown` remarks of each kind. `skip_faulty` imports the
    rows that have no fault, `near_duplicates` says what becomes of questions that are nearly those
    of earlier rows. `fields` says what the files call otherwise or lack; a row without a field for
    its category gets the file's name.

    Raises:
        BankError: a file cannot be read, has no row, or has none of the names that `fields` gives;
            or another import ran at the same time.
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
    """The temporary table, with the connection that has it; used in a `with` block."""

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
        """When a file with this digest was imported, ISO 8601; empty if never."""
        return self._scalar(sa.select(IMPORTS.c.at).where(IMPORTS.c.digest == digest)) or ""

    def known(
        self, uuids: Sequence[str], digests: Sequence[str]
    ) -> tuple[dict[str, BankQuestion], dict[str, BankQuestion]]:
        """The bank's questions that have one of these ids or digests, by id and by digest."""
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
        """Put rows of the questions' table here."""
        self._connection.execute(sa.insert(_STAGED), rows)
        self._connection.commit()

    def signed(self) -> Iterator[tuple[list[tuple[str, str]], "NDArray[np.uint32]"]]:
        """The bank's questions by `AT_ONCE`: ids with raw ids, and signatures."""
        if self._empty:
            return
        wanted = sa.select(*COLUMNS, QUESTIONS.c.signature).order_by(QUESTIONS.c.uuid)
        result = self._connection.execution_options(yield_per=AT_ONCE).execute(wanted)
        for rows in result.partitions():
            yield [(row.uuid, row.raw_uuid) for row in rows], signatures_from(rows)
        self._connection.commit()

    def questions(self, uuids: Sequence[str]) -> dict[str, BankQuestion]:
        """Questions by id, from the bank and from here."""
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
        """Questions laid here become drafts."""
        for part in parts(uuids):
            some = _STAGED.c.uuid.in_(part)
            self._connection.execute(sa.update(_STAGED).where(some).values(status="draft"))
        self._connection.commit()

    def leave_out(self, uuids: Sequence[str]) -> None:
        """Questions laid here are not taken over."""
        for part in parts(uuids):
            self._connection.execute(sa.delete(_STAGED).where(_STAGED.c.uuid.in_(part)))
        self._connection.commit()

    def take_over(self, files: Sequence[FileCounts], at: datetime) -> None:
        """Put everything into the bank, in one transaction, and count what came from each file.

        Rows here have the number of their file, from 1, as `import_id`.

        Raises:
            BankError: a question, or a file, has come into the bank meanwhile.
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
                    # A write before any reading: SQLite does not turn a reader into a writer.
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
    """The rows of one call, as they are read."""

    def __init__(
        self, staging: Staging, report: ImportReport, skip_faulty: bool, fields: reading.Fields
    ) -> None:
        self.staging, self.report, self.skip_faulty = staging, report, skip_faulty
        self.fields = fields
        self.names: set[str] = set()  # of the fields in all files
        # Of what was laid: ids in order with raw ids, signatures, file and row of each.
        self.ids: list[tuple[str, str]] = []
        self.signed: list[NDArray[np.uint32]] = []
        self.places: dict[str, tuple[FileCounts, int]] = {}
        self.contents: dict[bytes, tuple[str, int]] = {}

    def read(self, source: reading.Source) -> None:
        """Check the rows of a file, and lay them out as long as nothing is wrong."""
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
        """Rows without a fault of format: number, question, whether it has an id of its own."""
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
        """What is wrong with the id; one that was made of the content may come again."""
        if kept is not None and (other := _differences(question, kept)):
            return f"{question.uuid} is in the bank already, with another {', '.join(other)}"
        if own_id and question.uuid in self.places:
            return f"{question.uuid} a second time, after {self._name(question.uuid)}"
        return ""

    def _double(self, question: BankQuestion, digest: bytes, kept: BankQuestion | None) -> str:
        """Which question is exactly the same, in words."""
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
        """Ids of laid questions that are near duplicates, each with an earlier one of its kind."""
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
        """Note near duplicates, and make of them what is wanted."""
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
    """The fields in which two questions differ; a status changes in the bank, and counts not."""
    return [
        name for name in FIELDS if name != "status" and getattr(first, name) != getattr(other, name)
    ]
