"""Read and write pools as Parquet: one row per candidate, with the columns of its item repeated.

Nested values (choices, tools, metadata, tool calls) are JSON text, so that any reader of Parquet
can use the file; notes, settings and the version of the format are in the file's key-value
metadata. A reader takes the columns it knows. A new column that old readers can do without is
nullable and keeps the version; any other change raises it.

Anyone can write such a file, and disks damage files. Whatever `write_parquet` would not have
written is therefore an error that names the file, instead of a wrong number later.
"""

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tiebreak.candidates.errors import CandidateError
from tiebreak.candidates.lm_eval_runs import SAMPLES_ENDS
from tiebreak.candidates.pool import Candidate, CandidatePool, Item, ItemKey, Medium, Note
from tiebreak.candidates.records import Harness, LogRecord, Reading, ReadOptions, Row, item_name
from tiebreak.json_text import parse_json
from tiebreak.paths import problem_with, whole_file

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

VERSION = 2
"""Version of the format that is written, and the newest that can be read.

Version 2 added images and files of questions, the hash of their content, and settings.
"""
VERSION_KEY = b"tiebreak_pool"
NOTES_KEY = b"tiebreak_notes"
SETTINGS_KEY = b"tiebreak_settings"

OF_ITEM = ("input_hash", "prompt", "target", "choices", "tools", "metadata")
"""Columns that are the same in all rows of an item."""
_TEXTS_OF_ITEM = ("benchmark", "item_id", *OF_ITEM)
_TEXTS_OF_CANDIDATE = ("model", "text", "tool_calls", "source")

Settings = Mapping[tuple[str, str], Mapping[str, str]]

# In bytes. The footer describes the columns; each of ours takes some hundred bytes.
_LARGEST_FOOTER = 64 * 2**20
# Unpacked size / file size. With a thousand models a question is there a thousand times; a file
# that repeats its content more often is made to fill memory. Below 1 GB this does not matter.
_MOST_TIMES = 1_000
_ALWAYS_READ = 2**30


