"""Whether a log holds what its run judged and paid for: not where the disk was full, say.

Inspect then reports an error, ends with exit code 0, and leaves a log that ends early. While a run
goes on we count what it does; at its end we look into its log, and say what is missing there.
"""

import shutil
from dataclasses import dataclass, field
from typing import Final

from inspect_ai.log import EvalLog
from inspect_ai.model import cache_path

from tiebreak.ranking_logs.log import RankingLog, UnreadableLogError
from tiebreak.ranking_logs.log_file import ranking_header, read_log_file
from tiebreak.words import count

_FULL: Final = 1 << 20
"""A disk with fewer free bytes is full."""


@dataclass(slots=True)
class Done:
    """What a run did: calls that were paid for, samples that were begun, and what it came to."""

    calls: int = 0
    samples: set[tuple[str, int]] = field(default_factory=set)
    boards: str = ""


def what_is_missing(run: EvalLog, done: Done) -> str | None:
    """A sentence on what a run did that its log does not hold; None where it is whole.

    Args:
        run: the log as Inspect has it in memory, with its place and the run's error.
        done: what the run did.
    """
    if run.status == "success":
        return None  # its samples were counted when it was written
    path = run.location.removeprefix("file://")
    samples, calls = _held(_read(path), done)
    lost = done.calls - calls
    if samples == len(done.samples) or lost <= 0:
        return None
    reason = run.error.message if run.error else run.status
    return (
        f"{path} holds {samples:,} of {count(len(done.samples), 'item')} that were begun, and "
        f"{lost:,} of {count(done.calls, 'paid call')} are in no log ({reason}). Make room, and "
        "give the same command again: what is paid for comes from the cache"
    )


def cache_problem() -> str | None:
    """A sentence where replies may not have come to the cache, for its disk is full."""
    folder = cache_path()
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if shutil.disk_usage(there).free >= _FULL:
        return None
    return (
        f"The disk of Inspect's cache is full ({folder}): replies of this run may not be in it, "
        "and would be paid for again. Make room there, or set INSPECT_CACHE_DIR"
    )


def _read(path: str) -> RankingLog | None:
    try:
        header = ranking_header(path)
        return read_log_file(path, header, with_votes=False) if header else None
    except UnreadableLogError:
        return None


def _held(log: RankingLog | None, done: Done) -> tuple[int, int]:
    """How many of these samples the log holds, and paid calls about them; a retry's has others."""
    held = (*log.samples, *log.canaries) if log else ()
    own = [one for one in held if (one.id, one.epoch) in done.samples]
    return len(own), sum(
        not call.cached for one in own if one.ballots for call in one.ballots.calls
    )
