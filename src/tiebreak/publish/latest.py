"""What changes with every publication: the card, the latest leaderboard and the latest contests.

All are made from what the dataset holds at that moment and from the bundle, by pure functions. For
every benchmark, protocol and judge the latest leaderboard keeps the rows of the newest run, by
(`created`, `run_id`): the maximum of an order, so publications may come in any order, twice, or
together, and the table never goes back.

A contest has no date: the newest is the one that came to the dataset last, and it replaces those
over the same benchmarks, or over some of them. One that is there already does not come again.
"""

import math
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from tiebreak.publish.bundle import Bundle
from tiebreak.publish.card import README, card
from tiebreak.publish.contests import OF_CONTESTS
from tiebreak.publish.errors import PublishError
from tiebreak.publish.search import refuse_secrets
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
