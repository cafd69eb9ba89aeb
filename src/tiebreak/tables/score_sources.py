"""From a CSV file, or from the results of runs, to a score table; and names to its cells."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tiebreak.tables.errors import UnknownBenchmarkError, UnknownFormatError, UnknownModelError
from tiebreak.tables.scores import ScoreTable, read_score_table
from tiebreak.tables.suggest import suggestion

_CSV = (".csv", ".tsv", ".txt")


def read_scores(
    paths: Sequence[str],
    *,
    metric: str | None = None,
    filter: str | None = None,
    rename: Mapping[str, str] | None = None,
) -> ScoreTable:
    """Read one CSV file (`read_score_table`), or logs and folders (`read_results`).

    Args:
        paths: a single CSV file, or any number of files and folders of the two harnesses.
        metric: as in `read_results`.
        filter: as in `read_results`.
        rename: as in `read_results`.

    Raises:
        UnknownFormatError: a CSV file among other paths, or with options that are for logs.
        TableError: as the two readers.
    """
    tables = [path for path in paths if Path(path).suffix.lower() in _CSV]
    if not tables:
        # Importing Inspect takes seconds; a CSV file need not wait for it.
        from tiebreak.tables.results import read_results

        return read_results(list(paths), metric=metric, filter=filter, rename=rename)
    if len(paths) > 1:
        raise UnknownFormatError(
            f"{tables[0]} is a whole table of scores and comes alone; without it, logs and folders "
            "can be given in any mix"
        )
    if metric or filter or rename:
        raise UnknownFormatError(
            f"{tables[0]}: metric, filter and rename are for logs; a CSV file holds the scores as "
            "they are"
        )
    return read_score_table(tables[0])


def find_cells(table: ScoreTable, text: str) -> tuple[int, tuple[int, ...]]:
    """Row and columns that "MODEL=BENCHMARK,BENCHMARK" names.

    Raises:
        UnknownModelError: there is no such model, or nothing before the "=".
        UnknownBenchmarkError: there is no such benchmark, or nothing after the "=".
    """
    model, _, listed = text.rpartition("=")
    if model not in table.models:
        help_ = suggestion(model, table.models)
        raise UnknownModelError(f"{text!r}: the scores have no model {model!r}; {help_}")
    names = [name.strip() for name in listed.split(",")]
    for name in names:
        if name not in table.benchmarks:
            help_ = suggestion(name, table.benchmarks)
            raise UnknownBenchmarkError(f"{text!r}: the scores have no benchmark {name!r}; {help_}")
    return table.models.index(model), tuple(table.benchmarks.index(name) for name in names)
