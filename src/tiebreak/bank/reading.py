"""Files of questions, row by row: JSON, JSON lines, Parquet, CSV, and datasets on the Hub.

No file is held in memory as a whole.
"""

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tiebreak.bank.errors import BankError
from tiebreak.bank.rows import FIELDS
from tiebreak.paths import MISSING, problem_with
from tiebreak.tables.delimited import unsafe

Row = Mapping[str, Any]

EXAMPLE: Final = "example"
"""The name of the questions that come with the package."""

_BATCH: Final = 2_000
_SEPARATORS: Final = ",;\t"


@dataclass(frozen=True, slots=True)
class Source:
    """A file of questions, and how it is called: its path, or its address on the Hub."""

    name: str
    path: Path

    def digest(self) -> str:
        """SHA-256 of the file."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def rows(self) -> Iterator[tuple[int, Row | str]]:
        """Rows by number, from 1: of JSON lines and CSV that of the line on which a row ends.

        A row that cannot be read is a text that says why.

        Raises:
            BankError: the file, or what is left of it, cannot be read.
        """
        read = _READERS[self.path.suffix.lower()]
        try:
            yield from read(self.path)
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise BankError(f"{self.name} cannot be read: {error}") from error
        except BankError as error:
            raise BankError(f"{self.name}: {error}") from error


def sources_of(paths: tuple[str, ...]) -> list[Source]:
    """The files at these paths and addresses; datasets are downloaded.

    Args:
        paths: files, hf://datasets/OWNER/NAME[@REVISION][/FILE], or OWNER/NAME where no file has
            that name. Of a dataset its Parquet files, otherwise those of the next format.
            "example" is the file that comes with the package, where no file has that name.

    Raises:
        BankError: there is no such file or dataset, or it is of another format.
    """
    return [source for path in paths for source in _sources(path)]


def _sources(path: str) -> list[Source]:
    from tiebreak.candidates.hub import is_on_hub

    if is_on_hub(path):
        return _on_hub(path)
    file, problem = Path(path), problem_with(path)
    if path == EXAMPLE and problem:
        return [Source(EXAMPLE, Path(__file__).parent / "example" / "questions.jsonl")]
    if problem == MISSING and path.count("/") == 1 and not file.suffix:
        return _on_hub(f"hf://datasets/{path}")
    if problem not in ("", MISSING):
        raise BankError(f"{path} {problem}")
    if not file.is_file():
        raise BankError(f"{path} is no file")
    if file.suffix.lower() not in _READERS:
        raise BankError(f"{path} is none of {', '.join(_READERS)}")
    return [Source(path, file)]


def _on_hub(text: str) -> list[Source]:
    from tiebreak.candidates import CandidateError
    from tiebreak.candidates.hub import HubAddress, snapshot

    try:
        address = HubAddress.parse(text)
        folder = snapshot(address, [address.file or f"*{suffix}" for suffix in _READERS])
    except CandidateError as error:
        raise BankError(str(error)) from error
    if address.file:
        if Path(address.file).suffix.lower() not in _READERS:
            raise BankError(f"{text} is none of {', '.join(_READERS)}")
        if not (folder / address.file).is_file():
            raise BankError(f"{text}: the dataset has no such file")
        return [Source(text, folder / address.file)]
    for suffixes in ((".parquet",), (".jsonl", ".ndjson"), (".json",), (".csv",)):
        found = sorted(file for file in folder.rglob("*") if file.suffix.lower() in suffixes)
        if found:
            return [Source(f"{text}/{file.relative_to(folder).as_posix()}", file) for file in found]
    raise BankError(f"{text} holds no file of questions ({', '.join(_READERS)})")


def _json_lines(path: Path) -> Iterator[tuple[int, Row | str]]:
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, start=1):
            if not line.isspace():
                yield number, _parsed(line)


def _parsed(line: str) -> Row | str:
    try:
        return _mapping(json.loads(line))
    except json.JSONDecodeError as error:
        return f"is no JSON ({error.msg} in column {error.colno})"
    except (ValueError, RecursionError) as error:  # a number, or a nesting, without end
        return f"is no JSON that can be read ({error})"


def _json(path: Path) -> Iterator[tuple[int, Row | str]]:
    """The objects of one array, or JSON lines under the wrong name."""
    import ijson

    with path.open("rb") as file:
        start = file.read(1_024).removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if start == b"{":
        yield from _json_lines(path)
        return
    with path.open("rb") as file:
        if file.read(3) != b"\xef\xbb\xbf":
            file.seek(0)
        number = 0
        try:
            for number, value in enumerate(ijson.items(file, "item", use_float=True), start=1):
                yield number, _mapping(value)
        except ijson.JSONError as error:
            raise BankError(f"is no JSON after row {number} ({error})") from error
    if number == 0 and start != b"[":
        raise BankError("holds neither an array of questions nor one on each line")


def _parquet(path: Path) -> Iterator[tuple[int, Row | str]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(_BATCH):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
    except (pa.ArrowException, ValueError, OverflowError) as error:  # such as the year 0
        raise BankError(f"cannot be read as Parquet ({error})") from error


def _csv(path: Path) -> Iterator[tuple[int, Row | str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        start = above = 0
        while (header := file.readline()) and not header.strip(f"{_SEPARATORS} \r\n"):
            start, above = file.tell(), above + 1
        file.seek(start)
        reader = csv.DictReader(file, delimiter=max(_SEPARATORS, key=header.count), strict=True)
        names = tuple(reader.fieldnames or ())
        if twice := [name for name, times in Counter(names).items() if times > 1]:
            raise BankError(f"two columns are named {twice[0]!r:.80}; rename one")
        for row in reader:
            line = above + reader.line_num
            if None in row or None in row.values():
                yield line, "has more or fewer cells than the header"
            else:
                # In files of others an apostrophe before a sign may well be a quotation mark.
                yield line, _unsafe(row) if names == FIELDS else row


def _unsafe(row: Mapping[str, str]) -> Row:
    return {name: unsafe(cell) for name, cell in row.items()}


def _mapping(value: Any) -> Row | str:
    return value if isinstance(value, Mapping) else "is no object with fields"


_READERS: Final[dict[str, Callable[[Path], Iterator[tuple[int, Row | str]]]]] = {
    ".json": _json,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".parquet": _parquet,
    ".csv": _csv,
}
