"""The verdict of a run, in the metadata of its own ranking log, where `inspect view` shows it.

`keep_at_the_end` lets Inspect call us when a judging run has ended. The log is then complete, and
the verdict becomes an edit of its metadata with its provenance, as a person makes one in the
viewer: what the run itself said stays as it was. `inspect score` carries edits over, and a retry is
a run that ends, too.
"""

from collections.abc import Mapping
from typing import Any, Final

import anyio
from inspect_ai.hooks import Hooks, TaskEnd, hooks
from inspect_ai.log import (
    EvalLog,
    MetadataEdit,
    ProvenanceData,
    edit_eval_log,
    write_eval_log_async,
)

from tiebreak.analysis.leaderboard import Leaderboard, boards_of
from tiebreak.candidates import PROTOCOL_KEY, SHARD_KEY
from tiebreak.ranking_logs.log_file import read_log_file

VERDICT_KEY: Final = "tiebreak_verdict"
"""Log metadata: the verdict of each benchmark, by its name; see `verdict_of`."""


def keep_at_the_end() -> None:
    """From now on in this process, a judging run that ends keeps its verdict in its log.

    Not a hook of the package: Inspect would announce it in every run of any task.
    """
    if not _registered:
        _registered.append(hooks("verdict", "Keeps the verdict of a ranking in its log")(_AtTheEnd))


_registered: list[type[Hooks]] = []


class _AtTheEnd(Hooks):
    async def on_task_end(self, data: TaskEnd) -> None:
        """Inspect has written the log; an error in here is a warning of Inspect's, no more."""
        if PROTOCOL_KEY in (data.log.eval.metadata or {}):
            kept = await keep_verdict(data.log)
            # Who started the run from Python holds this log and may write it again.
            data.log.log_updates = kept.log_updates
            data.log.recompute_tags_and_metadata()


async def keep_verdict(log: EvalLog) -> EvalLog:
    """Put the verdict of a ranking log into the metadata of its file; returns the log with it.

    Only the header is written. A log in which nothing could be ranked stays as it is.

    Raises:
        UnreadableLogError: the file is damaged.
        OSError: the log cannot be written.
    """
    # Of a run on several machines this is one part; what all of it says, `tiebreak rank` tells.
    boards = await anyio.to_thread.run_sync(
        lambda: boards_of(read_log_file(log.location, log, with_votes=False))
    )
    part = (log.eval.metadata or {}).get(SHARD_KEY)
    found = {board.benchmark: verdict_of(board, part) for board in boards if board.rows}
    edited = edit_eval_log(
        log,
        [MetadataEdit(metadata_set={VERDICT_KEY: found} if found else {})],
        ProvenanceData(author="tiebreak", reason="the verdict on the ballots of this run"),
    )
    if edited is not log:
        await write_eval_log_async(edited, log.location, header_only=True)
    return edited


def verdict_of(board: Leaderboard, part: str | None = None) -> Mapping[str, Any]:
    """A verdict as it is kept: sentence, tiers (best first), trust, and the number of items.

    `part` is the shard of a run that is judged on several machines. Its verdict is about its part
    of the items, and says so.
    """
    sentence = board.verdict.sentence
    if part is not None:
        sentence = f"About the items of shard {part} only: {sentence}"
    return {
        "sentence": sentence,
        "tiers": [list(tier) for tier in board.verdict.tiers],
        "trust": board.verdict.trust.state,
        "n_items": board.n_items,
    }
