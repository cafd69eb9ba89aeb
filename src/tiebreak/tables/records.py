"""Read columns by name from CSV, JSON lines, JSON or Parquet files, dictionary-encoded.

    file → rows → for each column its distinct texts, and for each row the index of one of them

so that two million rows are a few arrays. Other values are converted to text, missing ones to "".
From Parquet, only the wanted columns are read. A row of arena-hard's judgments becomes its games;
in the first the baseline is answer A, in the second the model is. Its older files do not name the
baseline, which is then called "baseline". LMArena's older files have three columns that are 1 for
the winner or a tie, otherwise 0 (`ONE_HOT`); they become one column, `winner`.
"""

import json
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiebreak.rows import Fault, Place, json_rows, named, parquet
from tiebreak.tables.delimited import Delimited, Row, delimited_rows
from tiebreak.tables.errors import TableError, UnreadableFileError, first_line, require_path

Codes = NDArray[np.int32]

JSON_LINES: Final = (".jsonl", ".ndjson")
JSON: Final = (*JSON_LINES, ".json")
PARQUET: Final = ".parquet"

ONE_HOT: Final[Mapping[str, str]] = {
    **{"winner_model_a": "model_a", "winner_model_b": "model_b", "winner_tie": "tie"}
}
"""Columns one of which is 1, and the winner that each stands for."""

_WINNER = "winner"
_BATCH = 200_000  # rows
_BASELINE = "baseline"


class DictionaryColumn(NamedTuple):
    """A column: its distinct texts in order of occurrence, and the index of each row's text.

    `codes` has shape (rows,) and values from 0 to len(texts) − 1.
    """

    texts: tuple[str, ...]
    codes: Codes


class Records(NamedTuple):
    """The wanted columns of a file by name; `table` has its header, but no rows.

    `lines` has shape (rows,): the line at which a row begins, or its number, from 1.
    """

    table: Delimited
    columns: Mapping[str, DictionaryColumn]
    lines: NDArray[np.int64]


def read_records(path: Path, wanted: Collection[str], on_fault: Fault) -> Records:
    """Read the columns whose names, in lower case, are `wanted`.

    Args:
        path: `.parquet`, `.jsonl` or `.ndjson`, `.json` (a list of objects, or JSON lines), or CSV.
        wanted: names of columns in lower case.
        on_fault: called with the place of each invalid row, and a message.

    Raises:
        TableError: the file does not exist, or holds no row; or as for `read_delimited`.
        UnreadableFileError: it cannot be opened, or is not in the format that its name says.
    """
    require_path(path)
    n_faults, wanted = 0, {*wanted, *ONE_HOT}

    def fault(place: Place, message: str) -> None:
        nonlocal n_faults
        n_faults += 1
        on_fault(place, message)

    try:
        records = _read(path, wanted, fault)
    except TableError:
        raise
    except (ValueError, OSError) as error:
        raise UnreadableFileError(f"{path} {first_line(str(error))}") from error
    if not len(records.lines) and not n_faults:
        raise TableError(f"{path} holds no row; give at least one")
    return _with_winner(records)


def _read(path: Path, wanted: Collection[str], fault: Fault) -> Records:
    ending = path.suffix.lower()
    if ending == PARQUET:
        return _parquet(path, wanted)
    if ending in JSON:
        return _gathered(path, _objects(path, fault), wanted)
    header, decimal, rows = delimited_rows(path)
    return _gathered(path, named(header, rows, fault), wanted, header, decimal)


def _with_winner(records: Records) -> Records:
    """Merge the columns of `ONE_HOT` into `winner`; faulty rows keep the texts of their cells."""
    names = {name.casefold(): name for name in records.columns}
    if _WINNER in names or not names.keys() >= ONE_HOT.keys():
        return records
    marks = [records.columns[names[name]] for name in ONE_HOT]
    kinds, codes = np.unique(np.stack([mark.codes for mark in marks]), axis=1, return_inverse=True)
    texts = []
    for kind in kinds.T.tolist():
        cells = [mark.texts[code] for mark, code in zip(marks, kind, strict=True)]
        results = zip(ONE_HOT.values(), cells, strict=True)
        marked = [result for result, cell in results if cell.removesuffix(".0") == "1"]
        texts.append(marked[0] if len(marked) == 1 else " ".join(filter(None, cells)))
    header = tuple(name for name in records.table.header if name.casefold() not in ONE_HOT)
    winner = DictionaryColumn(tuple(texts), codes.ravel().astype(np.int32))
    columns = {name: coded for name, coded in records.columns.items() if name in header}
    table = replace(records.table, header=(*header, _WINNER))
    return Records(table, {**columns, _WINNER: winner}, records.lines)


