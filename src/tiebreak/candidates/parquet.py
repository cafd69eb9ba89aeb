"""Pools as Parquet: one row per candidate, the columns of its item repeated.

Nested values (choices, tools, metadata, tool calls) are JSON text, so that any reader of Parquet
can use the file; notes and the version of the format are in the file's key-value metadata. A
reader takes the columns it knows; a column that old readers can do without is nullable and keeps
the version, any other change raises it.
"""

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from tiebreak.candidates.errors import CandidateError
from tiebreak.candidates.json_text import parse_json
from tiebreak.candidates.lm_eval_runs import SAMPLES_ENDS
from tiebreak.candidates.pool import Candidate, CandidatePool, Item, ItemKey, Medium, Note
from tiebreak.candidates.pool_table import (
    NOTES_KEY,
    OF_ITEM,
    SETTINGS_KEY,
    VERSION,
    VERSION_KEY,
    naming,
    read_rows,
    schema,
)
from tiebreak.candidates.records import Harness, LogRecord, Reading, ReadOptions, Row, item_name
from tiebreak.paths import whole_file

T = TypeVar("T")

_NESTED = ("choices", "tools", "metadata", "tool_calls", "media")


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
        ValueError: An item has no candidate, or a native score is infinite.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows: list[dict[str, Any]] = []
    for item, candidates in pool:
        if not candidates:
            raise ValueError(f"item {item.item_id!r} of {item.benchmark} has no candidate to write")
        if any(math.isinf(one.native_score) for one in candidates.values()):
            raise ValueError(f"item {item.item_id!r} of {item.benchmark} has an infinite score")
        shared = _columns(item)
        rows.extend(shared | _columns(candidate) for candidate in candidates.values())
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


def _columns(part: Item | Candidate) -> dict[str, Any]:
    """The fields of an item or a candidate, and those of its key, as a row holds them."""
    values = {field.name: getattr(part, field.name) for field in fields(part)}
    values |= values.pop("key")._asdict()
    if isinstance(part, Candidate) and math.isnan(part.native_score):
        values["native_score"] = None
    return values | {name: json.dumps(values[name]) for name in _NESTED if name in values}


def read_parquet(path: str | Path) -> CandidatePool:
    """Read a pool that `write_parquet` wrote.

    Raises:
        CandidateError: The file is damaged, is not a Tiebreak pool, or is of a newer version; or
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
    """Items and answers; a ValueError names the first that cannot be."""
    items: dict[ItemKey, Item] = {}
    texts: dict[ItemKey, tuple[str, ...]] = {}
    candidates: dict[ItemKey, dict[str, Candidate]] = {}
    for row in rows:
        key = ItemKey(row["benchmark"], row["item_id"], row["epoch"])
        name = f"{item_name(key)} of {key.benchmark}"
        own = tuple(row[column] for column in OF_ITEM)
        if key.epoch < 1:
            raise ValueError(f"{name} is of epoch {key.epoch}")
        if key not in items:
            items[key], texts[key], candidates[key] = _item(key, row), own, {}
        if texts[key] != own:
            raise ValueError(f"{name} has two questions")
        if row["model"] in candidates[key]:
            raise ValueError(f"{name} has two answers by {row['model']}")
        candidates[key][row["model"]] = _candidate(key, row)
    return tuple(items.values()), candidates


def _item(key: ItemKey, row: dict[str, Any]) -> Item:
    choices, tools = _parsed(row, "choices", list), _parsed(row, "tools", list)
    if not all(isinstance(choice, str) for choice in choices):
        raise ValueError(f"a choice of {item_name(key)} is no text")
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
    if not (isinstance(entry, list) and len(entry) == 3 and all(isinstance(t, str) for t in entry)):
        raise ValueError(f"an image or a file of {item_name(key)} is not three texts")
    return Medium(*entry)


def _candidate(key: ItemKey, row: dict[str, Any]) -> Candidate:
    score = row["native_score"]
    if score is not None and math.isinf(score):
        raise ValueError(f"{item_name(key)} has an infinite native score by {row['model']}")
    return Candidate(
        key=key,
        model=row["model"],
        text=row["text"],
        tool_calls=_objects(_parsed(row, "tool_calls", list), key),
        native_score=math.nan if score is None else score,
        native_metric=row["native_metric"],
        stop_reason=row["stop_reason"],
        input_tokens=row["input_tokens"],
        output_tokens=row["output_tokens"],
        source=row["source"],
    )


def _parsed(row: dict[str, Any], column: str, kind: type[T], absent: str = "") -> T:
    value = parse_json(absent if row[column] is None else row[column])
    if not isinstance(value, kind):
        raise ValueError(f"{column} of item {row['item_id']!r} is no JSON {kind.__name__}")
    return value


def _objects(values: list[Any], key: ItemKey) -> tuple[dict[str, Any], ...]:
    if not all(isinstance(value, dict) for value in values):
        raise ValueError(f"a tool or a tool call of {item_name(key)} is no JSON object")
    return tuple(values)


def read_pool_file(path: Path, options: ReadOptions) -> Reading:
    """Read a pool as a source of records, to be joined with other sources.

    Native scores stay those the pool was written with.
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
    """The records of a pool that comes from `source`: one per benchmark and model."""
    notes = list(pool.notes)
    if options.epochs == "first" and any(item.key.epoch > 1 for item in pool.items):
        what = "several epochs, the first is kept"
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
        yield LogRecord(
            source,
            harness,
            task,
            benchmark,
            model,
            tuple(answers),
            settings=pool.settings.get((task, model), {}),
            positional=all(row.item.item_id.isdecimal() for row in answers),
        )


def _harness(rows: Iterable[Row]) -> Harness:
    """Whose ids a pool has: Inspect's, if any answer came from an Inspect log."""
    sources = [row.candidate.source for row in rows if row.candidate is not None]
    return "lm-eval" if all(source.endswith(SAMPLES_ENDS) for source in sources) else "inspect"
