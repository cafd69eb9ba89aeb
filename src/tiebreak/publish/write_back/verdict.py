"""The end of a judging run: its verdict, on the terminal and in the metadata of its own log.

`watch_runs` lets Inspect call us when a judging run has ended. The log is then complete, and the
verdict becomes an edit of its metadata with its provenance, as a person makes one in the
viewer: what the run itself said stays as it was. `inspect score` carries edits over, and a retry is
a run that ends, too. Below Inspect's own results stand the first lines of the boards, and the
command that shows all; or why no item could be ranked. A command whose run failed exits with 1.

Inspect's retries take over samples that ended without an error. So those in which a reply could
not be used are marked as invalidated, as a person can mark them in the viewer: then `eval-retry`,
or the next `eval-set` of the same folder, asks again for what lacks, and for nothing else. Readers
of ranking logs take what such a sample holds.

Where the disk was full, Inspect reports an error and leaves a log that ends
early. While a run goes on we count what it does; at its end we look into its log, and say what was
judged and paid for and is missing there.
"""

import io
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from logging import getLogger
from pathlib import Path
from typing import Any, Final

import anyio
import click
from inspect_ai.hooks import (
    EvalSetEnd,
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
    invalidate_samples,
    read_eval_log_async,
    write_eval_log_async,
)
from inspect_ai.model import cache_path
from inspect_ai.util import display_type
from rich.console import Console

from tiebreak.analysis.judge.figures import all_usable
from tiebreak.analysis.leaderboard import Leaderboard, boards_of
from tiebreak.candidates import AUTHOR, PROTOCOL_KEY, SHARD_KEY
from tiebreak.candidates.inspect_files import read_header
from tiebreak.ranking_logs.log import RankingLog, UnreadableLogError
from tiebreak.ranking_logs.log_file import ranking_header, read_log_file
from tiebreak.report import terminal
from tiebreak.report.sheet import Sheet
from tiebreak.report.sheets.leaderboard import short_sheet
from tiebreak.text import count

logger = getLogger(__name__)

VERDICT_KEY: Final = "tiebreak_verdict"
"""Log metadata: the verdict of each benchmark, by its name; see `verdict_of`."""

MODELS: Final = 5
BOARDS: Final = 4
"""More than this are counted, not shown."""

_FULL: Final = 1 << 20
"""A disk with fewer free bytes is full."""


@cache
def watch_runs() -> None:
    """From now on in this process, a judging run that ends keeps its verdict in its log.

    And it says what its log lacks. Not a hook of the package: Inspect would announce it in every
    run of any task.
    """
    hooks("verdict", "Keeps the verdict of a ranking in its log")(_Watch)


class _Watch(Hooks):
    """What judging runs do, by the id of their eval; an error in here is a warning of Inspect's."""

    def __init__(self) -> None:
        self._done: dict[str, RunOutcome] = {}
        self._failed: dict[str, str] = {}

    async def on_task_start(self, data: TaskStart) -> None:
        if PROTOCOL_KEY in (data.spec.metadata or {}):
            self._done[data.eval_id] = RunOutcome()

    async def on_model_usage(self, data: ModelUsageData) -> None:
        if done := self._done.get(data.eval_id or ""):
            done.calls += 1

    async def on_sample_start(self, data: SampleStart) -> None:
        if done := self._done.get(data.eval_id):
            done.samples.add((str(data.summary.id), data.summary.epoch))

    async def on_task_end(self, data: TaskEnd) -> None:
        """Inspect has written the log."""
        if done := self._done.get(data.eval_id):
            header = await anyio.to_thread.run_sync(read_header, data.log.location)
            read = partial(read_log_file, data.log.location, header, with_votes=False)
            ballots = await anyio.to_thread.run_sync(read)
            boards = await anyio.to_thread.run_sync(boards_of, ballots)
            kept = await keep_verdict(data.log, boards)
            # Who started the run from Python holds this log and may write it again.
            data.log.log_updates = kept.log_updates
            data.log.recompute_tags_and_metadata()
            await ask_again(kept, ballots)
            done.boards = first_lines(boards, data.log.location, _part_of(data.log))

    async def on_run_end(self, data: RunEnd) -> None:
        """All logs of the run are written, or could not be."""
        watched = [log for log in data.logs if log.eval.eval_id in self._done]
        for log in watched:
            done = self._done.pop(log.eval.eval_id)
            self._failed.pop(log.eval.task_id, None)
            if log.status == "success" or data.eval_set_id is None:
                _show(done.boards)
            else:  # the eval set will try it again
                self._failed[log.eval.task_id] = done.boards
            if problem := await anyio.to_thread.run_sync(missing_from_log, log, done):
                logger.error(problem)
        if watched and (problem := cache_problem()):
            logger.error(problem)
        if any(log.status == "error" for log in watched):
            _exit_with_1()

    async def on_eval_set_end(self, data: EvalSetEnd) -> None:
        """What failed is not tried again."""
        for boards in self._failed.values():
            _show(boards)
        self._failed.clear()


