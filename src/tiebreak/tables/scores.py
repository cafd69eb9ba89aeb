"""Tables of scores, models × benchmarks, and reading them from CSV files."""

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import Literal

import numpy as np

from tiebreak.paths import AnyPath
from tiebreak.rankers.profile import FloatArray
from tiebreak.tables.delimited import CSV, Delimited, read_delimited
from tiebreak.tables.errors import TableError, shown, suggestion
from tiebreak.text import listed, split_names


@dataclass(frozen=True, eq=False, slots=True)
class ScoreTable:
    """Scores of models on benchmarks.

    `scores` has shape (models, benchmarks) and is read-only; higher is better, and NaN means that
    the model has no score on the benchmark. `sources` are the files of the scores; `notes` are
    sentences on what was chosen, negated or left out, and why. `errors`, of the same shape as
    `scores`, are their standard errors over items, independent between models, NaN if unknown.
    `public_notes` are those of the notes that name no file, and so may be published.
    """

    models: tuple[str, ...]
    benchmarks: tuple[str, ...]
    scores: FloatArray
    sources: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    errors: FloatArray | None = None
    public_notes: tuple[str, ...] = ()

    @property
    def order_from(self) -> Literal["columns", "names"]:
        """Origin of the benchmarks' order: columns of CSV files, names for logs and pools."""
        files = (Path(source).suffix.lower() for source in self.sources)
        return "columns" if all(suffix in CSV for suffix in files) else "names"

    def only(self, benchmarks: Collection[str]) -> "ScoreTable":
        """The table with only these benchmarks, in the table's order."""
        kept = [column for column, name in enumerate(self.benchmarks) if name in benchmarks]
        names = tuple(self.benchmarks[column] for column in kept)
        scores = self.scores[:, kept]
        errors = None if self.errors is None else self.errors[:, kept]
        for cells in (scores, errors):
            if cells is not None:
                cells.setflags(write=False)
        return replace(self, benchmarks=names, scores=scores, errors=errors)


def read_score_table(path: str | Path) -> ScoreTable:
    """Read a CSV file whose first column is `model`, with a column of scores per benchmark.

    Scores are fractions or percent ("73.2" or "73.2%", the same form in all cells of a column);
    higher is better; an empty cell is a missing score. For separators, encoding and numbers see
    `delimited`.

    Raises:
        TableError: the first column is not `model`, or the only one; a column is named `rank`; a
            score is not a number; only some cells of a column have a "%"; a model occurs twice;
            there is no score at all; or as for `read_delimited`.
    """
    table = read_delimited(Path(path))
    benchmarks = table.header[1:]
    if not holds_scores(table):
        raise TableError(
            f"{path}: the first column is {shown(table.header[0])}; it must be named 'model' and "
            "hold the models' names, with a column per benchmark after it"
        )
    if not benchmarks:
        raise TableError(f"{path}: there is no column after 'model'; add one per benchmark")
    if ranks := [name for name in benchmarks if name.casefold() == "rank"]:
        raise TableError(
            f"{path}: a column {shown(ranks[0])} beside 'model' is no score: those are better when "
            "higher; rename it if it is one. Ballots with a rank a line have the columns reviewer, "
            "candidate and rank"
        )
    models = _models(table)
    if_text = "take it out, for each column but the first is a benchmark"
    scores = np.array(
        [
            [table.number(row, name, "%", if_text=if_text) for name in benchmarks]
            for row in table.rows
        ],
        dtype=np.float64,
    )
    for name, known in zip(benchmarks, ~np.isnan(scores.T), strict=True):
        signs = {row.cells[name].endswith("%") for row in compress(table.rows, known)}
        if len(signs) > 1:
            raise TableError(
                f"{path}, column {name!r}: some scores have a '%' and others have none; write all "
                "of them one way"
            )
    return score_table(models, benchmarks, scores, sources=(str(path),))


def holds_scores(table: Delimited) -> bool:
    """Whether a CSV file holds scores, by the name of its first column; others may be ballots."""
    return table.header[0].casefold() == "model"


def with_errors(table: ScoreTable, path: AnyPath) -> ScoreTable:
    """Add standard errors from a CSV file, in the units of the scores, to a table.

    The file has the form of a file of scores: a column `model`, and one per benchmark, in any
    order. The error is unknown (NaN) for an empty cell, and for models or benchmarks left out.

    Raises:
        TableError: a model or benchmark is not in the table; an error is below 0; or as for
            `read_score_table`.
    """
    given = read_score_table(Path(path))
    errors = np.full(table.scores.shape, np.nan)
    places = []
    for kind, names, known in (
        ("model", given.models, table.models),
        ("benchmark", given.benchmarks, table.benchmarks),
    ):
        place = {name: number for number, name in enumerate(known)}
        for name in names:
            if name not in place:
                help_ = suggestion(name, known)
                raise TableError(f"{path}: the scores have no {kind} {shown(name)}; {help_}")
        places.append([place[name] for name in names])
    if np.any(given.scores < 0):
        raise TableError(f"{path}: a standard error is below 0")
    errors[np.ix_(*places)] = given.scores
    errors.setflags(write=False)
    return replace(table, errors=errors, sources=(*table.sources, str(path)))


