"""Files that change with every publication: the card, the latest leaderboard and latest contests.

Pure functions make them from the current content of the dataset and from the bundle, with the same
code for a folder and the Hub. For every benchmark, protocol and judge the latest leaderboard keeps
the rows of the newest run, by (`created`, `run_id`): the maximum of an order, so publications may
come in any order, twice, or together, and the table never goes back.

A contest has no date: the newest is the one added to the dataset last, and it replaces contests
over the same benchmarks or a subset of them. A contest that is already there is not added again.
"""

import json
import math
from abc import abstractmethod
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from tiebreak.publish.bundle import Bundle
from tiebreak.publish.card import README, card
from tiebreak.publish.contests import OF_CONTESTS
from tiebreak.publish.errors import PublishError
from tiebreak.publish.secrets import refuse_secrets
from tiebreak.publish.tables import from_parquet, schema, to_parquet
from tiebreak.report.columns import METRICS

if TYPE_CHECKING:
    import pyarrow as pa


Row = Mapping[str, Any]

LATEST: Final = "leaderboard/latest.parquet"
CONTESTS: Final = "contests/latest.parquet"

_KEY: Final = ("benchmark", "protocol", "judge")
# Columns that every table of Tiebreak with that name has; they are never null.
_NEEDED: Final = {
    "leaderboard": {"benchmark", "protocol", "run_id", "created", "model", "metric"},
    "contests": {"contest_id", "method", "model", "benchmarks", "rounds"},
}


def changing_files(
    bundle: Bundle, dataset: Mapping[str, bytes], *, license: str | None, repo_id: str
) -> dict[str, bytes]:
    """The files that change with every publication, in their state with the bundle added.

    `dataset` maps paths to its files.

    Raises:
        PublishError: the card or an existing table cannot be read, the licence is not an id, or the
            card would contain a secret (text that people wrote may have one).
    """
    tables = {
        LATEST: _latest("leaderboard", bundle, dataset, newest),
        CONTESTS: _latest("contests", bundle, dataset, current),
    }
    latest = {path: to_parquet(table) for path, table in tables.items() if table.num_rows}
    # For a contest that exists already, the existing files provide the texts.
    new = {
        path: content
        for path, content in bundle.files.items()
        if not (path.startswith(OF_CONTESTS) and path in dataset)
    }
    files = ChainMap(latest, new, cast("dict[str, bytes]", dataset))
    boards, contests = (table.to_pylist() for table in tables.values())
    text = card(boards, files, contests=contests, license=license, repo_id=repo_id)
    readme = {README: text.encode()}
    refuse_secrets(readme, bundle.secrets)
    return readme | latest


def newest(rows: Iterable[Row]) -> list[Row]:
    """For every benchmark, protocol and judge the rows of the newest run, without repeats."""
    runs: dict[tuple[Any, ...], tuple[str, str]] = {}
    rows = list(rows)
    for row in rows:
        key, run = _key(row), (row["created"], row["run_id"])
        runs[key] = max(runs.get(key, run), run)
    kept = {
        (*_key(row), row["metric"], row["model"]): row
        for row in rows
        if (row["created"], row["run_id"]) == runs[_key(row)]
    }
    return sorted(kept.values(), key=_order)


def current(rows: Iterable[Row]) -> list[Row]:
    """Rows of contests, newest first, without contests whose benchmarks a newer one includes."""
    contests: dict[str, dict[tuple[Any, ...], Row]] = {}
    for row in rows:
        key = (row["method"], str(row.get("eliminate_by_round")), row["model"])
        contests.setdefault(row["contest_id"], {}).setdefault(key, row)
    played: list[set[str]] = []
    kept: list[Row] = []
    for contest in contests.values():
        benchmarks = set(next(iter(contest.values()))["benchmarks"])
        if not any(newer >= benchmarks for newer in played):
            played.append(benchmarks)
            kept += contest.values()
    return kept


def _latest(
    name: str,
    bundle: Bundle,
    dataset: Mapping[str, bytes],
    pick: Callable[[Iterable[Row]], list[Row]],
) -> "pa.Table":
    """The latest table of a dataset with the bundle added: the rows that `pick` returns."""
    import pyarrow as pa

    added: dict[bool, list[pa.Table]] = {True: [], False: []}
    for path, content in bundle.files.items():
        if path.startswith(f"{name}/full/"):
            added[path not in dataset].append(from_parquet(content))
    # Existing contests are older than all that were added later.
    tables = [*added[True], *_tables(name, dataset), *added[False]]
    rows = pick(row for table in tables for row in table.to_pylist())
    return pa.Table.from_pylist([dict(row) for row in rows], schema=_unified(name, tables))


