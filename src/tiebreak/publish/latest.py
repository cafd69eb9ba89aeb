"""What changes with every publication: the card and the latest leaderboard.

Both are made from what the dataset holds at that moment and from the bundle, by pure functions. For
every benchmark, protocol and judge the latest leaderboard keeps the rows of the newest run, by
(`created`, `run_id`): the maximum of an order, so publications may come in any order, twice, or
together, and the table never goes back.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tiebreak.publish.bundle import Bundle
from tiebreak.publish.card import card
from tiebreak.publish.errors import PublishError
from tiebreak.publish.rows import METRICS
from tiebreak.publish.secrets import refuse_secrets
from tiebreak.publish.tables import from_parquet, schema, to_parquet

if TYPE_CHECKING:
    import pyarrow as pa

Row = Mapping[str, Any]

README: Final = "README.md"
LATEST: Final = "leaderboard/latest.parquet"
FULL: Final = "leaderboard/full/"

_KEY: Final = ("benchmark", "protocol", "judge")
_NEEDED: Final = {"benchmark", "protocol", "run_id", "created", "model", "metric"}


def living_files(
    bundle: Bundle,
    *,
    readme: str | None,
    read: Callable[[str], bytes],
    paths: Collection[str],
    license: str | None,
    repo_id: str,
) -> dict[str, bytes]:
    """The files that change with every publication, as they are to be with the bundle.

    Args:
        bundle: what is added.
        readme: the card that is there, None where there is none.
        read: gives the bytes of a file that is there.
        paths: all files that are there.
        license: licence id to put on the card; None leaves it as it is.
        repo_id: "OWNER/NAME", for the examples on the card.

    Raises:
        PublishError: the card or a leaderboard that is there cannot be read, the licence is not an
            id, or the card would hold a secret (a person's text may have one).
    """

    def content(path: str) -> bytes:
        return bundle.files[path] if path in bundle.files else read(path)

    table = _latest(bundle, read, paths)
    everything = {*paths, *bundle.files, LATEST}
    text = card(
        table.to_pylist(),
        readme=readme,
        read=content,
        paths=everything,
        license=license,
        repo_id=repo_id,
    )
    files = {README: text.encode()}
    refuse_secrets(files, bundle.secrets)
    return files | ({LATEST: to_parquet(table)} if table.num_rows else {})


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


def _latest(bundle: Bundle, read: Callable[[str], bytes], paths: Collection[str]) -> "pa.Table":
    import pyarrow as pa

    there = _leaderboards(read, paths)
    added = [
        from_parquet(content) for path, content in bundle.files.items() if path.startswith(FULL)
    ]
    rows = [row for table in (*there, *added) for row in table.to_pylist()]
    return pa.Table.from_pylist(
        [dict(row) for row in newest(rows)], schema=_unified([*there, *added])
    )


def _leaderboards(read: Callable[[str], bytes], paths: Collection[str]) -> list["pa.Table"]:
    """The latest leaderboard that is there; where there is none, or a damaged one, all runs'."""
    if LATEST in paths:
        table = _table(read(LATEST))
        if table is not None:
            return [table]
    found = []
    for path in sorted(paths):
        if path.startswith(FULL) and path.endswith(".parquet"):
            table = _table(read(path))
            if table is None:
                raise PublishError(
                    f"{path} in the dataset is no leaderboard of Tiebreak, so the latest "
                    "leaderboard cannot be made: remove that file from the dataset, or restore it"
                )
            found.append(table)
    return found


def _table(content: bytes) -> "pa.Table | None":
    import pyarrow as pa

    try:
        table = from_parquet(content)
    except (ValueError, OSError):
        return None
    try:
        _unified([table])
    except pa.ArrowException:  # a column of another kind
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
