"""Ballots in ranking logs: the ranking of an item's answers is a ballot over the models.

In a peer review every review is one.
"""

import math
from collections.abc import Iterable, Sequence

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


# Ballots by task and item, each with the path of the log that ranked it.
Items = dict[tuple[str, str], tuple[str, tuple[Ballot, ...]]]


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
        reasons = sorted({item.reason for item in unranked})
        raise TableError(
            f"{_paths(logs)}: no item could be ranked ({'; '.join(reasons) or 'no item at all'}); "
            "run the `inspect eval` again"
        )
    return [_file(*kind, kinds[kind], logs, unranked) for kind in sorted(kinds)]


def _collect(logs: Sequence[RankingLog]) -> tuple[dict[tuple[str, str], Items], list[Unranked]]:
    """Ballots by benchmark and protocol; and the items that none of a task's logs ranked."""
    kinds: dict[tuple[str, str], Items] = {}
    unranked: dict[tuple[str, str], Unranked] = {}
    for log in logs:  # the oldest first, so a retry replaces what it repeats
        unranked |= {(log.task_id, item.item_id): item for item in log.unranked}
        for item in log.ranked:
            kind = item.ballots.benchmark, item.ballots.protocol
            ranked = log.path, _ballots(log, item)
            kinds.setdefault(kind, {})[log.task_id, item.ballots.item_id] = ranked
    known = {key for items in kinds.values() for key in items}
    return kinds, [item for key, item in unranked.items() if key not in known]


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
        # A file that was left out of a folder is noted in every log that was found there.
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