@cache
def schema() -> "pa.Schema":
    """Columns of a pool, with their types."""
    # Importing Arrow takes most of a second.
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
        CandidateError: it is not a Parquet file, or is damaged.
    """
    with naming(path, "cannot be read as Parquet"):
        # Other programs' files may have a million columns: search the footer before parsing it.
        return VERSION_KEY in _footer(path) and VERSION_KEY in _metadata(_opened(path))


def read_rows(path: Path) -> tuple[list[dict[str, Any]], tuple[Note, ...], Settings]:
    """Read the rows of a pool, each with all columns of the schema, its notes and its settings.

    Raises:
        CandidateError: the file is damaged, is not a Tiebreak pool, or is of a newer version.
    """
    if not is_pool(path):
        raise unreadable(path, "is Parquet, but not a pool written by Tiebreak")
    file = _opened(path)
    version = _metadata(file)[VERSION_KEY].decode("ascii", "replace")
    if version.isdecimal() and int(version[:9]) > VERSION:
        message = (
            f"was written by a newer Tiebreak (pool version {version}; this one reads {VERSION})"
        )
        raise unreadable(path, f"{message}: upgrade")
    present = file.schema_arrow.names
    if missing := [
        column.name for column in schema() if not (column.nullable or column.name in present)
    ]:
        raise unreadable(path, f"lacks the column {missing[0]!r}")
    if twice := [column.name for column in schema() if present.count(column.name) > 1]:
        raise unreadable(path, f"has the column {twice[0]!r} twice")
    with naming(path, "is damaged"):
        notes = _notes(parse_json(_metadata(file).get(NOTES_KEY, b"[]")))
        settings = _settings(parse_json(_metadata(file).get(SETTINGS_KEY, b"[]")))
        columns = _columns(path, file)
        names = list(columns)
        rows = zip(*columns.values(), strict=True)
        return [dict(zip(names, row, strict=True)) for row in rows], notes, settings


def unreadable(path: Path, message: str) -> CandidateError:
    """The error for a file that cannot be read as a pool."""
    return CandidateError.of("unreadable_log", path.as_posix(), message)


@contextmanager
def naming(path: Path, words: str) -> Iterator[None]:
    """Turn any error that Arrow raises on damaged bytes into one that names the file."""
    import pyarrow as pa

    try:
        yield
    except CandidateError:
        raise
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        reason = " ".join(str(error).split())[:300]
        raise unreadable(path, f"{words} ({reason})") from error


def _footer(path: Path) -> bytes:
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
    """Values of all columns of the schema; for an optional column that is absent, None per row."""
    about = file.metadata
    texts = sum(about.row_group(n).total_byte_size for n in range(about.num_row_groups))
    size = max(texts, about.num_rows * len(schema()) * 8)  # 8 bytes for each cell, even if empty
    if size > max(_ALWAYS_READ, _MOST_TIMES * path.stat().st_size):
        raise ValueError(f"its rows would take {size // 2**20:,} MB")
    present = {column.name: column for column in file.schema_arrow if column.name in schema().names}
    if texts < 2**31:  # the limit of one dictionary
        # Rows of an item share its texts, and many answers are equal: read one copy of each.
        file = _opened(path, *(name for name, column in present.items() if _is_text(column.type)))
    table = file.read(list(present))
    nothing = [None] * table.num_rows
    return {
        column.name: _values(table[column.name], column) if column.name in present else nothing
        for column in schema()
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
        chunk.validate(full=True)  # damaged pages can have offsets outside the text buffer
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
        raise ValueError("its notes are not a list")
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


T = TypeVar("T")

_PLAIN = (
    *("model", "text", "native_metric", "stop_reason", "input_tokens", "output_tokens", "source"),
)
"""Fields of a candidate that a row holds unchanged."""
_NESTED = ("choices", "tools", "metadata", "tool_calls", "media")


def write_parquet(pool: CandidatePool, path: str | Path) -> Path:
    """Write a pool to one Parquet file; `read_parquet` gives back an equal pool.

    The file is replaced atomically, so that an interrupted write leaves an earlier pool unchanged.
    An undefined native score (NaN) is written as null. Every item needs a candidate, because a row
    is a candidate. Parent folders of `path` are created. Returns `path`.

    Raises:
        ValueError: an item has no candidate, or a native score is infinite.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows: list[dict[str, Any]] = []
    for item, candidates in pool:
        if not candidates:
            raise ValueError(f"item {item.item_id!r} of {item.benchmark} has no candidate to write")
        if any(math.isinf(candidate.native_score) for candidate in candidates.values()):
            raise ValueError(f"item {item.item_id!r} of {item.benchmark} has an infinite score")
        shared = _cells(item)
        rows.extend(shared | _cells(candidate) for candidate in candidates.values())
    notes = json.dumps([[note.kind, note.where, note.what] for note in pool.notes])
    settings = json.dumps([[*key, dict(values)] for key, values in pool.settings.items()])
    metadata = {
        VERSION_KEY: str(VERSION).encode(),
        NOTES_KEY: notes.encode(),
        SETTINGS_KEY: settings.encode(),
    }
    columns = {name: [row[name] for row in rows] for name in schema().names}
    table = pa.table(columns, schema=schema().with_metadata(metadata))
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(file) as draft:
        pq.write_table(table, draft, compression="zstd")
    return file


def _cells(part: Item | Candidate) -> dict[str, Any]:
    values = {field.name: getattr(part, field.name) for field in fields(part)}
    values |= values.pop("key")._asdict()
    if isinstance(part, Candidate) and math.isnan(part.native_score):
        values["native_score"] = None
    return values | {name: json.dumps(values[name]) for name in _NESTED if name in values}


def read_parquet(path: str | Path) -> CandidatePool:
    """Read a pool that `write_parquet` wrote.

    Raises:
        CandidateError: the file is damaged, is not a Tiebreak pool, or is of a newer version; or
            an item has two questions, or two answers by one model.
    """
    file = Path(path)
    rows, notes, settings = read_rows(file)
    with naming(file, "is damaged"):
        items, candidates = _pool(rows)
    return CandidatePool(items, candidates, notes, settings)


def _pool(
    rows: Iterable[dict[str, Any]],
) -> tuple[tuple[Item, ...], dict[ItemKey, dict[str, Candidate]]]:
    """Make items and candidates of rows; raise ValueError for the first contradiction."""
    items: dict[ItemKey, Item] = {}
    texts: dict[ItemKey, tuple[str, ...]] = {}
    candidates: dict[ItemKey, dict[str, Candidate]] = {}
    for row in rows:
        key = ItemKey(row["benchmark"], row["item_id"], row["epoch"])
        name = f"{item_name(key)} of {key.benchmark}"
        text = tuple(row[column] for column in OF_ITEM)
        if key.epoch < 1:
            raise ValueError(f"{name} is of epoch {key.epoch}")
        if key not in items:
            items[key], texts[key], candidates[key] = _item(key, row), text, {}
        if texts[key] != text:
            raise ValueError(f"{name} has two questions")
        if row["model"] in candidates[key]:
            raise ValueError(f"{name} has two answers by {row['model']}")
        candidates[key][row["model"]] = _candidate(key, row)
    return tuple(items.values()), candidates