def _show(boards: str) -> None:
    """Print; with `--display none`, and so with `--json`, standard output is for others."""
    if not boards:
        return
    file = sys.stderr if display_type() == "none" else sys.stdout
    with suppress(OSError, ValueError):  # nobody reads, or in another alphabet
        print(boards, file=file, flush=True)


def _exit_with_1() -> None:
    """Let `inspect eval` exit as `inspect eval-set` does where a run failed; it would with 0."""
    command = click.get_current_context(silent=True)
    if command is not None and command.command.name in ("eval", "eval-retry"):
        command.call_on_close(partial(_raise, click.exceptions.Exit(1)))


def _raise(error: Exception) -> None:
    raise error


async def keep_verdict(log: EvalLog, boards: Sequence[Leaderboard]) -> EvalLog:
    """Put the verdict of a ranking log into the metadata of its file; returns the log with it.

    Only the header is written. A log in which nothing could be ranked stays as it is.

    Raises:
        OSError: the log cannot be written.
    """
    # Of a run on several machines this is one part; what all of it says, `tiebreak rank` tells.
    part = _part_of(log)
    verdicts = {board.benchmark: verdict_of(board, part) for board in boards if board.rows}
    edited = edit_eval_log(
        log,
        [MetadataEdit(metadata_set={VERDICT_KEY: verdicts} if verdicts else {})],
        ProvenanceData(author=AUTHOR, reason="the verdict on the ballots of this run"),
    )
    if edited is not log:
        await write_eval_log_async(edited, log.location, header_only=True)
    return edited


async def ask_again(log: EvalLog, ballots: RankingLog) -> None:
    """Mark the samples that a retry has to judge again: some reply in them could not be used.

    Raises:
        OSError: the log cannot be written.
    """
    unusable = {
        (item.id, item.epoch)
        for item in ballots.samples
        if item.judged and item.ballots and not all_usable(item.ballots)
    }
    if not unusable:
        return
    complete = await read_eval_log_async(log.location)
    marked = invalidate_samples(
        complete,
        [
            sample.uuid
            for sample in complete.samples or []
            if sample.uuid and (str(sample.id), sample.epoch) in unusable
        ],
        ProvenanceData(author=AUTHOR, reason="a reply could not be used: a retry asks again"),
    )
    await write_eval_log_async(marked, log.location)


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


def first_lines(boards: Sequence[Leaderboard], log: str, part: str | None = None) -> str:
    """Verdict and first models of each board, and the command for the rest.

    Of a board without a ranked item it is why there is none.

    `part` is the shard of a run that is judged on several machines.
    """
    if not boards:
        return ""
    sheets = [
        short_sheet(
            board,
            verdict=sentence_of(board, part) if board.rows else nothing_ranked(board),
            most=MODELS,
        )
        for board in boards[:BOARDS]
    ]
    if (left := len(boards) - BOARDS) > 0:
        sheets.append(Sheet(f"… and {count(left, 'more board')}"))
    text = io.StringIO()
    # Not on standard output: Inspect's displays have their own ways there.
    terminal.show(sheets, Console(file=text, highlight=False))
    command = f"tiebreak rank {shlex.quote(_local_address(log))}"
    more = f"\nAll of it: {command}\n" if any(board.rows for board in boards) else ""
    return f"\n{text.getvalue()}{more}"


def sentence_of(board: Leaderboard, part: str | None = None) -> str:
    """The verdict; that of a shard is about its part of the items, and says so."""
    sentence = str(board.verdict.sentence)
    return f"About the items of shard {part} only: {sentence}" if part else sentence


def nothing_ranked(board: Leaderboard) -> str:
    """Why a board ranks no item: the reason of one that was not judged to the end, if any was."""
    if not board.unranked:
        return "No item could be ranked: none was judged."
    return f"No item could be ranked: {board.unranked[0].reason}"


def _local_address(log: str) -> str:
    """A log's address as it is typed here."""
    path = log.removeprefix("file://")
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except ValueError:
        return path


@dataclass(slots=True)
class RunOutcome:
    """What a run did: calls that were paid for, samples that were begun, and what it came to."""

    calls: int = 0
    samples: set[tuple[str, int]] = field(default_factory=set)
    boards: str = ""


def missing_from_log(run: EvalLog, done: RunOutcome) -> str | None:
    """What a run (as Inspect has it in memory) did and its log does not hold; None: it is whole."""
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
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    if shutil.disk_usage(nearest).free >= _FULL:
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


def _held(log: RankingLog | None, done: RunOutcome) -> tuple[int, int]:
    """How many of these samples the log holds, and paid calls about them; a retry's has others."""
    held = (*log.samples, *log.canaries) if log else ()
    begun = [item for item in held if (item.id, item.epoch) in done.samples]
    return len(begun), sum(
        not call.cached for item in begun if item.ballots for call in item.ballots.calls
    )
