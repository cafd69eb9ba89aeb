"""What changes with every publication: the card, the latest leaderboard and the latest contests.

All are made from what the dataset holds at that moment and from the bundle, by pure functions; a
folder and the Hub are asked in the same way what they lack. For every benchmark, protocol and judge
the latest leaderboard keeps the rows of the newest run, by (`created`, `run_id`): the maximum of an
order, so publications may come in any order, twice, or together, and the table never goes back.

A contest has no date: the newest is the one that came to the dataset last, and it replaces those
over the same benchmarks, or over some of them. One that is there already does not come again.
"""

import json
import math
from abc import abstractmethod
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
FULL: Final = "leaderboard/full/"
CONTESTS: Final = "contests/latest.parquet"
ALL_CONTESTS: Final = "contests/full/"

_KEY: Final = ("benchmark", "protocol", "judge")
# Columns without which a table of that name is none of Tiebreak's; they are never null.
_NEEDED: Final = {
    "leaderboard": {"benchmark", "protocol", "run_id", "created", "model", "metric"},
    "contests": {"contest_id", "method", "model", "benchmarks", "rounds"},
}


def changing_files(
    bundle: Bundle, there: Mapping[str, bytes], *, license: str | None, repo_id: str
) -> dict[str, bytes]:
    """The files that change with every publication, as they are to be with the bundle.

    `there` are the files of the dataset by path.

    Raises:
        PublishError: the card or a table that is there cannot be read, the licence is not an id,
            or the card would hold a secret (a person's text may have one).
    """
    boards, contests = _latest(bundle, there), _latest_contests(bundle, there)
    tables = {LATEST: boards, CONTESTS: contests}
    latest = {path: to_parquet(table) for path, table in tables.items() if table.num_rows}
    # Of a contest that is there the words are those that are there.
    new = {
        path: content
        for path, content in bundle.files.items()
        if not (path.startswith(OF_CONTESTS) and path in there)
    }
    files = ChainMap(latest, new, cast("dict[str, bytes]", there))
    rows = boards.to_pylist()
    text = card(rows, files, contests=contests.to_pylist(), license=license, repo_id=repo_id)
    readme = {README: text.encode()}
    refuse_secrets(readme, bundle.secrets)
    return readme | latest


def newest(rows: Iterable[Row]) -> list[Row]:
    """Of every benchmark, protocol and judge the rows of the newest run, each once, in order."""
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
    """The rows of contests, the newest first, without those whose benchmarks a newer one has."""
    contests: dict[str, list[Row]] = {}
    for row in rows:
        contests.setdefault(row["contest_id"], []).append(row)
    played: list[set[str]] = []
    kept: list[Row] = []
    for own in contests.values():
        if not any(one >= set(own[0]["benchmarks"]) for one in played):
            played.append(set(own[0]["benchmarks"]))
            kept += own
    return kept


def _latest(bundle: Bundle, there: Mapping[str, bytes]) -> "pa.Table":
    import pyarrow as pa

    added = [
        from_parquet(content) for path, content in bundle.files.items() if path.startswith(FULL)
    ]
    tables = [*_tables("leaderboard", there, LATEST, FULL), *added]
    rows = [dict(row) for row in newest(row for table in tables for row in table.to_pylist())]
    return pa.Table.from_pylist(rows, schema=_unified("leaderboard", tables))


def _latest_contests(bundle: Bundle, there: Mapping[str, bytes]) -> "pa.Table":
    import pyarrow as pa

    added: dict[bool, list[pa.Table]] = {True: [], False: []}
    for path, content in bundle.files.items():
        if path.startswith(ALL_CONTESTS):
            added[path not in there].append(from_parquet(content))
    # One that was there before is older than all that came after it.
    tables = [*added[True], *_tables("contests", there, CONTESTS, ALL_CONTESTS), *added[False]]
    rows, seen = [], set()
    for table in tables:
        own = [row for row in table.to_pylist() if row["contest_id"] not in seen]
        seen |= {row["contest_id"] for row in own}
        rows += own
    return pa.Table.from_pylist(
        [dict(row) for row in current(rows)], schema=_unified("contests", tables)
    )


def _tables(name: str, there: Mapping[str, bytes], latest: str, full: str) -> list["pa.Table"]:
    """The latest table that is there; where it is missing or damaged, those of all runs."""
    if latest in there and (table := _table(name, there[latest])) is not None:
        return [table]
    found = []
    for path in sorted(there):
        if path.startswith(full) and path.endswith(".parquet"):
            table = _table(name, there[path])
            if table is None:
                what = {"leaderboard": "leaderboard", "contests": "contest"}[name]
                raise PublishError(
                    f"{path} in the dataset is not a {what} of Tiebreak, so {latest} cannot be "
                    "made: remove that file from the dataset, or restore it"
                )
            found.append(table)
    return found


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
    """Our columns, and after them those that only a later version knows: they stay."""
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


# Another machine may round the last digit of a number in another way.
_CLOSE: Final = 1e-9


class Dataset(Mapping[str, bytes]):
    """What a dataset holds at one moment, by path: in a folder, or at one commit on the Hub.

    `name` is its folder or OWNER/NAME, and `remedy` what to do when it holds another version of a
    run. `known` is what is known of every file before it is read: where it is, or its hash.
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
        """Content of a file that is there."""

    def has(self, path: str, content: bytes) -> bool:
        """Whether a file is there and holds exactly these bytes."""
        return path in self and self[path] == content


def missing_files(
    bundle: Bundle, there: Dataset, *, license: str | None, repo_id: str
) -> dict[str, bytes]:
    """The files that have to be written for a dataset to hold a bundle; empty: it holds it.

    Raises:
        PublishError: a file that never changes is there with another content, or the card cannot
            be read or made.
    """

    def holds(path: str, content: bytes) -> bool:
        return path in there and (
            there.has(path, content) or same_content(path, content, there[path])
        )

    new = {path: content for path, content in bundle.files.items() if not holds(path, content)}
    for path in sorted(new.keys() & there.keys()):
        raise PublishError(
            f"{there.name} holds another {path} already, and what is published never changes: the "
            "log has been changed since then (scored again, for example), or --level, --draws or "
            f"--seed are others. {there.remedy}"
        )
    changing = changing_files(bundle, there, license=license, repo_id=repo_id)
    return new | {path: content for path, content in changing.items() if not holds(path, content)}


def same_content(path: str, ours: bytes, theirs: bytes) -> bool:
    """Whether two files at one path say the same.

    Tables and manifests are compared by what they hold, and numbers up to the last digits: another
    version of a library writes other bytes. A column or key that only one of them has, as another
    version of Tiebreak may write, makes no difference, unless each lacks something. Plots are
    drawn with the fonts of a machine and always count as the same, and so does what was made of a
    table of scores that names it.
    """
    if ours == theirs or path.startswith(("plots/", *OF_CONTESTS)):
        return True
    try:
        if path.endswith(".parquet"):
            return _alike(from_parquet(ours).to_pylist(), from_parquet(theirs).to_pylist())
        return path.endswith(".json") and _alike(json.loads(ours), json.loads(theirs))
    except (ValueError, OSError):  # damaged: certainly not ours; Arrow's errors are among these
        return False


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        shared = one.keys() & other.keys()
        added = shared in (one.keys(), other.keys()) and bool(shared) == bool(one or other)
        return added and all(_alike(one[key], other[key]) for key in shared)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, float) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=_CLOSE, abs_tol=_CLOSE)
    return type(one) is type(other) and bool(one == other)
