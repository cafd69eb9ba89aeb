"""The end of a judging run: its verdict, on the terminal and in the metadata of its own log.

`watch_runs` makes Inspect call us when a judging run has ended. The log is then complete, and the
verdict becomes an edit of its metadata with provenance, like a person's edit in the viewer: the
run's own metadata are kept. `inspect score` carries edits over, and a retry is a run that ends,
too. Below Inspect's own results the terminal shows the first lines of the boards and the command
for the rest, or why no item could be ranked. A command whose run failed exits with 1.

Inspect's retries take over samples that ended without an error. So samples with an unusable reply
are marked as invalidated, as a person can do in the viewer: then `eval-retry`, or the next
`eval-set` of the same folder, asks again for what is missing, and for nothing else. Readers of
ranking logs still use the rest of such a sample.

If the disk was full, Inspect reports an error and leaves a truncated log. So samples and calls are
counted during a run, to report those that were judged and paid for but are missing from its log.
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
"""Further models and boards are counted, not shown."""

_FULL: Final = 1 << 20
"""A disk with fewer free bytes counts as full."""


@cache
def watch_runs() -> None:
    """Register the hooks that store a judging run's verdict in its log and report missing items.

    They are not hooks of the package, which Inspect would announce in every run of any task.
    """
    hooks("verdict", "Keeps the verdict of a ranking in its log")(_Watch)


class _Watch(Hooks):
    """Judging runs in progress, by the id of their eval; Inspect turns errors into warnings."""

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
            # A Python caller of the run holds this log object and may write it again.
            data.log.log_updates = kept.log_updates
            data.log.recompute_tags_and_metadata()
            await ask_again(kept, ballots)
            done.boards = first_lines(boards, data.log.location, _part_of(data.log))

    async def on_run_end(self, data: RunEnd) -> None:
        """All logs of the run are written, or could not be written."""
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
        """Show the boards of failed runs, which are not tried again."""
        for boards in self._failed.values():
            _show(boards)
        self._failed.clear()


def _show(boards: str) -> None:
    """Print; with `--display none`, and so with `--json`, standard output must stay clean."""
    if not boards:
        return
    file = sys.stderr if display_type() == "none" else sys.stdout
    with suppress(OSError, ValueError):  # a closed pipe, or another encoding
        print(boards, file=file, flush=True)


def _exit_with_1() -> None:
    """Make `inspect eval` exit with 1 if a run failed, like `inspect eval-set`, instead of 0."""
    command = click.get_current_context(silent=True)
    if command is not None and command.command.name in ("eval", "eval-retry"):
        command.call_on_close(partial(_raise, click.exceptions.Exit(1)))


def _raise(error: Exception) -> None:
    raise error


async def keep_verdict(log: EvalLog, boards: Sequence[Leaderboard]) -> EvalLog:
    """Store the verdict of a ranking log in the metadata of its file; return the edited log.

    Only the header is written. A log without any ranked item is left unchanged.

    Raises:
        OSError: the log cannot be written.
    """
    # A shard is only a part of the run; `tiebreak rank` gives the verdict on all of it.
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
    """Invalidate samples with an unusable reply, so that a retry judges them again.

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
    """A verdict as stored: sentence, tiers (best first), trust, and the number of items.

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

    A board without a ranked item shows the reason instead.

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
    # Not written directly to standard output, which Inspect's displays control.
    terminal.show(sheets, Console(file=text, highlight=False))
    command = f"tiebreak rank {shlex.quote(_local_address(log))}"
    more = f"\nAll of it: {command}\n" if any(board.rows for board in boards) else ""
    return f"\n{text.getvalue()}{more}"


def sentence_of(board: Leaderboard, part: str | None = None) -> str:
    """The verdict; a shard's verdict says that it covers only its part of the items."""
    sentence = str(board.verdict.sentence)
    return f"About the items of shard {part} only: {sentence}" if part else sentence


def nothing_ranked(board: Leaderboard) -> str:
    """Why a board ranks no item: the reason of one not judged to the end, if there is one."""
    if not board.unranked:
        return "No item could be ranked: none was judged."
    return f"No item could be ranked: {board.unranked[0].reason}"


def _local_address(log: str) -> str:
    """A log's address as a user would type it here."""
    path = log.removeprefix("file://")
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except ValueError:
        return path


@dataclass(slots=True)
class RunOutcome:
    """Counts of a run's paid calls and started samples, and the text of its boards."""

    calls: int = 0
    samples: set[tuple[str, int]] = field(default_factory=set)
    boards: str = ""


def missing_from_log(run: EvalLog, done: RunOutcome) -> str | None:
    """What a run (Inspect's log in memory) did and its log file lacks; None if it is complete."""
    if run.status == "success":
        return None  # Inspect counted its samples when it wrote the log
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
    """A warning if replies may be missing from the cache because its disk is full, else None."""
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
    """Number of these samples in the log, and of paid calls about them; ignores other attempts'."""
    held = (*log.samples, *log.canaries) if log else ()
    begun = [item for item in held if (item.id, item.epoch) in done.samples]
    return len(begun), sum(
        not call.cached for item in begun if item.ballots for call in item.ballots.calls
    )
