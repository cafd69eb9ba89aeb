"""Rows of JSON lines, CSV and Parquet, each with its place.

What is wrong with a file is a ValueError, to be said after the file's name.
"""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TextIO

from tiebreak.json_text import parse_json
from tiebreak.packed import unpacked, unpacked_name
from tiebreak.paths import problem_with

Placed = tuple[str, Any]
"""Where a row stands ("line 3", or "row 3" where there are no lines), and the row."""

ENDS: Final = (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet")
"""What the names of such files end in; before `.gz` or `.zst` where they are packed."""

# A line is held as a whole, and what is no text may have no line end.
_LONGEST_LINE: Final = 256 * 2**20


def rows_of(path: Path) -> Iterator[Placed]:
    """The rows of a file by its name; what ends in neither .csv, .tsv nor .parquet is JSON lines.

    Raises:
        ValueError: it cannot be read, or is damaged; the message says where.
    """
    if problem := problem_with(path):
        raise ValueError(problem)
    try:
        if path.suffix == ".parquet":
            yield from _parquet_rows(path)
        elif unpacked_name(path.name).endswith((".csv", ".tsv")):
            with unpacked(path) as plain, plain.open(encoding="utf-8-sig", newline="") as file:
                yield from _csv_rows(file)
        else:
            yield from json_rows(path)
    except OSError as error:
        raise ValueError(f"cannot be opened ({error.strerror or error})") from error


def json_rows(path: Path) -> Iterator[Placed]:
    """The values of JSON lines, or of one JSON array.

    Raises:
        ValueError: a line is damaged, or longer than 256 MB, or the file is packed badly.
        OSError: it cannot be opened.
    """
    if problem := problem_with(path):
        raise ValueError(problem)
    lines = enumerate(_lines(path), start=1)
    for number, line in lines:
        if len(line) == _LONGEST_LINE:
            raise ValueError(f"line {number} is longer than {_LONGEST_LINE:,} bytes")
        if not line.strip():
            continue
        if number == 1 and line.lstrip().startswith(b"["):  # lm-eval 0.4.2 wrote one JSON array
            rows = enumerate(_json(line + b"".join(more for _, more in lines)), start=1)
            yield from ((f"row {place}", row) for place, row in rows)
            return
        try:
            row = _json(line)
        except ValueError as error:
            raise ValueError(f"line {number} {error}") from error
        yield f"line {number}", row


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of a file, unpacked; a ValueError says what is wrong with how it is packed.

    Only a newline ends a line of JSON. A very long one comes in pieces.
    """
    with unpacked(path) as plain, plain.open("rb") as file:
        while line := file.readline(_LONGEST_LINE):
            yield line


def _json(text: bytes) -> Any:
    try:
        return parse_json(text)
    except ValueError as error:  # JSON and UTF-8 errors alike
        shown = str(error)[:100]
        raise ValueError(f"is not JSON, the file may be cut off ({shown})") from error


def _csv_rows(file: TextIO) -> Iterator[Placed]:
    """The separator is that of comma, semicolon and tab which makes most columns of the header.

    Cells stay as they are: a prompt may begin with blanks.
    """
    csv.field_size_limit(_LONGEST_LINE)
    line = 1
    try:
        head = file.readline(_LONGEST_LINE)
        sign = max(",;\t", key=lambda sign: len(next(csv.reader([head], delimiter=sign), [])))
        file.seek(0)
        reader = csv.reader(file, delimiter=sign, strict=True)
        names = [name.strip() for name in next(reader, [])]
        if len(set(names)) < len(names):
            raise ValueError(f"has two columns of one name: {', '.join(names):.200}")
        line = reader.line_num + 1
        for cells in reader:
            if len(cells) not in (0, len(names)):
                counts = f"{len(cells)} cells under {len(names)} column names"
                raise ValueError(f"line {line} has {counts}: put cells with {sign!r} in quotes")
            if any(map(str.strip, cells)):
                yield f"line {line}", dict(zip(names, cells, strict=True))
            line = reader.line_num + 1
    except UnicodeDecodeError as error:
        raise ValueError(f"is not text in UTF-8 (byte {error.start}): save it so") from error
    except csv.Error as error:
        how = 'quotes around a cell match, and one inside it is written twice ("")'
        raise ValueError(f"line {line} is not CSV ({error}): see that {how}") from error


def _parquet_rows(path: Path) -> Iterator[Placed]:
    # Arrow is imported only where it is needed: that takes most of a second.
    import pyarrow
    import pyarrow.parquet

    number = 0
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(1_000):
                for row in batch.to_pylist():
                    number += 1
                    yield f"row {number}", row
    except (pyarrow.ArrowException, ValueError, OverflowError) as error:  # such as the year 0
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"cannot be read as Parquet after row {number} ({reason})") from error
