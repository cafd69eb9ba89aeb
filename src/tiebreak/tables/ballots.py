"""Read ballots from CSV, PrefLib files and ranking logs into a profile of ranks.

A CSV file has one of two forms; the header tells which.

Wide: one ballot per line, one column per candidate; a cell is a rank (lower is better, equal =
tied, empty = not ranked). The columns `reviewer` (or `ballot`) and `item` are optional::

    reviewer,item,model-a,model-b,model-c
    judge-1,q1,1,2,3
    judge-2,q1,1,1,
    judge-1,q2,3,1,2

Long: one rank per line, in columns `candidate` and `rank`; `reviewer` (or `ballot`) is the voter,
`item`, which is optional, the question::

    item,reviewer,candidate,rank
    q1,judge-1,model-a,1
    q1,judge-1,model-b,2

The names `reviewer`, `ballot`, `item`, `candidate` and `rank` are reserved for these columns, in
upper and lower case. For separators, encoding and numbers see `delimited`.

PrefLib's formats for rankings are `.soc`, `.soi`, `.toc` and `.toi`. preflibtools parses the file,
but accepts any line in which its pattern matches something: an unclosed brace breaks a tie,
`1: 1 2 3` ranks the alternative 123, an order that occurs twice counts four times, text is ignored.
So every line is first checked against the format, and the parsed instance against its header.

In ranking logs, the ranking of an item's answers is a ballot over the models; in a peer review,
each review is one.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiebreak.rankers.errors import optional
from tiebreak.rankers.profile import FloatArray, Profile
from tiebreak.ranking_logs import (
    RankedItem,
    RankingLog,
    RankingLogError,
    Unranked,
    read_ranking_logs,
)
from tiebreak.scorers.placement import review_ranks
from tiebreak.scorers.rules import RULES
from tiebreak.tables.delimited import Delimited, Row, read_delimited, read_text
from tiebreak.tables.errors import TableError, shown
from tiebreak.tables.scores import ScoreTable
from tiebreak.text import listed

MAX_CELLS = 20_000_000
"""Largest number of ballots × candidates that is read: 160 MB of ranks."""

RESERVED = {"ballot": "reviewer"} | {n: n for n in ("reviewer", "item", "candidate", "rank")}

_NOT_WIDE = "take it out, or name it reviewer or item"


class Ballot(NamedTuple):
    """Ranks by candidate, NaN or absent = not ranked; `times` voters cast it."""

    ranks: Mapping[str, float]
    item: str = ""
    reviewer: str = ""
    times: int = 1


@dataclass(frozen=True, eq=False, slots=True)
class BallotFile:
    """The ballots of one file, or of one benchmark in ranking logs.

    `name` is a heading, `source` the file or files. `items` and `reviewers` have one entry for each
    ballot of the profile, its question and its voter; they are empty if the file has no such
    labels. `notes` are sentences on what was left out and why. `scores` is the table whose
    benchmarks the ballots were made of, or None if they were not made of scores.
    """

    name: str
    source: str
    profile: Profile
    items: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    scores: ScoreTable | None = None

    def questions(self) -> dict[str, Profile]:
        """One profile per item, in order of first occurrence; a single one, "", without items.

        Candidates that no ballot on an item ranks are not in that item's profile.
        """
        profiles = {}
        for item, rows in self._rows().items():
            ranks = self.profile.ranks[rows]
            ranked = ~np.isnan(ranks).all(axis=0)
            names = [self.profile.names[column] for column in np.flatnonzero(ranked).tolist()]
            profiles[item] = Profile.from_ranks(ranks[:, ranked], names)
        return profiles

    def batch(self) -> tuple[tuple[str, ...], FloatArray]:
        """Ranks of all questions in one array, for batch methods.

        Returns:
            The items, and ranks of shape (items, ballots, N); items with fewer ballots than the
            item with most are padded with ballots of NaN.
        """
        rows = self._rows()
        most = max(len(numbers) for numbers in rows.values())
        ranks = np.full((len(rows), most, self.profile.n_candidates), np.nan)
        for number, numbers in enumerate(rows.values()):
            ranks[number, : len(numbers)] = self.profile.ranks[numbers]
        return tuple(rows), ranks

    def _rows(self) -> dict[str, list[int]]:
        """Rows of the profile with the ballots on each item."""
        rows: dict[str, list[int]] = {}
        for number, item in enumerate(self.items or [""] * self.profile.n_ballots):
            rows.setdefault(item, []).append(number)
        return rows


def ballot_file(
    name: str,
    source: str,
    ballots: Iterable[Ballot],
    candidates: Sequence[str],
    *,
    drop_unranked: bool,
    notes: Iterable[str] = (),
) -> BallotFile:
    """Make a `BallotFile` of ballots.

    `name`, `source` and `notes` are those of the `BallotFile`, `candidates` the columns of its
    profile in order. Empty ballots are left out and noted; with `drop_unranked` so are candidates
    that no ballot ranks.

    Raises:
        TableError: no ballot ranks any candidate; no ballot ranks one of the candidates and
            `drop_unranked` is False; or there are more than `MAX_CELLS` ranks.
    """
    voted = list(ballots)
    total = sum(ballot.times for ballot in voted)
    if total * len(candidates) > MAX_CELLS:
        raise TableError(
            f"{source} holds {total:,} ballots over {len(candidates):,} candidates, more than the "
            f"{MAX_CELLS:,} ranks that are read; give a sample of the ballots"
        )
    table = np.array(
        [[ballot.ranks.get(name, np.nan) for name in candidates] for ballot in voted], np.float64
    ).reshape(len(voted), len(candidates))  # needed if there are no ballots
    ranked = ~np.isnan(table)
    if not ranked.any():
        raise TableError(f"{source}: no ballot ranks any candidate; check that the ranks are there")
    noted = list(notes)
    columns: NDArray[np.bool_] = np.any(ranked, axis=0)
    rows: NDArray[np.bool_] = np.any(ranked, axis=1)
    if not columns.all():
        noted.append(_without(source, candidates, np.flatnonzero(~columns).tolist(), drop_unranked))
    if not rows.all():
        noted.append(f"{source}: ballots that rank no candidate were left out: {np.sum(~rows)}")
    kept = [ballot for ballot, ranks in zip(voted, rows, strict=True) if ranks]
    names = [candidates[column] for column in np.flatnonzero(columns).tolist()]
    return BallotFile(
        name=name,
        source=source,
        profile=_profile(table[np.ix_(rows, columns)], names, [ballot.times for ballot in kept]),
        items=_labels(kept, [ballot.item for ballot in kept]),
        reviewers=_labels(kept, [ballot.reviewer for ballot in kept]),
        notes=tuple(noted),
    )


def _without(
    source: str, candidates: Sequence[str], unranked: Iterable[int], drop_unranked: bool
) -> str:
    names = listed([shown(candidates[column]) for column in unranked])
    if drop_unranked:
        return f"{source}: no ballot ranks {names}; left out"
    raise TableError(
        f"{source}: no ballot ranks {names}, so no consensus can place them; take them out of the "
        "file, or leave them out with --drop-unranked"
    )


def _profile(table: FloatArray, names: list[str], counts: list[int]) -> Profile:
    distinct = Profile.from_ranks(table, names)
    if all(count == 1 for count in counts):
        return distinct
    # A file may have thousands of equal ballots, so each is normalised once and then repeated.
    ranks = np.repeat(distinct.ranks, counts, axis=0)
    ranks.setflags(write=False)
    return Profile(ranks, distinct.names)


def _labels(ballots: list[Ballot], labels: list[str]) -> tuple[str, ...]:
    """A label for every ballot, or () if the file has no such labels."""
    if not any(labels):
        return ()
    return tuple(
        label for ballot, label in zip(ballots, labels, strict=True) for _ in range(ballot.times)
    )


def read_ballot_csv(path: Path, *, drop_unranked: bool = False) -> BallotFile:
    """Read a CSV file of ballots, wide or long.

    With `drop_unranked`, candidates that no ballot ranks are left out and noted.

    Raises:
        TableError: the columns fit neither form; a rank is not a number or is below 0; a label is
            missing; a reviewer ranks a candidate, or an item, twice; or as for `read_delimited` and
            `ballot_file`.
    """
    table = read_delimited(path).named(RESERVED)
    long = "candidate" in table.columns or "rank" in table.columns
    ballots, candidates = _long_form(table) if long else _wide_form(table)
    return ballot_file(path.stem, str(path), ballots, candidates, drop_unranked=drop_unranked)


def _wide_form(table: Delimited) -> tuple[list[Ballot], list[str]]:
    candidates = [name for name in table.header if name not in table.columns.values()]
    if not candidates:
        raise TableError(f"{table.path}: there is no column for a candidate; name one per column")
    ballots = []
    for row in table.rows:
        item, reviewer = _labels_of(table, row)
        if "reviewer" in table.columns:
            table.once((item, reviewer), row, f"{shown(reviewer)} votes{_on(item)}")
        ranks = {name: table.rank(row, name, if_text=_NOT_WIDE) for name in candidates}
        ballots.append(Ballot(ranks, item, reviewer))
    return ballots, candidates


def _long_form(table: Delimited) -> tuple[list[Ballot], list[str]]:
    _check_long(table)
    ballots: dict[tuple[str, str], dict[str, float]] = {}
    candidates: dict[str, None] = {}
    for row in table.rows:
        item, reviewer = _labels_of(table, row)
        candidate = _label_of(table, row, "candidate")
        vote = f"{shown(reviewer)} ranks {shown(candidate)}{_on(item)}"
        table.once((item, reviewer, candidate), row, vote)
        candidates[candidate] = None
        rank = table.rank(row, "rank")
        ballots.setdefault((item, reviewer), {})[candidate] = rank
    named = [Ballot(ranks, item, reviewer) for (item, reviewer), ranks in ballots.items()]
    return named, list(candidates)


def _check_long(table: Delimited) -> None:
    form = "the long form has the columns item (optional), reviewer, candidate and rank"
    table.require(("reviewer", "candidate", "rank"), form)
    if unknown := [shown(name) for name in table.header if name not in table.columns.values()]:
        raise TableError(
            f"{table.path}: unknown column {listed(unknown)}; {form}. In the wide form, with a "
            "column per candidate, the names 'candidate' and 'rank' are reserved"
        )


def _labels_of(table: Delimited, row: Row) -> tuple[str, str]:
    """Item and reviewer of a row, each "" if the file has no such column."""
    item, reviewer = (
        _label_of(table, row, meaning) if meaning in table.columns else ""
        for meaning in ("item", "reviewer")
    )
    return item, reviewer


def _label_of(table: Delimited, row: Row, column: str) -> str:
    return table.label(row, column, f"column {table.columns[column]!r} is empty")


def _on(item: str) -> str:
    return f" on item {shown(item)}" if item else ""


_GROUP = r"(?:[0-9]+|\{\s*[0-9]+(?:\s*,\s*[0-9]+)*\s*\})"
_BALLOT = re.compile(rf"[0-9]+\s*:\s*{_GROUP}(?:\s*,\s*{_GROUP})*")
_HEADER_HELP = "compare the header with the format at preflib.org"

Order = tuple[tuple[int, ...], ...]


def read_preflib(path: Path, *, drop_unranked: bool = False) -> BallotFile:
    """Read a PrefLib file of rankings; an order with a count of n becomes n ballots.

    Args:
        path: the file; its suffix says whether orders may have ties (t) and gaps (i).
        drop_unranked: whether to leave out, with a note, alternatives that no ballot ranks.

    Raises:
        MissingPackageError: preflibtools is not installed.
        TableError: a line is not in the format, or contradicts the header or suffix; or as for
            `read_text` and `ballot_file`.
    """
    instances = optional(
        "preflibtools.instances", "PrefLib files are read with preflibtools", "preflibtools"
    )
    instance = instances.OrdinalInstance()
    kind = path.suffix.lower().removeprefix(".")
    # Not splitlines(), which also splits at characters that may occur in a name.
    lines = [line.strip() for line in read_text(path).split("\n")]
    header = [line for line in lines if line.startswith("#")]
    body = [
        (number, line)
        for number, line in enumerate(lines, start=1)
        if line and not line.startswith("#")
    ]
    _check_lines(path, body)
    instance.data_type = kind
    try:
        instance.parse_lines([*header, *(line for _, line in body)])
    except Exception as error:  # int() and unpacking fail with various errors on a wrong header
        raise TableError(
            f"{path}: preflibtools cannot read it ({type(error).__name__}: {shown(str(error))}); "
            f"{_HEADER_HELP}"
        ) from error
    first: dict[Order, int] = {}
    names = instance.alternatives_name
    ballots = []
    for (number, _), order in zip(body, instance.orders, strict=True):
        for problem in _problems(order, kind, instance, first.get(order)):
            raise TableError(f"{path}, line {number}: {problem}")
        first[order] = number
        ranks = {names[a]: float(place) for place, group in enumerate(order) for a in group}
        ballots.append(Ballot(ranks, times=instance.multiplicity[order]))
    _check_header(path, kind, instance)
    candidates = list(names.values())
    return ballot_file(path.stem, str(path), ballots, candidates, drop_unranked=drop_unranked)


def _check_lines(path: Path, body: Sequence[tuple[int, str]]) -> None:
    if not body:
        raise TableError(f"{path} holds no ballot below its header; give at least one")
    for number, line in body:
        if not _BALLOT.fullmatch(line):
            raise TableError(
                f"{path}, line {number}: {shown(line)} is not a ballot; it must be a count, a "
                "colon and alternatives by number, ties in braces, as in '3: 1, {2, 4}, 3'"
            )


def _check_header(path: Path, kind: str, instance: Any) -> None:
    """Check the header against the orders: only a wrong count shows that a file is cut short."""
    names = list(instance.alternatives_name.values())
    if instance.data_type != kind:
        raise TableError(
            f"{path}: the header says data type {shown(instance.data_type)}; rename one of the two"
        )
    if twice := sorted(name for name, times in Counter(names).items() if times > 1):
        raise TableError(f"{path}: two alternatives are named {shown(twice[0])}; rename one")
    counts = {
        "alternatives": (instance.num_alternatives, len(names)),
        "voters": (instance.num_voters, sum(instance.multiplicity.values())),
        "unique orders": (instance.num_unique_orders, len(instance.orders)),
    }
    for unit, (stated, counted) in counts.items():
        if stated not in (0, counted):  # 0: the header does not say
            raise TableError(
                f"{path}: the header says {stated} {unit}, the file holds {counted}; it may be cut "
                "short: fetch it again, or correct the header"
            )


def _problems(order: Order, kind: str, instance: Any, earlier: int | None) -> Iterator[str]:
    names = instance.alternatives_name
    ranked = [alternative for group in order for alternative in group]
    if earlier is not None:
        yield f"the order of line {earlier} is here again; join the two and add their counts"
    if instance.multiplicity[order] < 1:
        yield "the count is 0; take the line out"
    if unknown := [alternative for alternative in ranked if alternative not in names]:
        yield f"the header names no alternative {unknown[0]}; add '# ALTERNATIVE NAME {unknown[0]}'"
    if len(set(ranked)) < len(ranked):
        yield "an alternative is there twice; rank it once"
    if kind[0] == "s" and len(ranked) > len(order):
        yield f"a .{kind} file has no ties; name the file .{'toc' if kind == 'soc' else 'toi'}"
    if kind[2] == "c" and len(ranked) < len(names):
        yield f"a .{kind} file ranks every alternative in every line; name the file .{kind[:2]}i"


# Number of items without a ranking that a note names; it gives the total.
LISTED = 5


# Ballots by task and item, each with the path of the log that ranked it.
Items = dict[tuple[str, str], tuple[str, tuple[Ballot, ...]]]


def read_ballots_of_logs(paths: Iterable[str]) -> list[BallotFile]:
    """Read ranking logs: one set of ballots per benchmark and protocol, sorted by name.

    Each ranked item is a ballot with the log as its reviewer; in a peer review, each review is one.
    If a run was retried, an item's ballots are those of the latest log that ranked it.

    Raises:
        TableError: a path holds no ranking log, or no item of any log could be ranked.
    """
    try:
        logs = read_ranking_logs(paths, with_votes=False, attempts="all")  # merged below
    except RankingLogError as error:
        raise TableError(str(error)) from error
    kinds, unranked = _collect(logs)
    if not kinds:
        reasons = sorted({item.reason for item in unranked})
        raise TableError(
            f"{_paths(logs)}: no item could be ranked ({'; '.join(reasons) or 'no item at all'}); "
            "run the `inspect eval` again"
        )
    return [_file(*kind, kinds[kind], logs, unranked) for kind in sorted(kinds)]


def _collect(logs: Sequence[RankingLog]) -> tuple[dict[tuple[str, str], Items], list[Unranked]]:
    """Ballots by benchmark and protocol, and the items that no log of their task ranked."""
    kinds: dict[tuple[str, str], Items] = {}
    unranked: dict[tuple[str, str], Unranked] = {}
    for log in logs:  # the oldest first, so that a retry replaces the items that it repeats
        unranked |= {(log.task_id, item.item_id): item for item in log.unranked}
        for item in log.ranked:
            kind = item.ballots.benchmark, item.ballots.protocol
            ranked = log.path, _ballots_of(log, item)
            kinds.setdefault(kind, {})[log.task_id, item.ballots.item_id] = ranked
    known = {key for items in kinds.values() for key in items}
    return kinds, [item for key, item in unranked.items() if key not in known]


def _ballots_of(log: RankingLog, ranked: RankedItem) -> tuple[Ballot, ...]:
    """The ranking of an item, or its reviews in a peer review unless all answers are identical."""
    item, placement = ranked
    if not item.listings or not RULES[item.placed_by].reviewed:
        return (Ballot(placement.ranks, item.item_id, log.path),)
    reviews = zip(item.reviewers, review_ranks(item, item.models).tolist(), strict=True)
    return tuple(
        Ballot(dict(zip(item.models, ranks, strict=True)), item.item_id, reviewer.name)
        for reviewer, ranks in reviews
        if not all(map(math.isnan, ranks))
    )


def _file(
    benchmark: str,
    protocol: str,
    items: Items,
    logs: Sequence[RankingLog],
    unranked: Iterable[Unranked],
) -> BallotFile:
    used = {path for path, _ in items.values()}
    ballots = [ballot for _, ranked in items.values() for ballot in ranked]
    without = [item for item in unranked if item.benchmark in (benchmark, None)]
    notes = [
        # Each log of a folder has the same note on a file left out there, so it gets no path.
        note if note.startswith("Left out:") else f"{log.path}: {note}"
        for log in logs
        if log.path in used or not log.items
        for note in log.notes
    ]
    if without:
        named = listed([f"{item.item_id!r} ({item.reason})" for item in without], most=LISTED)
        notes.append(f"Items without a ranking, left out: {len(without)}: {named}")
    return ballot_file(
        name=f"{benchmark} · {protocol}",
        source=_paths(log for log in logs if log.path in used),
        ballots=ballots,
        candidates=sorted({model for ballot in ballots for model in ballot.ranks}),
        drop_unranked=False,
        notes=dict.fromkeys(notes),
    )


def _paths(logs: Iterable[RankingLog]) -> str:
    return ", ".join(dict.fromkeys(log.path for log in logs))
