"""Score tables: what every model got on every benchmark."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tiebreak.rankers.profile import FloatArray
from tiebreak.tables.delimited import Delimited, Row, read_delimited, shown
from tiebreak.tables.errors import CellError, EmptyTableError, HeaderError, RepeatedRowError


@dataclass(frozen=True, eq=False, slots=True)
class ScoreTable:
    """Models × benchmarks.

    `scores` has shape (models, benchmarks), is read-only, better when higher, and NaN where a
    model has no score on a benchmark. `sources` are the files that scores come from; `notes` are
    sentences on what was chosen, turned round or left out, and why.
    """

    models: tuple[str, ...]
    benchmarks: tuple[str, ...]
    scores: FloatArray
    sources: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def read_score_table(path: str | Path) -> ScoreTable:
    """Read a CSV file with a column `model`, the first, and a column of scores per benchmark.

    Scores are fractions or percent ("73.2" or "73.2%", one way in a column); higher is better; an
    empty cell is a missing score. For separators, encoding and numbers see `delimited`.

    Raises:
        HeaderError: the first column is not `model`, or there is no other.
        CellError: a score that is no number, or only some cells of a column that have a "%".
        RepeatedRowError: a model is there twice.
        EmptyTableError: there is no score at all.
        TableError: as `read_delimited`.
    """
    table = read_delimited(Path(path))
    benchmarks = table.header[1:]
    if table.header[0].casefold() != "model":
        raise HeaderError(
            f"{path}: the first column is {shown(table.header[0])}; it must be named 'model' and "
            "hold the models' names, with a column per benchmark after it"
        )
    if not benchmarks:
        raise HeaderError(f"{path}: there is no column after 'model'; add one per benchmark")
    models = _models(table)
    cells = [[_score(table, row, name) for name in benchmarks] for row in table.rows]
    for column, name in enumerate(benchmarks):
        _check_percents(table, name, [row[column] for row in cells])
    scores = np.array([[value for value, _ in row] for row in cells], dtype=np.float64)
    return score_table(models, benchmarks, scores, sources=(str(path),))


def score_table(
    models: Sequence[str],
    benchmarks: Sequence[str],
    scores: FloatArray,
    *,
    sources: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> ScoreTable:
    """A table with the notes that its numbers call for, after those given.

    Raises:
        EmptyTableError: there is no score at all.
    """
    if np.isnan(scores).all():
        raise EmptyTableError(f"{', '.join(sources)}: there is no score; give at least one")
    scores.setflags(write=False)
    table = ScoreTable(tuple(models), tuple(benchmarks), scores, tuple(sources), tuple(notes))
    return replace(table, notes=(*table.notes, *_scale_notes(table), *_hole_notes(table)))


def _models(table: Delimited) -> tuple[str, ...]:
    lines: dict[str, int] = {}
    for row in table.rows:
        name = row.cells[table.header[0]]
        if not name:
            raise CellError(f"{table.path}, line {row.line}: the model has no name; fill it in")
        if name in lines:
            raise RepeatedRowError(
                f"{table.path}, line {row.line}: {shown(name)} is there a second time, after line "
                f"{lines[name]}; keep one of the two, or rename one"
            )
        lines[name] = row.line
    return tuple(lines)


def _score(table: Delimited, row: Row, column: str) -> tuple[float, bool]:
    """A score, and whether it is written with a percent sign."""
    text = row.cells[column]
    bare = text.removesuffix("%").rstrip()
    if bare == text:
        return table.number(row, column), False
    without = replace(row, cells=row.cells | {column: bare})
    return table.number(without, column), True


def _check_percents(table: Delimited, column: str, cells: Sequence[tuple[float, bool]]) -> None:
    signs = {sign for value, sign in cells if not math.isnan(value)}
    if len(signs) > 1:
        raise CellError(
            f"{table.path}, column {column!r}: some scores have a '%' and others have none; write "
            "all of them one way"
        )


def _scale_notes(table: ScoreTable) -> Iterator[str]:
    """Scores of one column, and columns of one round, should be of one scale: nobody rescales."""
    highest = {}
    for name, column in zip(table.benchmarks, table.scores.T, strict=True):
        sizes = np.abs(column[~np.isnan(column)])
        if sizes.size:
            highest[name] = sizes.max()
            if sizes.max() > 1 and np.any((sizes > 0) & (sizes < 1)):
                yield (
                    f"{name!r} has scores below 1 and above 1; make sure that it does not mix "
                    "fractions and percent"
                )
    fractions = [name for name, size in highest.items() if size <= 1]
    others = [name for name, size in highest.items() if size > 1]
    if fractions and others:
        yield (
            f"The scales differ: {_listed(fractions)} within 0 to 1, {_listed(others)} beyond; a "
            "round that joins both takes the mean of unlike numbers"
        )


def _hole_notes(table: ScoreTable) -> Iterator[str]:
    holes = int(np.isnan(table.scores).sum())
    if holes:
        first = [
            f"{table.models[model]!r} on {table.benchmarks[benchmark]!r}"
            for model, benchmark in np.argwhere(np.isnan(table.scores))[:3].tolist()
        ]
        more = ", …" if holes > len(first) else ""
        yield f"{holes} of {table.scores.size} scores are missing: {', '.join(first)}{more}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:3])) + (", …" if len(names) > 3 else "")
