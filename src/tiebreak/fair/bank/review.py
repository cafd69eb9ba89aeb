"""Review of questions by people: write a CSV file, and read it back with their decisions.

In the file they set `status`, and may edit the other fields in `EDITABLE`. A file is read back as a
whole or not at all, and each change is kept with its reviewer and time (table `reviews`). Rows that
have changed in the bank since they were written, shown by their digest, are refused by name.

Cells are safe in a spreadsheet: one that it would run as a formula or turn into a number or a date
gets an apostrophe in front, which is removed when the file is read.
"""

import csv
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Final, cast

from sqlalchemy import Connection, Engine, bindparam, insert, select, update

from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.question import STATUSES, BankQuestion, Status, faults_of
from tiebreak.fair.bank.rows import by_uuid, questions_in, rows_of
from tiebreak.fair.bank.schema import QUESTIONS, REVIEWS, now, writing
from tiebreak.paths import to_file
from tiebreak.tables.delimited import Row, read_delimited, safe
from tiebreak.tables.errors import TableError, shown
from tiebreak.text import count, listed

EDITABLE: Final = ("status", "question", "answer", "hint")
REQUIRED: Final = ("uuid", "digest", "status")
HEADER: Final = (
    "uuid",
    "status",
    "type",
    "question",
    "options",
    "answer",
    "hint",
    "category",
    "parent",
    "made_by",
    "digest",
)

_MOST_SHOWN: Final = 10
# Maximum number of characters of a cell in Excel, which cuts off the rest when it opens a file.
_LONGEST_CELL: Final = 32_767


@dataclass(frozen=True, slots=True)
class Change:
    """One field of one question, before and after."""

    uuid: str
    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Reviewed:
    """Result of reading a file: its number of rows, and the changes made in the bank."""

    n_rows: int
    changes: tuple[Change, ...] = field(repr=False)

    def n_to(self, status: Status) -> int:
        """Number of questions that got this status."""
        return sum(change.field == "status" and change.after == status for change in self.changes)

    @property
    def n_edited(self) -> int:
        """Number of questions whose text, key or hint was changed."""
        return len({change.uuid for change in self.changes if change.field != "status"})

    @property
    def n_unchanged(self) -> int:
        """Number of rows that changed nothing."""
        return self.n_rows - len({change.uuid for change in self.changes})


def digest_of_row(question: BankQuestion) -> str:
    """40 digits of the SHA-256 of all fields, by which changes of a question are found."""
    content = json.dumps(asdict(question), ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:40]


def write_review(engine: Engine, out: Path, statuses: Iterable[Status] = ("draft",)) -> int:
    """Write questions of some statuses to a new CSV file that only its owner can read; count them.

    No file is written if there are none.

    Raises:
        BankError: the file exists.
        OSError: the file cannot be written.
    """
    n = 0
    with engine.connect() as connection:
        questions = questions_in(connection, QUESTIONS.c.status.in_(list(statuses)))
        first = next(questions, None)
        if first is None:
            return n
        try:
            # Without a byte order mark, spreadsheets do not read the file as UTF-8.
            out.touch(mode=0o600, exist_ok=False)
            with to_file(out), out.open("w", encoding="utf-8-sig", newline="") as file:
                writer = csv.writer(file, quoting=csv.QUOTE_ALL)
                writer.writerow(HEADER)
                for question in chain([first], questions):
                    writer.writerow(_cells(question))
                    n += 1
        except FileExistsError as error:
            raise BankError(
                f"{out} exists, and may hold what somebody decided: choose another --out"
            ) from error
    return n


def read_review(engine: Engine, path: Path, reviewer: str = "") -> Reviewed:
    """Apply people's decisions to the bank: all rows of a file, or none.

    Rows may be in any order, and rows and columns other than the required ones may be missing; a
    spreadsheet may have saved the file. Reading it again changes nothing. The reviewer is kept with
    each change.

    Raises:
        BankError: it is not such a file, or rows cannot be applied; the message names them.
    """
    try:
        table = read_delimited(path, numbers=True)
    except TableError as error:
        raise BankError(str(error)) from error
    if missing := [name for name in REQUIRED if name not in table.header]:
        raise BankError(f"{path} lacks the column {', '.join(missing)}: write it with --out")
    if unknown := [name for name in table.header if name not in HEADER]:
        named = listed([*map(shown, unknown)])
        raise BankError(f"{path}: the column {named} means nothing here; remove it")
    with writing(engine) as connection:
        changed, problems = _compare(connection, table.rows)
        problems += _duplicates(connection, changed)
        if problems:
            lines = [f"line {line}: {why}" for line, why in sorted(problems)[:_MOST_SHOWN]]
            more = len(problems) - len(lines)
            lines += [f"… and {more:,} more"] if more else []
            raise BankError(
                f"{path}: {count(len(problems), 'row')} cannot be taken over, so nothing was "
                "changed:\n" + "\n".join(lines)
            )
        changes = tuple(
            Change(new.uuid, name, getattr(old, name), getattr(new, name))
            for _, old, new in changed
            for name in EDITABLE
            if getattr(old, name) != getattr(new, name)
        )
        _store(connection, changed, changes, reviewer)
    return Reviewed(len(table.rows), changes)