def find_cells(
    table: ScoreTable, text: str
) -> tuple[int, tuple[int, ...], float | tuple[float, ...]]:
    """Parse "MODEL=BENCHMARK,BENCHMARK" into a row, columns, and the scores to put there.

    The scores are 0; with ":NUMBER" at the end this number, in the benchmarks' own units; with
    ":best" the best score of any model on each benchmark.

    Raises:
        TableError: a name is not in the table or occurs twice, one side of the "=" is empty, or the
            text after ":" is neither a number nor "best".
    """
    model, _, listed = text.rpartition("=")  # names of models may have one, too
    if model not in table.models:
        help_ = suggestion(model, table.models)
        raise TableError(f"{text!r}: the scores have no model {model!r}; {help_}")
    names, given = split_names(listed), None
    if names[-1] not in table.benchmarks and ":" in names[-1]:  # names may have one, too
        names[-1], _, given = (part.strip() for part in names[-1].rpartition(":"))
    for name in names:
        if name not in table.benchmarks:
            help_ = suggestion(name, table.benchmarks)
            raise TableError(f"{text!r}: the scores have no benchmark {name!r}; {help_}")
    if len(set(names)) < len(names):
        raise TableError(f"{text!r} names a benchmark twice; name each once")
    columns = tuple(map(table.benchmarks.index, names))
    return table.models.index(model), columns, _put(table, text, columns, given)


def _put(
    table: ScoreTable, text: str, columns: Sequence[int], given: str | None
) -> float | tuple[float, ...]:
    """The scores for the columns of `find_cells`: one for all, or one for each."""
    if given is None:
        return 0.0
    if given == "best":
        for column in columns:
            if np.isnan(table.scores[:, column]).all():
                raise TableError(f"{text!r}: no model has a score on {table.benchmarks[column]!r}")
        return tuple(np.nanmax(table.scores[:, list(columns)], axis=0).tolist())
    try:
        value = float(given)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise TableError(f"{text!r}: {given!r} is neither a score nor 'best'")
    return value


def score_table(
    models: Sequence[str],
    benchmarks: Sequence[str],
    scores: FloatArray,
    *,
    sources: Sequence[str] = (),
    notes: Sequence[str] = (),
    public_notes: Sequence[str] = (),
    errors: FloatArray | None = None,
) -> ScoreTable:
    """Make a `ScoreTable` of these fields, with notes on scales and missing scores.

    Scores and errors become read-only. `notes` may name files; they come first, followed by
    `public_notes` and the notes on scales and missing scores.

    Raises:
        TableError: there is no score at all.
    """
    if np.isnan(scores).all():
        raise TableError(f"{', '.join(sources)}: there is no score; give at least one")
    scores.setflags(write=False)
    if errors is not None:
        errors.setflags(write=False)
    names = tuple(models), tuple(benchmarks)
    table = ScoreTable(*names, scores, tuple(sources), errors=errors)
    public = (*public_notes, *_scale_notes(table), *_hole_notes(table))
    return replace(table, notes=(*notes, *public), public_notes=public)


def _models(table: Delimited) -> tuple[str, ...]:
    names = []
    for row in table.rows:
        names.append(table.label(row, table.header[0], "the model has no name"))
        table.once(names[-1], row, f"{shown(names[-1])} is there")
    return tuple(names)


def unlike_scales(table: ScoreTable, rounds: Iterable[Collection[str]]) -> tuple[str, ...]:
    """A sentence for each round that averages fractions and larger numbers."""
    return tuple(
        f"The round {' + '.join(names)} takes the mean of unlike numbers: "
        f"{_quoted(fractions)} within 0 to 1, {_quoted(larger)} beyond"
        for names in rounds
        if (fractions := [name for name in names if 0 <= _highest(table, name) <= 1])
        and (larger := [name for name in names if _highest(table, name) > 1])
    )


def _highest(table: ScoreTable, benchmark: str) -> float:
    """Largest absolute value of a score on a benchmark, −1 without any."""
    column = table.scores[:, table.benchmarks.index(benchmark)]
    return float(np.max(np.abs(column[~np.isnan(column)]), initial=-1))


def _scale_notes(table: ScoreTable) -> Iterator[str]:
    """Notes on columns that may mix scales; scores are not rescaled."""
    for name, column in zip(table.benchmarks, np.abs(table.scores.T), strict=True):
        if np.any((column > 0) & (column < 1)) and np.any(column > 1):
            yield (
                f"{name!r} has scores below 1 and above 1; make sure that it does not mix "
                "fractions and percent"
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


def _quoted(names: Sequence[str]) -> str:
    return listed(list(map(repr, names)), most=3)
