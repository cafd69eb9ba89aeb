"""Pools as Parquet: one row per candidate, the columns of its item repeated.

Nested values (choices, tools, metadata, tool calls) are JSON text, so that any reader of Parquet
can use the file; notes and the version of the format are in the file's key-value metadata. A
reader takes the columns it knows; a column that old readers can do without is nullable and keeps
the version, any other change raises it.
"""

import json
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiebreak.candidates.errors import CandidateError
from tiebreak.candidates.pool import Candidate, CandidatePool, Item, ItemKey, Note
from tiebreak.candidates.records import Harness, LogRecord, Reading, ReadOptions, Row

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = 1
"""Version of the pools that are written, and the newest that can be read."""
_VERSION_KEY = b"tiebreak_pool"
_NOTES_KEY = b"tiebreak_notes"

_TEXTS = ("benchmark", "item_id", "input_hash", "prompt", "target", "choices", "tools", "metadata")
_TEXTS_OF_CANDIDATE = ("model", "text", "tool_calls", "source")
_NESTED = ("choices", "tools", "metadata", "tool_calls")


@cache
def _schema() -> "pa.Schema":
    # Arrow is imported only where it is needed: that takes most of a second.
    import pyarrow as pa

    # Large strings: texts of a big pool exceed the 2 GB that a plain string column can address.
    text = pa.large_string()
    return pa.schema(
        [
            *(pa.field(name, text, nullable=False) for name in _TEXTS),
            pa.field("epoch", pa.int64(), nullable=False),
            *(pa.field(name, text, nullable=False) for name in _TEXTS_OF_CANDIDATE),
            pa.field("native_score", pa.float64()),
            pa.field("native_metric", text),
            pa.field("stop_reason", text),
            pa.field("input_tokens", pa.int64()),
            pa.field("output_tokens", pa.int64()),
        ]
    )


def write_parquet(pool: CandidatePool, path: str | Path) -> Path:
    """Write a pool to one Parquet file; `read_parquet` gives back an equal pool.

    The file is replaced at once, so whatever breaks the writing leaves an earlier pool as it was.
    An undefined native score (NaN) is a null in the file.

    Args:
        pool: The pool. Every item needs a candidate: a row of the file is a candidate.
        path: File to write; its parents are made.

    Returns:
        The path written.

    Raises:
        ValueError: An item has no candidate.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows: list[dict[str, Any]] = []
    for item, candidates in pool:
        if not candidates:
            raise ValueError(f"item {item.item_id!r} of {item.benchmark} has no candidate to write")
        shared = _columns(item)
        rows.extend(shared | _columns(candidate) for candidate in candidates.values())
    notes = json.dumps([[note.kind, note.where, note.what] for note in pool.notes])
    metadata = {_VERSION_KEY: str(VERSION).encode(), _NOTES_KEY: notes.encode()}
    columns = {name: [row[name] for row in rows] for name in _schema().names}
    table = pa.table(columns, schema=_schema().with_metadata(metadata))
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    target = file.resolve()  # through a link, what it points to
    # Hidden and not named *.parquet: what a killed process leaves behind is not taken for a pool.
    draft = target.with_name(f".{target.name}.{os.getpid()}.writing")
    try:
        pq.write_table(table, draft, compression="zstd")
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    return file


def _columns(part: Item | Candidate) -> dict[str, Any]:
    """The fields of an item or a candidate, and those of its key, as a row holds them."""
    values = {field.name: getattr(part, field.name) for field in fields(part)}
    values |= values.pop("key")._asdict()
    if isinstance(part, Candidate) and math.isnan(part.native_score):
        values["native_score"] = None
    return values | {name: json.dumps(values[name]) for name in _NESTED if name in values}


def is_pool(path: Path) -> bool:
    """Whether a readable Parquet file was written by `write_parquet`.

    Raises:
        CandidateError: It is not a Parquet file, or a damaged one.
    """
    return _VERSION_KEY in _file_metadata(path)


def _file_metadata(path: Path) -> dict[bytes, bytes]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_schema(path).metadata or {}
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, f"cannot be read as Parquet ({error})") from error


def _unreadable(path: Path, what: str) -> CandidateError:
    return CandidateError.of("unreadable_log", path.as_posix(), what)


def read_parquet(path: str | Path) -> CandidatePool:
    """Read a pool that `write_parquet` wrote.

    Raises:
        CandidateError: The file is damaged, is not a Tiebreak pool, or is of a newer version.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = Path(path)
    metadata = _file_metadata(file)
    if _VERSION_KEY not in metadata:
        raise _unreadable(file, "is Parquet, but not a pool written by Tiebreak")
    version = metadata[_VERSION_KEY].decode()
    if version.isdigit() and int(version) > VERSION:
        what = f"was written by a newer Tiebreak (pool version {version}; this one reads {VERSION})"
        raise _unreadable(file, f"{what}: upgrade")
    try:
        rows = pq.ParquetFile(file).read(_schema().names).to_pylist()
        return _pool(rows, json.loads(metadata.get(_NOTES_KEY, b"[]")))
    except KeyError as error:
        raise _unreadable(file, f"lacks the column {error}") from error
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        raise _unreadable(file, f"is damaged ({error})") from error


