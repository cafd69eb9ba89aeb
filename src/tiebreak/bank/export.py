"""Questions out of a bank: JSON lines, Parquet or CSV, which `bank import` reads again.

In CSV an apostrophe keeps spreadsheets from running a text as a formula (`delimited.safe`).

With keys and hints: for the owner of a bank, never for whoever is examined.
"""

import csv
import json
import os
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Engine

from tiebreak.bank.errors import BankError
from tiebreak.bank.question import BankQuestion, Status
from tiebreak.bank.rows import AT_ONCE, FIELDS, questions_in
from tiebreak.bank.schema import QUESTIONS
from tiebreak.tables.delimited import safe

Rows = Iterator[dict[str, Any]]


def export_questions(engine: Engine, path: str | Path, status: Status | None = None) -> int:
    """Write the questions of a bank to one file, which is replaced at once.

    Args:
        engine: the bank.
        path: ends in .jsonl, .parquet or .csv.
        status: write only those with this one.

    Returns:
        How many there are.

    Raises:
        BankError: the file's name ends in something else, or it cannot be written.
    """
    file = Path(path)
    write = _WRITERS.get(file.suffix.lower())
    if write is None:
        raise BankError(f"{file} is to be none of {', '.join(_WRITERS)}")
    draft = file.with_name(f".{file.name}.{os.getpid()}.writing")
    where = [] if status is None else [QUESTIONS.c.status == status]
    try:
        with engine.connect() as connection:
            n = write(draft, map(_row, questions_in(connection, *where)))
        draft.replace(file)
    except OSError as error:
        raise BankError(f"{file} cannot be written: {error}") from error
    finally:
        draft.unlink(missing_ok=True)
    return n


def _row(question: BankQuestion) -> dict[str, Any]:
    return {name: getattr(question, name) for name in FIELDS} | {"options": list(question.options)}


def _json_lines(path: Path, rows: Rows) -> int:
    n = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            n += 1
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return n


def _csv(path: Path, rows: Rows) -> int:
    n = 0
    # A byte order mark, since a spreadsheet takes the file for something else than UTF-8 otherwise.
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for row in rows:
            n += 1
            options = json.dumps(row["options"], ensure_ascii=False) if row["options"] else ""
            texts = row | {"options": options}
            writer.writerow({name: safe(text) for name, text in texts.items()})
    return n


def _parquet(path: Path, rows: Rows) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {"options": pa.list_(pa.string())}
    schema = pa.schema([pa.field(name, kinds.get(name, pa.string())) for name in FIELDS])
    n = 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        while some := list(islice(rows, AT_ONCE)):
            n += len(some)
            writer.write_table(pa.Table.from_pylist(some, schema))
    return n


_WRITERS: Final[dict[str, Callable[[Path, Rows], int]]] = {
    ".jsonl": _json_lines,
    ".parquet": _parquet,
    ".csv": _csv,
}
