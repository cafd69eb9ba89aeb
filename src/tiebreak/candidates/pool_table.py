"""A pool's table as it lies in a Parquet file: checked, and read row by row.

Anyone can write such a file, and disks damage them. What is not as `write_parquet` leaves it is an
error that names the file, not something that comes up later as a wrong number.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiebreak.candidates.errors import CandidateError
from tiebreak.candidates.json_text import parse_json
from tiebreak.candidates.pool import Note
from tiebreak.paths import problem_with

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

VERSION = 2
"""Version of the pools that are written, and the newest that can be read.

Version 2 keeps images and files of questions, the hash of their content, and settings.
"""
VERSION_KEY = b"tiebreak_pool"
NOTES_KEY = b"tiebreak_notes"
SETTINGS_KEY = b"tiebreak_settings"

OF_ITEM = ("input_hash", "prompt", "target", "choices", "tools", "metadata")
"""Columns that are the same in all rows of an item."""
_TEXTS_OF_ITEM = ("benchmark", "item_id", *OF_ITEM)
_TEXTS_OF_CANDIDATE = ("model", "text", "tool_calls", "source")

Settings = Mapping[tuple[str, str], Mapping[str, str]]

# What a file says of its columns: ours take some hundred bytes each.
_LARGEST_FOOTER = 64 * 2**20
# A thousand models repeat a question a thousand times; what repeats more is made to fill memory.
_MOST_TIMES = 1_000
_ALWAYS_READ = 2**30


@cache
def schema() -> "pa.Schema":
    """Columns of a pool, with their types."""
    # Arrow is imported only where it is needed: that takes most of a second.
    import pyarrow as pa

    # Large strings: texts of a big pool exceed the 2 GB that a plain string column can address.
    text = pa.large_string()
    return pa.schema(
        [
            *(pa.field(name, text, nullable=False) for name in _TEXTS_OF_ITEM),
            pa.field("epoch", pa.int64(), nullable=False),
            *(pa.field(name, text, nullable=False) for name in _TEXTS_OF_CANDIDATE),
            pa.field("native_score", pa.float64()),
            pa.field("native_metric", text),
            pa.field("stop_reason", text),
            pa.field("input_tokens", pa.int64()),
            pa.field("output_tokens", pa.int64()),
            pa.field("media", text),
            pa.field("content_hash", text),
        ]
    )


def is_pool(path: Path) -> bool:
    """Whether a readable Parquet file was written by `write_parquet`.

    Raises:
        CandidateError: It is not a Parquet file, or a damaged one.
    """
    with naming(path, "cannot be read as Parquet"):
        # Files of others may have a million columns: that they are no pools is seen before.
        return VERSION_KEY in _footer(path) and VERSION_KEY in _metadata(_opened(path))


def read_rows(path: Path) -> tuple[list[dict[str, Any]], tuple[Note, ...], Settings]:
    """The rows of a pool, each with the value of every column, its notes and its settings.

    Raises:
        CandidateError: The file is damaged, is not a Tiebreak pool, or is of a newer version.
    """
    if not is_pool(path):
        raise unreadable(path, "is Parquet, but not a pool written by Tiebreak")
    file = _opened(path)
    version = _metadata(file)[VERSION_KEY].decode("ascii", "replace")
    if version.isdecimal() and int(version[:9]) > VERSION:
        what = f"was written by a newer Tiebreak (pool version {version}; this one reads {VERSION})"
        raise unreadable(path, f"{what}: upgrade")
    there = file.schema_arrow.names
    if missing := [one.name for one in schema() if not (one.nullable or one.name in there)]:
        raise unreadable(path, f"lacks the column {missing[0]!r}")
    if twice := [one.name for one in schema() if there.count(one.name) > 1]:
        raise unreadable(path, f"has the column {twice[0]!r} twice")
    with naming(path, "is damaged"):
        notes = _notes(parse_json(_metadata(file).get(NOTES_KEY, b"[]")))
        settings = _settings(parse_json(_metadata(file).get(SETTINGS_KEY, b"[]")))
        columns = _columns(path, file)
        names = list(columns)
        rows = zip(*columns.values(), strict=True)
        return [dict(zip(names, row, strict=True)) for row in rows], notes, settings


def unreadable(path: Path, what: str) -> CandidateError:
    """The error for a file that is no pool."""
    return CandidateError.of("unreadable_log", path.as_posix(), what)


@contextmanager
def naming(path: Path, words: str) -> Iterator[None]:
    """Whatever damaged bytes make Arrow raise becomes an error that names the file."""
    import pyarrow as pa

    try:
        yield
    except CandidateError:
        raise
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        reason = " ".join(str(error).split())[:300]
        raise unreadable(path, f"{words} ({reason})") from error


def _footer(path: Path) -> bytes:
    """The end of a Parquet file: its columns, and what its writer noted."""
    if problem := problem_with(path):
        raise ValueError(f"it {problem}")
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - 8))
        size = int.from_bytes(file.read(4), "little")
        if size + 8 > end or file.read(4) != b"PAR1":
            raise ValueError("it has no end as Parquet has it, and may be cut off")
        if size > _LARGEST_FOOTER:
            raise ValueError(f"its list of columns takes {size // 2**20:,} MB")
        file.seek(end - 8 - size)
        return file.read(size)


def _opened(path: Path, *dictionaries: str) -> "pq.ParquetFile":
    import pyarrow.parquet as pq

    return pq.ParquetFile(path, read_dictionary=list(dictionaries))


def _metadata(file: "pq.ParquetFile") -> Mapping[bytes, bytes]:
    return file.schema_arrow.metadata or {}


def _columns(path: Path, file: "pq.ParquetFile") -> dict[str, list[Any]]:
    """The values of all columns of a pool; null where one that may be absent is."""
    about = file.metadata
    texts = sum(about.row_group(n).total_byte_size for n in range(about.num_row_groups))
    size = max(texts, about.num_rows * len(schema()) * 8)
    if size > max(_ALWAYS_READ, _MOST_TIMES * path.stat().st_size):
        raise ValueError(f"its rows would take {size // 2**20:,} MB")
    there = {one.name: one for one in file.schema_arrow if one.name in schema().names}
    if texts < 2**31:  # the limit of one dictionary
        # An item's texts are the same in all of its rows, and so are many answers: one copy each.
        file = _opened(path, *(name for name, one in there.items() if _is_text(one.type)))
    table = file.read(list(there))
    nothing = [None] * table.num_rows
    return {
        one.name: _values(table[one.name], one) if one.name in there else nothing
        for one in schema()
    }


def _values(column: "pa.ChunkedArray", wanted: "pa.Field") -> list[Any]:
    import pyarrow as pa

    if column.null_count and not wanted.nullable:
        raise ValueError(f"its column {wanted.name!r} has rows without a value")
    held = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    fits = (
        _is_text(held)
        if _is_text(wanted.type)
        else pa.types.is_integer(held)
        or (pa.types.is_floating(held) and pa.types.is_floating(wanted.type))
    )
    if not (fits or pa.types.is_null(held)):
        raise ValueError(f"its column {wanted.name!r} holds {held}, not {wanted.type}")
    values: list[Any] = []
    for chunk in column.chunks:
        chunk.validate(full=True)  # damaged pages hold places of texts that are not there
        if pa.types.is_dictionary(chunk.type):
            texts = chunk.dictionary.to_pylist()
            values += [None if n is None else texts[n] for n in chunk.indices.to_pylist()]
        else:
            values += chunk.cast(wanted.type).to_pylist()
    return values


def _is_text(kind: "pa.DataType") -> bool:
    import pyarrow as pa

    return kind in (pa.string(), pa.large_string(), pa.string_view())


def _notes(listed: Any) -> tuple[Note, ...]:
    if not isinstance(listed, list):
        raise ValueError("its notes are no list")
    for note in listed:
        if not (isinstance(note, list) and len(note) == 3 and all(map(_is_str, note))):
            raise ValueError("its notes are not lists of a kind, a place and a text")
    return tuple(Note(*note) for note in listed)


def _settings(listed: Any) -> Settings:
    settings = {}
    for entry in listed if isinstance(listed, list) else [None]:
        if not (isinstance(entry, list) and len(entry) == 3 and all(map(_is_str, entry[:2]))):
            raise ValueError("its settings are not lists of a benchmark, a model and settings")
        benchmark, model, values = entry
        if not (isinstance(values, dict) and all(map(_is_str, values.values()))):
            raise ValueError("its settings are not texts")
        settings[benchmark, model] = values
    return settings


def _is_str(value: object) -> bool:
    return isinstance(value, str)