def note_changes(connection: Connection, changes: Sequence[Change], reviewer: str) -> None:
    """Store changes in the table of reviews; must be the last step of a transaction."""
    if changes:
        if connection.dialect.name == "postgresql":
            # One writer at a time, so that a reader of the largest id sees all smaller ones.
            connection.exec_driver_sql("LOCK TABLE reviews IN EXCLUSIVE MODE")
        kept = [{**asdict(change), "at": now(), "reviewer": reviewer} for change in changes]
        connection.execute(insert(REVIEWS), kept)


_Changed = list[tuple[int, BankQuestion, BankQuestion]]
_Problems = list[tuple[int, str]]


def _cells(question: BankQuestion) -> list[str]:
    values = _texts(question) | {"digest": digest_of_row(question)}
    ordered = ((name, values[name]) for name in HEADER)
    return [text if name == "status" else safe(text, numbers=True) for name, text in ordered]


def _texts(question: BankQuestion) -> dict[str, str]:
    """The fields of a question as texts of the file, without the digest."""
    lettered = zip(ascii_uppercase, question.options, strict=False)
    options = "\n".join(f"{letter}. {option}" for letter, option in lettered)
    fields = {name: str(getattr(question, name)) for name in HEADER if name != "digest"}
    return {**fields, "options": options}


def _compare(connection: Connection, rows: Sequence[Row]) -> tuple[_Changed, _Problems]:
    """Changed questions with their lines, and problems of rows that cannot be applied."""
    changed: _Changed = []
    problems: _Problems = []
    kept = by_uuid(connection, [row.cells["uuid"] for row in rows], locked=True)
    lines: dict[str, int] = {}
    for row in rows:
        uuid = row.cells["uuid"]
        if uuid not in kept:
            problems.append((row.line, f"{uuid[:64] or 'an empty uuid'} is not in the bank"))
        elif uuid in lines:
            problems.append((row.line, f"{uuid} a second time, after line {lines[uuid]}"))
        else:
            lines[uuid] = row.line
            old = kept[uuid]
            new = _edited(old, row)
            if isinstance(new, str):
                problems.append((row.line, f"{uuid}: {new}"))
            elif new != old:
                changed.append((row.line, old, new))
    return changed, problems


def _edited(old: BankQuestion, row: Row) -> BankQuestion | str:
    """The question with the edits of a row, or the reason why they are refused."""
    texts = _texts(old)
    # Spreadsheets change line ends, and blanks around cells get lost.
    given = {name: _lines(cell).strip() for name, cell in row.cells.items() if name != "digest"}
    given["status"] = given["status"].casefold()
    if old.type == "true_false" and "answer" in given:
        given["answer"] = given["answer"].casefold()
    edits = {name: text for name, text in given.items() if text != _lines(texts[name]).strip()}
    if not edits:
        return old
    if row.cells["digest"] != digest_of_row(old):
        return "it was changed in the bank since; write it out again"
    if fixed := [name for name in edits if name not in EDITABLE]:
        return f"{', '.join(fixed)} cannot be changed here"
    if given["status"] not in STATUSES:
        return f"the status {shown(given['status'])} is none of {', '.join(STATUSES)}"
    long = [name for name in edits if len(texts[name]) >= _LONGEST_CELL]
    if cut := [name for name in long if _lines(texts[name]).strip().startswith(edits[name])]:
        return f"a spreadsheet cut off the end of {', '.join(cut)}; leave out that column"
    status = cast("Status", edits.pop("status", old.status))
    new = replace(old, status=status, **cast("dict[str, Any]", edits))
    if (edits or status == "approved") and (faults := faults_of(new)):
        return "; ".join(faults)
    return new


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _duplicates(connection: Connection, changed: _Changed) -> _Problems:
    """Problems of rows whose new text equals that of another question in the bank or the file."""
    edited = [(line, new) for line, old, new in changed if old.question != new.question]
    problems: _Problems = []
    taken: dict[str, tuple[str, str]] = {}
    q = QUESTIONS.c
    for (line, new), row in zip(edited, rows_of([new for _, new in edited]), strict=True):
        same = select(q.uuid).where(q.digest == row["digest"], q.raw_uuid != new.raw_uuid)
        first, raw_uuid = taken.setdefault(row["digest"], (new.uuid, new.raw_uuid))
        other = connection.execute(same).scalar() or (first if raw_uuid != new.raw_uuid else None)
        if other is not None:
            problems.append((line, f"{new.uuid}: the same question as {other}"))
    return problems


def _store(
    connection: Connection, changed: _Changed, changes: Sequence[Change], reviewer: str
) -> None:
    decided = [new for _, old, new in changed if new.question == old.question]
    edited = rows_of([new for _, old, new in changed if new.question != old.question])
    _update(connection, [asdict(question) for question in decided], EDITABLE)
    # Digest and signature, which find duplicates, depend on the text.
    _update(connection, edited, (*EDITABLE, "digest", "signature"))
    note_changes(connection, changes, reviewer)


def _update(connection: Connection, rows: Sequence[dict[str, Any]], names: Sequence[str]) -> None:
    if rows:
        named: dict[str, Any] = {name: bindparam(f"new_{name}") for name in names}
        statement = update(QUESTIONS).where(QUESTIONS.c.uuid == bindparam("of_uuid"))
        values = [
            {"of_uuid": row["uuid"], **{f"new_{name}": row[name] for name in names}} for row in rows
        ]
        connection.execute(statement.values(named), values)
