"""From answers to a votes file: begun, or gone on with."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tiebreak.candidates import CONTEST_KEY, CandidatePool
from tiebreak.ranking_logs.log import RankingLogError
from tiebreak.ranking_logs.votes_file import (
    VotesFile,
    VotesItem,
    VotesKind,
    VotesMeta,
    create_votes_file,
    open_votes_file,
)

# How a file says with what it was begun.
_BEGUN: Final = {
    **{"kind": "votes on {}", "schedule": "a schedule that is {} (--only-open)"},
    **{"seed": "--seed {}", "shared_every": "--shared {}"},
}


def items_of(pool: CandidatePool, kind: VotesKind, seed: int) -> list[VotesItem]:
    """What is voted on: each item of a pool with its ballots before any vote."""
    from tiebreak.inspect_tasks.contests import contest_samples, restore_contest

    items = []
    for sample in contest_samples(pool, seed=seed):
        metadata, target = sample.metadata or {}, str(sample.target)
        empty = restore_contest(metadata).ballots
        ballots = empty("stars", "stars") if kind == "stars" else empty("votes", "points")
        items.append(VotesItem(str(sample.id), 1, target, ballots, metadata[CONTEST_KEY]))
    return items


def votes_on(path: Path, items: Sequence[VotesItem], meta: VotesMeta) -> VotesFile:
    """The votes file on some items, open for writing: a new one, or the one that was begun so.

    The goal may be another than it was.

    Raises:
        RankingLogError: it is not a votes file, in use, or was begun with something else.
    """
    if not path.exists():
        create_votes_file(path, meta, items)
    file = open_votes_file(path, write=True)
    try:
        for name, words in _BEGUN.items():
            if (begun := getattr(file.meta, name)) != getattr(meta, name):
                was = f"{path} was begun with {words.format(begun)}"
                raise RankingLogError(f"{was}: give the same options, or another --out")
        file.require_same(items)
        if meta.goal is not None:
            file.state_goal(meta.goal, decides=meta.decides)
    except RankingLogError:
        file.close()
        raise
    return file