def _tables(name: str, dataset: Mapping[str, bytes]) -> list["pa.Table"]:
    """The existing latest table; if it is missing or damaged, the tables of all runs."""
    latest = f"{name}/latest.parquet"
    if latest in dataset and (table := _table(name, dataset[latest])) is not None:
        return [table]
    tables = []
    for path in sorted(dataset):
        if path.startswith(f"{name}/full/") and path.endswith(".parquet"):
            table = _table(name, dataset[path])
            if table is None:
                raise PublishError(
                    f"{path} in the dataset is not a {name.removesuffix('s')} of Tiebreak, so "
                    f"{latest} cannot be made: remove that file from the dataset, or restore it"
                )
            tables.append(table)
    return tables


def _table(name: str, content: bytes) -> "pa.Table | None":
    import pyarrow as pa

    needed = _NEEDED[name]
    try:
        table = from_parquet(content)
        _unified(name, [table])
    except (ValueError, OSError, pa.ArrowException):  # damaged, or a column of another kind
        return None
    if not set(table.schema.names) >= needed | ({"judge"} if name == "leaderboard" else set()):
        return None
    return None if any(table[column].null_count for column in needed) else table


def _unified(name: str, tables: Sequence["pa.Table"]) -> "pa.Schema":
    """Our columns, followed by those that only a later version knows, which are kept."""
    import pyarrow as pa

    ours = schema(name)
    theirs = [pa.schema([field.with_nullable(True) for field in table.schema]) for table in tables]
    loose = pa.schema([field.with_nullable(True) for field in ours])
    return pa.unify_schemas([loose, *theirs], promote_options="permissive").remove_metadata()


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in _KEY)


def _order(row: Row) -> tuple[Any, ...]:
    metrics = list(METRICS)
    metric = row["metric"]
    place = metrics.index(metric) if metric in metrics else len(metrics)
    rank = row.get("rank")
    names = (row["benchmark"], row["protocol"], row["judge"] or "")
    return *names, place, metric, math.inf if rank is None else rank, row["model"]


# Another machine may round the last digit of a number differently.
_CLOSE: Final = 1e-9


class Dataset(Mapping[str, bytes]):
    """Content of a dataset at one moment, by path: in a folder, or at one commit on the Hub.

    `name` is its folder or OWNER/NAME, and `remedy` says what to do if it contains another version
    of a run. `known` is the location or the hash of every file, known without reading it.
    """

    name: str
    remedy: str
    known: Mapping[str, Any]

    def __getitem__(self, path: str) -> bytes:
        if path not in self.known:
            raise KeyError(path)
        return self.read(path)

    def __contains__(self, path: object) -> bool:
        return path in self.known

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)

    @abstractmethod
    def read(self, path: str) -> bytes:
        """Content of an existing file."""

    def holds(self, path: str, content: bytes) -> bool:
        """Whether a file exists with exactly these bytes."""
        return path in self and self[path] == content


def missing_files(
    bundle: Bundle, dataset: Dataset, *, license: str | None, repo_id: str
) -> dict[str, bytes]:
    """The files that must be written for a dataset to contain a bundle; empty if it does.

    Raises:
        PublishError: an immutable file exists with other content, or the card is unusable.
    """

    def missing(files: Mapping[str, bytes]) -> dict[str, bytes]:
        return {
            path: content
            for path, content in files.items()
            if path not in dataset
            or not (dataset.holds(path, content) or same_content(path, content, dataset[path]))
        }

    new = missing(bundle.files)
    for path in sorted(new.keys() & dataset.keys()):
        raise PublishError(
            f"{dataset.name} holds another {path} already, and what is published never changes: "
            "the log has been changed since then (scored again, for example), or --level, --draws "
            f"or --seed are others. {dataset.remedy}"
        )
    return new | missing(changing_files(bundle, dataset, license=license, repo_id=repo_id))


def same_content(path: str, ours: bytes, theirs: bytes) -> bool:
    """Whether two files at one path have the same content.

    Tables and manifests are compared by their data, and numbers up to rounding, because another
    version of a library writes other bytes. Columns or keys that only one side has, as another
    version of Tiebreak may write, are ignored, unless each side lacks some. Plots depend on a
    machine's fonts and always count as equal, and so do files named after the scores in them.
    """
    if ours == theirs or path.startswith(("plots/", *OF_CONTESTS)):
        return True
    try:
        if path.endswith(".parquet"):
            return _is_close(from_parquet(ours).to_pylist(), from_parquet(theirs).to_pylist())
        return path.endswith(".json") and _is_close(json.loads(ours), json.loads(theirs))
    except (ValueError, OSError):  # damaged, so certainly not ours; includes Arrow's errors
        return False


def _is_close(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        shared = ours.keys() & theirs.keys()
        added = shared in (ours.keys(), theirs.keys()) and bool(shared) == bool(ours or theirs)
        return added and all(_is_close(ours[key], theirs[key]) for key in shared)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(_is_close, ours, theirs))
    if isinstance(ours, float) and isinstance(theirs, float | int):
        return math.isclose(ours, theirs, rel_tol=_CLOSE, abs_tol=_CLOSE)
    return type(ours) is type(theirs) and bool(ours == theirs)