def _pool(rows: Iterable[dict[str, Any]], notes: Iterable[Sequence[str]]) -> CandidatePool:
    items: dict[ItemKey, Item] = {}
    candidates: dict[ItemKey, dict[str, Candidate]] = {}
    for row in rows:
        key = ItemKey(row["benchmark"], row["item_id"], row["epoch"])
        if key not in items:
            items[key] = _item(key, row)
        candidates.setdefault(key, {})[row["model"]] = _candidate(key, row)
    return CandidatePool(tuple(items.values()), candidates, tuple(Note(*note) for note in notes))


def _item(key: ItemKey, row: dict[str, Any]) -> Item:
    return Item(
        key=key,
        input_hash=row["input_hash"],
        prompt=row["prompt"],
        target=row["target"],
        choices=tuple(json.loads(row["choices"])),
        tools=tuple(json.loads(row["tools"])),
        metadata=json.loads(row["metadata"]),
    )


def _candidate(key: ItemKey, row: dict[str, Any]) -> Candidate:
    return Candidate(
        key=key,
        model=row["model"],
        text=row["text"],
        tool_calls=tuple(json.loads(row["tool_calls"])),
        native_score=math.nan if row.get("native_score") is None else row["native_score"],
        native_metric=row.get("native_metric"),
        stop_reason=row.get("stop_reason"),
        input_tokens=row.get("input_tokens"),
        output_tokens=row.get("output_tokens"),
        source=row["source"],
    )


def read_pool_file(path: Path, options: ReadOptions) -> Reading:
    """Read a pool as a source of records, to be joined with other sources.

    Native scores stay those the pool was written with.
    """
    try:
        pool = read_parquet(path)
    except CandidateError as error:
        return Reading(problems=error.notes)
    return pool_reading(pool, path.as_posix(), options)


def pool_reading(pool: CandidatePool, source: str, options: ReadOptions) -> Reading:
    """The records of a pool that comes from `source`: one per benchmark and model."""
    notes = list(pool.notes)
    if options.epochs == "first" and any(item.key.epoch > 1 for item in pool.items):
        what = "several epochs, the first is kept (epochs='all' keeps each as its own candidate)"
        notes.append(Note("epochs", source, what))
    records = [
        record
        for benchmark in pool.benchmarks
        for record in _records(pool, benchmark, source, options)
    ]
    return Reading(tuple(records), tuple(notes))


def _records(
    pool: CandidatePool, task: str, source: str, options: ReadOptions
) -> Iterator[LogRecord]:
    """One record per model of one benchmark of the pool."""
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
        yield LogRecord(source, harness, task, benchmark, model, tuple(answers))


def _harness(rows: Iterable[Row]) -> Harness:
    """Whose ids a pool has: Inspect's, if any answer came from an Inspect log."""
    sources = [row.candidate.source for row in rows if row.candidate is not None]
    return "lm-eval" if all(source.endswith(".jsonl") for source in sources) else "inspect"