def read_rows(path: Path, wanted: Collection[str], faults: list[TableError]) -> Delimited:
    """Read as `read_records`, but into rows of cells, for files of people's labels (short ones).

    Invalid rows are left out, with an error in `faults`.
    """

    def keep(place: Place, message: str) -> None:
        faults.append(TableError(f"{path}, {place}: {message}"))

    records = read_records(path, wanted, keep)
    cells = [(name, coded.texts, coded.codes.tolist()) for name, coded in records.columns.items()]
    rows = tuple(
        Row(line, {name: texts[codes[row]] for name, texts, codes in cells})
        for row, line in enumerate(records.lines.tolist())
    )
    return replace(records.table, rows=rows)


def _gathered(
    path: Path,
    rows: Iterable[tuple[Place, Mapping[str, Any]]],
    wanted: Collection[str],
    header: Sequence[str] = (),
    decimal: str = ".",
) -> Records:
    """Collect the wanted columns of rows; rows may add columns, and missing cells are ""."""
    names: dict[str, None] = {}
    index: dict[str, dict[str, int]] = {}
    codes: dict[str, array[int]] = {}
    lines, unit = array("q"), "line"

    def begin(given: Iterable[str]) -> None:
        for name in given:
            if name not in names:
                names[name] = None
                if name.casefold() in wanted:  # the rows before have "", whose index is 0
                    index[name], codes[name] = {"": 0}, array("i", bytes(4 * len(lines)))

    begin(header)
    for place, row in rows:
        begin(row)
        for name, texts in index.items():
            codes[name].append(texts.setdefault(_text(row.get(name)), len(texts)))
        lines.append(place.number)
        unit = place.unit
    columns = {
        name: DictionaryColumn(tuple(texts), np.array(codes[name], np.int32))
        for name, texts in index.items()
    }
    table = Delimited(path, tuple(names), (), decimal, unit)
    return Records(table, columns, np.array(lines, np.int64))


def _text(value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    if value is None or value != value:  # NaN
        return ""
    return json.dumps(value) if isinstance(value, (dict, list, bool)) else str(value)


def _objects(path: Path, on_fault: Fault) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    """Yield the objects of JSON lines or of a list, arena-hard's as their games."""
    for place, row in json_rows(path, on_fault):
        if not isinstance(row, dict):
            on_fault(place, "it is no object with the names of columns")
        elif isinstance(row.get("games"), list):
            yield from ((place, match) for match in _games(row))
        else:
            yield place, row


def _games(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the matches in a row of arena-hard's judgments; [[A>>B]] counts as [[A>B]]."""
    sides = [row.get("baseline") or _BASELINE, row.get("model")]
    about = {"item_id": row.get("question_id") or row.get("uid"), "judge": row.get("judge")}
    for game in row["games"][:2]:  # one in each order of the answers
        score = str((game or {}).get("score") or "").strip("[]")
        winner = _VERDICTS.get(score.replace(">>", ">").replace("<<", "<"), score)
        yield {"model_a": sides[0], "model_b": sides[1], "winner": winner, "first": "a", **about}
        sides.reverse()


_VERDICTS = {
    **dict.fromkeys(("A>B", "B<A"), "a"),
    **dict.fromkeys(("B>A", "A<B"), "b"),
    **dict.fromkeys(("A=B", "B=A"), "tie"),
}


def _parquet(path: Path, wanted: Collection[str]) -> Records:
    with parquet(path) as file:
        header = tuple(file.schema_arrow.names)
        names = [name for name in header if name.casefold() in wanted]
        index: dict[str, dict[str, int]] = {name: {} for name in names}
        parts: dict[str, list[Codes]] = {name: [] for name in names}
        for batch in file.iter_batches(_BATCH, columns=names):
            for name in names:
                parts[name].append(_coded(batch.column(name), index[name]))
        n_rows = file.metadata.num_rows
    none = np.empty(0, np.int32)
    columns = {
        name: DictionaryColumn(tuple(index[name]), np.concatenate([none, *parts[name]]))
        for name in names
    }
    return Records(Delimited(path, header, (), ".", "row"), columns, np.arange(1, n_rows + 1))


def _coded(column: Any, index: dict[str, int]) -> Codes:
    """Codes of an Arrow array in `index`, to which new texts are added."""
    import pyarrow as pa

    if pa.types.is_nested(column.type):
        column = pa.array([_text(value) for value in column.to_pylist()])
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode("encode")
    texts = map(_text, encoded.dictionary.to_pylist())
    numbers = np.array([index.setdefault(text, len(index)) for text in texts], np.int32)
    # Nulls get the index after the last text, which then is that of "".
    codes = encoded.indices.fill_null(len(numbers)).to_numpy(zero_copy_only=False)
    if len(codes) and codes.max() == len(numbers):
        numbers = np.append(numbers, index.setdefault("", len(index)))
    of_rows: Codes = numbers[codes].astype(np.int32)
    return of_rows
