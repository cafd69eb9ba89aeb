"""Ballots in ranking logs: the ranking of an item's answers is a ballot over the models.

In a peer review every review is one.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tiebreak.ranking_logs import (
    RankedItem,
    RankingLog,
    RankingLogError,
    Unranked,
    read_ranking_logs,
)
from tiebreak.scorers.placement import review_ranks
from tiebreak.scorers.rules import RULES
from tiebreak.tables.ballots import Ballot, BallotFile, ballot_file
from tiebreak.tables.errors import TableError
from tiebreak.text import listed

# How many items without a ranking a note names; it gives the number of all.
LISTED = 5


class Kind(NamedTuple):
    """What must agree for rankings to be ballots of one election."""

    benchmark: str
    protocol: str


def read_ballots_of_logs(paths: Iterable[str]) -> list[BallotFile]:
    """One set of ballots per benchmark and protocol, by name.

    Each ranked item is a ballot whose reviewer is the log; of a peer review, each review is one.
    Where a run was retried, an item's ballots are those of the latest log that ranked it.

    Raises:
        TableError: a path holds no ranking log, or no item of any log could be ranked.
    """
    try:
        logs = read_ranking_logs(paths, with_votes=False, attempts="all")
    except RankingLogError as error:
        raise TableError(str(error)) from error
    kinds, unranked = _collect(logs)
    if not kinds:
        reasons = sorted({one.reason for one in unranked})
        raise TableError(
            f"{_paths(logs)}: no item could be ranked ({'; '.join(reasons) or 'no item at all'}); "
            "run the `inspect eval` again"
        )
    return [_file(kind, kinds[kind], logs, unranked) for kind in sorted(kinds)]


class _Ranked(NamedTuple):
    """The ballots on one item, and the log that ranked it."""

    log: RankingLog
    ballots: tuple[Ballot, ...]


def _collect(
    logs: Sequence[RankingLog],
) -> tuple[dict[Kind, dict[tuple[str, str], _Ranked]], list[Unranked]]:
    """Ballots by kind, then by task and item; and the items that none of a task's logs ranked."""
    kinds: dict[Kind, dict[tuple[str, str], _Ranked]] = {}
    unranked: dict[tuple[str, str], Unranked] = {}
    for log in logs:  # the oldest first, so a retry replaces what it repeats
        unranked |= {(log.task_id, item.item_id): item for item in log.unranked}
        for one in log.ranked:
            kind = Kind(one.ballots.benchmark, one.ballots.protocol)
            ranked = _Ranked(log, _ballots(log, one))
            kinds.setdefault(kind, {})[log.task_id, one.ballots.item_id] = ranked
    known = {key for items in kinds.values() for key in items}
    return kinds, [one for key, one in unranked.items() if key not in known]


def _ballots(log: RankingLog, ranked: RankedItem) -> tuple[Ballot, ...]:
    """The ranking of an item, or the reviews behind it; identical answers get no review."""
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
    kind: Kind,
    items: Mapping[tuple[str, str], _Ranked],
    logs: Sequence[RankingLog],
    unranked: Iterable[Unranked],
) -> BallotFile:
    """The ballots of one benchmark under one protocol."""
    used = {one.log.path for one in items.values()}
    every = [ballot for one in items.values() for ballot in one.ballots]
    without = [one for one in unranked if one.benchmark in (kind.benchmark, None)]
    notes = [
        # A file that was left out of a folder is noted in every log that was found there.
        note if note.startswith("Left out:") else f"{log.path}: {note}"
        for log in logs
        if log.path in used or not log.items
        for note in log.notes
    ]
    if without:
        named = listed([f"{one.item_id!r} ({one.reason})" for one in without], most=LISTED)
        notes.append(f"Items without a ranking, left out: {len(without)}: {named}")
    return ballot_file(
        name=f"{kind.benchmark} · {kind.protocol}",
        source=_paths(log for log in logs if log.path in used),
        ballots=every,
        candidates=sorted({model for ballot in every for model in ballot.ranks}),
        drop_unranked=False,
        notes=dict.fromkeys(notes),
    )


def _paths(logs: Iterable[RankingLog]) -> str:
    return ", ".join(dict.fromkeys(log.path for log in logs))