def _item(key: ItemKey, row: dict[str, Any]) -> Item:
    choices, tools = _parsed(row, "choices", list), _parsed(row, "tools", list)
    if not all(isinstance(choice, str) for choice in choices):
        raise ValueError(f"a choice of {item_name(key)} is not text")
    return Item(
        key=key,
        input_hash=row["input_hash"],
        prompt=row["prompt"],
        target=row["target"],
        choices=tuple(choices),
        tools=_objects(tools, key),
        metadata=_parsed(row, "metadata", dict),
        media=tuple(_medium(entry, key) for entry in _parsed(row, "media", list, "[]")),
        content_hash=row["content_hash"] or "",
    )


def _medium(entry: Any, key: ItemKey) -> Medium:
    if not (isinstance(entry, list) and len(entry) == 3 and all(map(_is_str, entry))):
        raise ValueError(f"an image or a file of {item_name(key)} is not three texts")
    return Medium(*entry)


def _candidate(key: ItemKey, row: dict[str, Any]) -> Candidate:
    score = row["native_score"]
    if score is not None and math.isinf(score):
        raise ValueError(f"{item_name(key)} has an infinite native score by {row['model']}")
    return Candidate(
        key=key,
        tool_calls=_objects(_parsed(row, "tool_calls", list), key),
        native_score=math.nan if score is None else score,
        **{name: row[name] for name in _PLAIN},
    )


def _parsed(row: dict[str, Any], column: str, kind: type[T], absent: str = "") -> T:
    value = parse_json(absent if row[column] is None else row[column])
    if not isinstance(value, kind):
        raise ValueError(f"{column} of item {row['item_id']!r} is not a JSON {kind.__name__}")
    return value


def _objects(values: list[Any], key: ItemKey) -> tuple[dict[str, Any], ...]:
    if not all(isinstance(value, dict) for value in values):
        raise ValueError(f"a tool or a tool call of {item_name(key)} is not a JSON object")
    return tuple(values)


def read_pool_file(path: Path, options: ReadOptions) -> Reading:
    """Read a pool as records, to be joined with other sources.

    Native scores are those that the pool was written with.
    """
    try:
        pool = read_parquet(path)
    except CandidateError as error:
        problems = (replace(note, where=options.shown(path)) for note in error.notes)
        return Reading(problems=tuple(problems))
    if not pool.items:
        return Reading(problems=(Note("unreadable_log", options.shown(path), "holds no rows"),))
    return pool_reading(pool, options.shown(path), options)


def pool_reading(pool: CandidatePool, source: str, options: ReadOptions) -> Reading:
    """Records of a pool that was read from `source`: one for each benchmark and model."""
    notes = list(pool.notes)
    if options.epochs == "first" and any(item.key.epoch > 1 for item in pool.items):
        message = "several epochs, the first is kept"
        notes.append(Note("epochs", source, message))
    records = [
        record
        for benchmark in pool.benchmarks
        for record in _records(pool, benchmark, source, options)
    ]
    return Reading(tuple(records), tuple(notes))


def _records(
    pool: CandidatePool, task: str, source: str, options: ReadOptions
) -> Iterator[LogRecord]:
    benchmark = options.benchmark(task)
    rows: dict[str, list[Row]] = {}
    for item in pool.items_of(task):
        if options.epochs == "first" and item.key.epoch > 1:
            continue
        key = item.key._replace(benchmark=benchmark)
        for model, candidate in pool.candidates[item.key].items():
            row = Row(replace(item, key=key), replace(candidate, key=key))
            rows.setdefault(model, []).append(row)
    harness = _harness(row for answers in rows.values() for row in answers)
    for model, answers in rows.items():
        yield LogRecord(
            source,
            harness,
            task,
            benchmark,
            model,
            tuple(answers),
            settings=pool.settings.get((task, model), {}),
            positional=all(row.item.item_id.isdecimal() for row in answers),
            drawn=tuple(dict.fromkeys(row.item.item_id for row in answers)),
        )


def _harness(rows: Iterable[Row]) -> Harness:
    """The harness whose item ids a pool has: Inspect, if any answer came from an Inspect log."""
    sources = [row.candidate.source for row in rows if row.candidate is not None]
    return "lm-eval" if all(source.endswith(SAMPLES_ENDS) for source in sources) else "inspect"
