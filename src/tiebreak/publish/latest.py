"""What changes with every publication: the card and the latest leaderboard.

Both are made from what the dataset holds at that moment and from the bundle, by pure functions. For
every benchmark, protocol and judge the latest leaderboard keeps the rows of the newest run, by
(`created`, `run_id`): the maximum of an order, so publications may come in any order, twice, or
together, and the table never goes back.
"""

import math
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from tiebreak.publish.bundle import Bundle
from tiebreak.publish.card import README, card
from tiebreak.publish.errors import PublishError
from tiebreak.publish.secrets import refuse_secrets
from tiebreak.publish.tables import from_parquet, schema, to_parquet
from tiebreak.report.columns import METRICS

if TYPE_CHECKING:
    import pyarrow as pa

Row = Mapping[str, Any]

LATEST: Final = "leaderboard/latest.parquet"
FULL: Final = "leaderboard/full/"

_KEY: Final = ("benchmark", "protocol", "judge")
_NEEDED: Final = {"benchmark", "protocol", "run_id", "created", "model", "metric"}


def changing_files(
    bundle: Bundle, there: Mapping[str, bytes], *, license: str | None, repo_id: str
) -> dict[str, bytes]:
    """The files that change with every publication, as they are to be with the bundle.

    `there` are the files of the dataset by path.

    Raises:
        PublishError: the card or a leaderboard that is there cannot be read, the licence is not an
            id, or the card would hold a secret (a person's text may have one).
    """
    table = _latest(bundle, there)
    latest = {LATEST: to_parquet(table)} if table.num_rows else {}
    files = ChainMap(latest, bundle.files, cast("dict[str, bytes]", there))
    text = card(table.to_pylist(), files, license=license, repo_id=repo_id)
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


def _latest(bundle: Bundle, there: Mapping[str, bytes]) -> "pa.Table":
    import pyarrow as pa

    added = [
        from_parquet(content) for path, content in bundle.files.items() if path.startswith(FULL)
    ]
    tables = [*_leaderboards(there), *added]
    rows = [dict(row) for row in newest(row for table in tables for row in table.to_pylist())]
    return pa.Table.from_pylist(rows, schema=_unified(tables))


def _leaderboards(there: Mapping[str, bytes]) -> list["pa.Table"]:
    """The latest leaderboard that is there; where it is missing or damaged, those of all runs."""
    if LATEST in there and (table := _table(there[LATEST])) is not None:
        return [table]
    found = []
    for path in sorted(there):
        if path.startswith(FULL) and path.endswith(".parquet"):
            table = _table(there[path])
            if table is None:
                raise PublishError(
                    f"{path} in the dataset is not a leaderboard of Tiebreak, so the latest "
                    "leaderboard cannot be made: remove that file from the dataset, or restore it"
                )
            found.append(table)
    return found


def _table(content: bytes) -> "pa.Table | None":
    import pyarrow as pa

    try:
        table = from_parquet(content)
        _unified([table])
    except (ValueError, OSError, pa.ArrowException):  # damaged, or a column of another kind
        return None
    if not set(table.schema.names) >= _NEEDED | {"judge"}:
        return None
    return None if any(table[name].null_count for name in _NEEDED) else table


def _unified(tables: Sequence["pa.Table"]) -> "pa.Schema":
    """Our columns, and after them those that only a later version knows: they stay."""
    import pyarrow as pa

    ours = schema("leaderboard")
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
