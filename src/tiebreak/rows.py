"""Reader of rows with their places, from JSON lines, a JSON list, CSV or Parquet.

A problem with a file raises ValueError, with a message worded to follow the file's name. A problem
with a row is passed to `on_fault`, worded to follow the row's place, and reading continues.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn, TextIO

from tiebreak.json_text import parse_json
from tiebreak.packed import unpacked, unpacked_name
from tiebreak.paths import problem_with


class Place(NamedTuple):
    """Where a row begins: its line number, or its row number if there are no lines, from 1."""

    unit: str
    number: int

    def __str__(self) -> str:
        return f"{self.unit} {self.number}"


Placed = tuple[Place, Any]
Fault = Callable[[Place, str], object]

ENDS: Final = (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet")
"""Suffixes of files with rows, before a possible `.gz` or `.zst`."""

# Limits memory, because a line is read whole and a file that is not text may have no line end.
_LONGEST_LINE: Final = 256 * 2**20
_SEPARATORS: Final = (",", ";", "\t")
_MARK: Final = b"\xef\xbb\xbf"


def refuse(place: Place, message: str) -> NoReturn:
    """Default for `on_fault`: raise ValueError at the first bad row."""
    raise ValueError(f"{place}: {message}")


def rows_of(path: Path, on_fault: Fault = refuse) -> Iterator[Placed]:
    """Yield the rows of a file by its suffix: .csv, .tsv, .parquet; all others are JSON.

    Raises:
        ValueError: the file cannot be read or is damaged; the message says where.
    """
    if problem := problem_with(path):
        raise ValueError(problem)
    name = unpacked_name(path.name).lower()
    try:
        if name.endswith(".parquet"):
            yield from _parquet_rows(path)
        elif name.endswith((".csv", ".tsv")):
            with unpacked(path) as plain, plain.open(encoding="utf-8-sig", newline="") as file:
                yield from _csv_objects(file, on_fault)
        else:
            yield from json_rows(path, on_fault)
    except OSError as error:
        raise ValueError(f"cannot be opened ({error.strerror or error})") from error


def json_rows(path: Path, on_fault: Fault = refuse) -> Iterator[Placed]:
    """Yield the values of JSON lines, or of a single JSON list.

    Raises:
        ValueError: a line is longer than 256 MB, a list is damaged, or the file is packed badly.
        OSError: it cannot be opened.
    """
    if problem := problem_with(path):
        raise ValueError(problem)
    lines = enumerate(_lines(path), start=1)
    is_first = True
    for number, line in lines:
        place = Place("line", number)
        if len(line) == _LONGEST_LINE:
            raise ValueError(f"{place} is longer than {_LONGEST_LINE:,} bytes")
        if not line.strip():
            continue
        if is_first and line.removeprefix(_MARK).lstrip().startswith(b"["):
            try:
                values = parse_json(line + b"".join(more for _, more in lines))
            except ValueError as error:
                raise ValueError(_no_json(error)) from error
            yield from ((Place("row", n), value) for n, value in enumerate(values, start=1))
            return
        is_first = False
        try:
            row = parse_json(line)
        except ValueError as error:  # JSON and UTF-8 errors alike
            on_fault(place, re.sub(r"at line \d+ column", "at column", f"it {_no_json(error)}"))
        else:
            yield place, row


def holds_list(path: Path) -> bool:
    """Whether a JSON file begins with a list, which logs never do; OSError as `Path.open`."""
    with path.open("rb") as file:
        return file.read(1_024).removeprefix(_MARK).lstrip().startswith(b"[")


def _lines(path: Path) -> Iterator[bytes]:
    """Yield the unpacked lines of a file; ValueError if it is not packed correctly.

    Only a newline ends a line of JSON. A line above `_LONGEST_LINE` comes in pieces.
    """
    with unpacked(path) as plain, plain.open("rb") as file:
        while line := file.readline(_LONGEST_LINE):
            yield line


def _no_json(error: ValueError) -> str:
    return f"is not JSON; the file may be cut off ({str(error)[:100]})"


def separator_of(file: TextIO) -> str:
    """The separator that fits a CSV file best: comma, semicolon or tab.

    It gives all lines the same number of cells, and of several such the most columns.
    """
    return max(_SEPARATORS, key=lambda separator: _fit(file, separator))


def _fit(file: TextIO, separator: str) -> tuple[bool, int]:
    """Fit of a separator: whether all lines have the header's number of cells, and that number."""
    columns = 0
    try:
        for _, cells in csv_rows(file, separator):
            columns = columns or len(cells)
            if not len(cells) == columns > 1:
                return False, columns
    except ValueError:  # invalid quotes, perhaps only with this separator
        return False, columns
    return columns > 1, columns


def csv_rows(file: TextIO, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line on which each row begins, and its unchanged cells; blank rows are skipped.

    A file is read from its start.

    Raises:
        ValueError: quotes do not match, or the file is not text in UTF-8.
    """
    csv.field_size_limit(_LONGEST_LINE)
    file.seek(0)
    reader, line = csv.reader(file, delimiter=separator, strict=True), 1
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                yield line, cells
            line = reader.line_num + 1
    except UnicodeDecodeError as error:
        raise ValueError("is not text in UTF-8: save it so") from error
    except csv.Error as error:
        how = 'a cell in quotes must end with a quote, and a quote inside is written twice ("")'
        raise ValueError(f"line {line} is not CSV ({error}): {how}") from error


def named(
    names: Sequence[str], rows: Iterable[tuple[int, list[str]]], on_fault: Fault = refuse
) -> Iterator[tuple[Place, dict[str, str]]]:
    """Yield each row as a mapping from column names to cells, with its place."""
    for line, cells in rows:
        place = Place("line", line)
        if len(cells) == len(names):
            yield place, dict(zip(names, cells, strict=True))
        else:
            counts = f"{len(cells)} cells under {len(names)} column names"
            on_fault(place, f"{counts}; a cell that holds the separator must be in quotes")


def _csv_objects(file: TextIO, on_fault: Fault) -> Iterator[Placed]:
    """Rows of a CSV file as mappings; cells are not stripped, as a prompt may begin with blanks."""
    rows = csv_rows(file, separator_of(file))
    names = [name.strip() for name in next(rows, (0, []))[1]]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"two columns are named {twice[0]!r:.80}; rename one")
    yield from named(names, rows, on_fault)


@contextmanager
def parquet(path: Path) -> Iterator[Any]:
    """Open a Parquet file with pyarrow.

    Raises:
        ValueError: on opening or while reading: it is damaged.
        OSError: it cannot be opened.
    """
    # Importing Arrow takes most of a second, so it is done only when needed.
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            yield file
    except (ArrowException, ValueError, OverflowError) as error:  # e.g. the year 0
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"cannot be read as Parquet ({reason})") from error


def _parquet_rows(path: Path) -> Iterator[Placed]:
    number = 0
    with parquet(path) as file:
        for batch in file.iter_batches(1_000):
            for row in batch.to_pylist():
                number += 1
                yield Place("row", number), row
