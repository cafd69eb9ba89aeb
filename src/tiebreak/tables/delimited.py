"""Read text files with one record per line: CSV as people and spreadsheets write it.

The separator is the one of comma, semicolon and tab that splits all lines into equally many cells,
and the header into the most. In a file with semicolons a comma inside a number is the decimal mark.
The encoding is UTF-8, with or without a byte order mark; line ends are Unix's or Windows's; blanks
around a cell are ignored, and so are lines whose cells are all empty.
"""

import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, TextIO

from tiebreak.rows import Place, csv_rows, named, separator_of
from tiebreak.tables.errors import TableError, UnreadableFileError, require_path, shown
from tiebreak.text import listed

CSV = (".csv", ".tsv", ".txt")

MISSING = frozenset({"", "nan", "na", "n/a", "null", "none", "-", "–", "—"})
"""Cells that stand for "no number", in upper or lower case."""

MOST_BYTES = 500_000_000
"""Size of the largest file that is read; in memory it takes about ten times as much."""

# Beginning of a formula, also with full-width characters, or the apostrophe that prevents one.
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠']|[\t\r\n]")
_LIKE_A_NUMBER = re.compile(r"(?=.*\d).{1,32}|\s*(?:true|false)\s*", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")  # float() takes more


class Row(NamedTuple):
    """Cells by column name, and the line of the file at which the row begins."""

    line: int
    cells: dict[str, str]


@dataclass(frozen=True, slots=True)
class Delimited:
    """A file with a header line; every row has a cell for every column.

    `place` is the word for a row's number in messages: "line", or e.g. "row" in a file without
    lines. `columns` maps meanings to names of columns (see `named`). `texts` caches the columns in
    which no cell is a number; `lines` has the line of each key that may occur only `once`.
    """

    path: Path
    header: tuple[str, ...]
    rows: tuple[Row, ...]
    decimal: str
    place: str = "line"
    columns: Mapping[str, str] = field(default_factory=dict)
    texts: set[str] = field(default_factory=set, compare=False, repr=False)
    lines: dict[object, int] = field(default_factory=dict, compare=False, repr=False)

    def named(
        self, reserved: Mapping[str, str], otherwise: Mapping[str, str] | None = None
    ) -> "Delimited":
        """Return a copy whose cells are named by the meaning of their columns.

        Args:
            reserved: meaning of each name in lower case; other columns keep their names.
            otherwise: fallback names, in order, for meanings that no other column has.

        Raises:
            TableError: two columns have the same meaning.
        """
        given = {name.casefold(): name for name in self.header}
        columns: dict[str, str] = {}
        for name in self.header:
            meaning = reserved.get(name.casefold())
            if meaning in columns:
                both = f"{shown(columns[meaning])} and {shown(name)}"
                raise TableError(f"{self.path}: the columns {both} mean the same; keep one")
            if meaning is not None:
                columns[meaning] = name
        for name, meaning in (otherwise or {}).items():
            if name in given:
                columns.setdefault(meaning, given[name])
        keys = {name: name for name in self.header}
        keys |= {name: meaning for meaning, name in columns.items()}
        rows = tuple(
            Row(row.line, {keys[name]: cell for name, cell in row.cells.items()})
            for row in self.rows
        )
        return replace(self, rows=rows, columns=columns)

    def require(self, needed: Iterable[str], form: str) -> None:
        """Check that there are columns with these meanings.

        Raises:
            TableError: a column is missing; `form` says which columns the file should have.
        """
        for meaning in needed:
            if meaning not in self.columns:
                raise TableError(f"{self.path}: there is no column {meaning!r}; {form}")

    def unread(self) -> list[str]:
        """A sentence that lists the columns without a meaning, or [] if there are none."""
        names = [shown(name) for name in self.header if name not in self.columns.values()]
        return [f"{self.path}: columns not read: {listed(names)}"] if names else []

    def empty(self, column: str, lines: Iterable[int]) -> list[str]:
        """A sentence that lists the lines with an empty cell, or [] if there are none."""
        numbers = [str(line) for line in lines]
        where = f"{self.place}{'s' * (len(numbers) > 1)} {listed(numbers)}"
        return [f"{self.path}: no {column} in {where}"] if numbers else []

    def number(
        self, row: Row, column: str, sign: str = "", *, if_text: str = "take it out"
    ) -> float:
        """A cell as a number, without the suffix `sign`; NaN if it stands for "no number".

        `if_text` is the advice for a column in which no cell is a number.

        Raises:
            TableError: the cell is not a finite number.
        """
        value = self._number(row, column, sign)
        if value is None or math.isfinite(value):
            return math.nan if value is None else value
        text = row.cells[column].removesuffix(sign).rstrip()
        help_ = "leave the cell empty where there is none"
        if column in self.texts or not any(
            number is not None and math.isfinite(number)
            for number in (self._number(other, column, sign) for other in self.rows)
        ):
            self.texts.add(column)
            help_ = f"all of the column is text: {if_text}"
        raise self.wrong(row, f"{shown(text)} is not a finite number; {help_}", column)

    def _number(self, row: Row, column: str, sign: str) -> float | None:
        """A cell as a number; None if it is missing, NaN or infinite if it is no finite number."""
        text = row.cells[column].removesuffix(sign).rstrip()
        if text.lower() in MISSING:
            return None
        plain = text.replace(",", ".") if self.decimal == "," else text
        return float(plain) if _NUMBER.fullmatch(plain) else math.nan

    def rank(self, row: Row, column: str, *, if_text: str = "write ranks as numbers") -> float:
        """A cell as a rank; NaN if it stands for "not ranked". `if_text` as for `number`.

        Raises:
            TableError: the cell is not a finite number from 0 on.
        """
        rank = self.number(row, column, if_text=if_text)
        # Exports write −1 for "none"; as a rank it would be the best of all.
        if rank < 0:
            help_ = "leave the cell empty for 'not ranked'"
            raise self.wrong(row, f"the rank {rank:g} is below 0; {help_}", column)
        return rank

    def label(self, row: Row, column: str, missing: str) -> str:
        """A cell that must not be empty; `missing` is the message of the TableError otherwise."""
        if text := row.cells[column]:
            return text
        raise self.wrong(row, f"{missing}; fill it in")

    def once(self, key: object, row: Row, claim: str) -> None:
        """Remember the line of `key`, which may occur once; `claim` begins the error message.

        Raises:
            TableError: it occurs a second time.
        """
        if key in self.lines:
            first = f"after {self.place} {self.lines[key]}; keep one of the two"
            raise self.wrong(row, f"{claim} a second time, {first}")
        self.lines[key] = row.line

    def wrong(self, row: Row, message: str, column: str | None = None) -> TableError:
        """Make an error that names the file, the line and the column."""
        where = "" if column is None else f", column {shown(self.columns.get(column, column))}"
        return TableError(f"{self.path}, {self.place} {row.line}{where}: {message}")


def safe(text: str, *, numbers: bool = False) -> str:
    """Put an apostrophe before a text that a spreadsheet would take for a formula.

    With `numbers`, also before one that it would turn into a number, a date or a truth value.
    """
    risky = _FORMULA.match(text) or (numbers and _LIKE_A_NUMBER.fullmatch(text))
    return f"'{text}" if risky else text


def unsafe(cell: str, *, numbers: bool = False) -> str:
    """Undo `safe`; a cell that `safe` did not write is returned unchanged."""
    rest = cell.removeprefix("'")
    return rest if rest != cell and safe(rest, numbers=numbers) != rest else cell


def read_bytes(path: Path) -> bytes:
    """Read a whole file.

    Raises:
        TableError: it does not exist.
        UnreadableFileError: it cannot be opened, or has more than `MOST_BYTES`.
    """
    require_path(path)
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise UnreadableFileError(
                f"{path} has {size / 1e6:,.0f} MB, more than the {MOST_BYTES / 1e6:,.0f} MB that "
                "are read; give a part of it"
            )
        return path.read_bytes()
    except OSError as error:
        reason = error.strerror or error
        raise UnreadableFileError(f"{path} cannot be opened ({reason}); give a file") from error


def read_text(path: Path) -> str:
    """Read a text file in UTF-8, without its byte order mark.

    Raises:
        TableError: it does not exist.
        UnreadableFileError: it is not UTF-8, or as for `read_bytes`.
    """
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableFileError(
            f"{path} is not text in UTF-8 (byte {error.start}); save it as UTF-8, which a "
            "spreadsheet calls 'CSV UTF-8'"
        ) from error


def read_delimited(path: Path, *, numbers: bool = False) -> Delimited:
    """Read a file with a header line, undoing `safe` (with the same `numbers`) in its cells.

    Raises:
        TableError: it does not exist; a column has no name, or two have the same; a row has more or
            fewer cells than the header; there is no row.
        UnreadableFileError: quotes do not match, or as for `read_text`.
    """

    def fault(place: Place, message: str) -> None:
        raise TableError(f"{path}, {place}: {message}")

    header, decimal, records = delimited_rows(path, numbers=numbers)
    rows = [Row(place.number, cells) for place, cells in named(header, records, fault)]
    if not rows:
        raise TableError(f"{path} holds no row below a header line; give at least one")
    return Delimited(path, header, tuple(rows), decimal)


def delimited_rows(
    path: Path, *, numbers: bool = False
) -> tuple[tuple[str, ...], str, Iterator[tuple[int, list[str]]]]:
    """Header, decimal mark, and an iterator over the line number and the cells of each row."""
    file = io.StringIO(read_text(path), newline="")  # as csv asks for: line ends stay
    separator = separator_of(file)
    records = _records(path, file, separator, numbers)
    _, names = next(records, (0, []))
    return _header(path, names), "," if separator == ";" else ".", records


def _records(
    path: Path, file: TextIO, separator: str, numbers: bool
) -> Iterator[tuple[int, list[str]]]:
    try:
        for line, cells in csv_rows(file, separator):
            yield line, [unsafe(cell.strip(), numbers=numbers) for cell in cells]
    except ValueError as error:
        raise UnreadableFileError(f"{path}, {error}") from error


def _header(path: Path, names: list[str]) -> tuple[str, ...]:
    seen: set[str] = set()
    for number, name in enumerate(names, start=1):
        if not name:
            raise TableError(f"{path}: column {number} has no name; give it one or take it out")
        if name in seen:
            raise TableError(f"{path}: two columns are named {shown(name)}; rename one")
        seen.add(name)
    return tuple(names)
