"""The end of a judging run: its verdict, on the terminal and in the metadata of its own log.

`watch_runs` lets Inspect call us when a judging run has ended. The log is then complete, and the
verdict becomes an edit of its metadata with its provenance, as a person makes one in the
viewer: what the run itself said stays as it was. `inspect score` carries edits over, and a retry is
a run that ends, too. Where the log is not complete, for the disk was full, an error says so.

Below Inspect's own results stand the first lines of the boards, and the command that shows all.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from logging import getLogger
from typing import Any, Final

import anyio
from inspect_ai.hooks import (
    Hooks,
    ModelUsageData,
    RunEnd,
    SampleStart,
    TaskEnd,
    TaskStart,
    hooks,
)
from inspect_ai.log import (
    EvalLog,
    MetadataEdit,
    ProvenanceData,
    edit_eval_log,
    write_eval_log_async,
)
from inspect_ai.util import display_type

from tiebreak.analysis.leaderboard import Leaderboard, boards_of
from tiebreak.candidates import PROTOCOL_KEY, SHARD_KEY
from tiebreak.ranking_logs.log_file import read_log_file
from tiebreak.write_back.first_lines import first_lines, sentence_of
from tiebreak.write_back.written import Done, cache_problem, what_is_missing

logger = getLogger(__name__)

VERDICT_KEY: Final = "tiebreak_verdict"
"""Log metadata: the verdict of each benchmark, by its name; see `verdict_of`."""


def watch_runs() -> None:
    """From now on in this process, a judging run that ends keeps its verdict in its log.

    And it says what its log lacks. Not a hook of the package: Inspect would announce it in every
    run of any task.
    """
    if not _registered:
        _registered.append(hooks("verdict", "Keeps the verdict of a ranking in its log")(_Watch))


_registered: list[type[Hooks]] = []


class _Watch(Hooks):
    """What judging runs do, by the id of their eval; an error in here is a warning of Inspect's."""

    def __init__(self) -> None:
        self._done: dict[str, Done] = {}

    async def on_task_start(self, data: TaskStart) -> None:
        if PROTOCOL_KEY in (data.spec.metadata or {}):
            self._done[data.eval_id] = Done()

    async def on_model_usage(self, data: ModelUsageData) -> None:
        if done := self._done.get(data.eval_id or ""):
            done.calls += 1

    async def on_sample_start(self, data: SampleStart) -> None:
        if done := self._done.get(data.eval_id):
            done.samples.add((str(data.summary.id), data.summary.epoch))

    async def on_task_end(self, data: TaskEnd) -> None:
        """Inspect has written the log."""
        if done := self._done.get(data.eval_id):
            boards = await anyio.to_thread.run_sync(_boards_in, data.log)
            kept = await keep_verdict(data.log, boards)
            # Who started the run from Python holds this log and may write it again.
            data.log.log_updates = kept.log_updates
            data.log.recompute_tags_and_metadata()
            if display_type() != "none":
                done.boards = first_lines(boards, data.log.location, _part_of(data.log))

    async def on_run_end(self, data: RunEnd) -> None:
        """All logs of the run are written, or could not be."""
        watched = [log for log in data.logs if log.eval.eval_id in self._done]
        for log in watched:
            done = self._done.pop(log.eval.eval_id)
            # What an eval set will try again ends when it has been tried.
            if done.boards and (log.status == "success" or data.eval_set_id is None):
                with suppress(OSError, ValueError):  # nobody reads, or in another alphabet
                    print(done.boards, flush=True)
            if problem := await anyio.to_thread.run_sync(what_is_missing, log, done):
                logger.error(problem)
        if watched and (problem := cache_problem()):
            logger.error(problem)


async def keep_verdict(log: EvalLog, boards: Sequence[Leaderboard]) -> EvalLog:
    """Put the verdict of a ranking log into the metadata of its file; returns the log with it.

    Only the header is written. A log in which nothing could be ranked stays as it is.

    Raises:
        OSError: the log cannot be written.
    """
    # Of a run on several machines this is one part; what all of it says, `tiebreak rank` tells.
    part = _part_of(log)
    found = {board.benchmark: verdict_of(board, part) for board in boards if board.rows}
    edited = edit_eval_log(
        log,
        [MetadataEdit(metadata_set={VERDICT_KEY: found} if found else {})],
        ProvenanceData(author="tiebreak", reason="the verdict on the ballots of this run"),
    )
    if edited is not log:
        await write_eval_log_async(edited, log.location, header_only=True)
    return edited


def _boards_in(log: EvalLog) -> list[Leaderboard]:
    """The boards of a log that was just written; `UnreadableLogError` where it is damaged."""
    return boards_of(read_log_file(log.location, log, with_votes=False))


def _part_of(log: EvalLog) -> str | None:
    return (log.eval.metadata or {}).get(SHARD_KEY)


def verdict_of(board: Leaderboard, part: str | None = None) -> Mapping[str, Any]:
    """A verdict as it is kept: sentence, tiers (best first), trust, and the number of items.

    `part` is the shard of a run that is judged on several machines.
    """
    return {
        "sentence": sentence_of(board, part),
        "tiers": [list(tier) for tier in board.verdict.tiers],
        "trust": board.verdict.trust.state,
        "n_items": board.n_items,
    }
