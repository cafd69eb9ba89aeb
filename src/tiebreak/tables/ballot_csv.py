"""Ballots in CSV, in one of two forms. The header says which.

Wide: a ballot a line, a column per candidate; a cell is a rank (lower is better, equal = tied,
empty = not ranked). The columns `reviewer` (or `ballot`) and `item` may be there, too::

    reviewer,item,model-a,model-b,model-c
    judge-1,q1,1,2,3
    judge-2,q1,1,1,
    judge-1,q2,3,1,2

Long: a rank a line, in columns `candidate` and `rank`; `reviewer` (or `ballot`) says whose, and
`item`, which is optional, on which question::

    item,reviewer,candidate,rank
    q1,judge-1,model-a,1
    q1,judge-1,model-b,2

The names `reviewer`, `ballot`, `item`, `candidate` and `rank` are reserved for these columns, in
upper and lower case. For separators, encoding and numbers see `delimited`.
"""

from pathlib import Path

from tiebreak.tables.ballots import Ballot, BallotFile, ballot_file
from tiebreak.tables.delimited import Delimited, Row, read_delimited
from tiebreak.tables.errors import TableError, listed, shown

RESERVED = {"ballot": "reviewer"} | {n: n for n in ("reviewer", "item", "candidate", "rank")}

_NOT_WIDE = "take it out, or name it reviewer or item"


def read_ballot_csv(path: Path, *, drop_unranked: bool = False) -> BallotFile:
    """Read a CSV file of ballots, wide or long.

    Args:
        path: the file.
        drop_unranked: leave out, and note, the candidates that no ballot ranks.

    Raises:
        TableError: columns that fit neither form; a rank that is not a number or below 0; a label
            that is missing; a reviewer who ranks a candidate, or an item, twice; as
            `read_delimited` and `ballot_file`.
    """
    table = read_delimited(path)
    columns = table.meanings(RESERVED)
    long = "candidate" in columns or "rank" in columns
    ballots, candidates = _long(table, columns) if long else _wide(table, columns)
    return ballot_file(path.stem, str(path), ballots, candidates, drop_unranked=drop_unranked)


def _wide(table: Delimited, columns: dict[str, str]) -> tuple[list[Ballot], list[str]]:
    candidates = [name for name in table.header if name not in columns.values()]
    if not candidates:
        raise TableError(f"{table.path}: there is no column for a candidate; name one per column")
    ballots = []
    lines: dict[tuple[str, str], int] = {}
    for row in table.rows:
        item, reviewer = _labels(table, columns, row)
        if "reviewer" in columns:
            what = f"{shown(reviewer)} votes{_on(item)}"
            table.once(lines, (item, reviewer), row, what)
        ranks = {name: table.rank(row, name, if_text=_NOT_WIDE) for name in candidates}
        ballots.append(Ballot(ranks, item, reviewer))
    return ballots, candidates


def _long(table: Delimited, columns: dict[str, str]) -> tuple[list[Ballot], list[str]]:
    _check_long(table, columns)
    ballots: dict[tuple[str, str], dict[str, float]] = {}
    candidates: dict[str, None] = {}
    lines: dict[tuple[str, str, str], int] = {}
    for row in table.rows:
        item, reviewer = _labels(table, columns, row)
        candidate = _label(table, row, columns["candidate"])
        what = f"{shown(reviewer)} ranks {shown(candidate)}{_on(item)}"
        table.once(lines, (item, reviewer, candidate), row, what)
        candidates[candidate] = None
        ballots.setdefault((item, reviewer), {})[candidate] = table.rank(
            row, columns["rank"], if_text="write ranks as numbers"
        )
    named = [Ballot(ranks, item, reviewer) for (item, reviewer), ranks in ballots.items()]
    return named, list(candidates)


def _check_long(table: Delimited, columns: dict[str, str]) -> None:
    form = "the long form has the columns item (optional), reviewer, candidate and rank"
    if missing := [name for name in ("reviewer", "candidate", "rank") if name not in columns]:
        raise TableError(f"{table.path}: there is no column {missing[0]!r}; {form}")
    if others := [shown(name) for name in table.header if name not in columns.values()]:
        raise TableError(
            f"{table.path}: unknown column {listed(others)}; {form}. In the wide form, with a "
            "column per candidate, the names 'candidate' and 'rank' are reserved"
        )


def _labels(table: Delimited, columns: dict[str, str], row: Row) -> tuple[str, str]:
    """Item and reviewer of a row, empty where the file has no such column."""
    item, reviewer = (
        _label(table, row, columns[meaning]) if meaning in columns else ""
        for meaning in ("item", "reviewer")
    )
    return item, reviewer


def _label(table: Delimited, row: Row, column: str) -> str:
    return table.label(row, column, f"column {column!r} is empty")


def _on(item: str) -> str:
    return f" on item {shown(item)}" if item else ""
