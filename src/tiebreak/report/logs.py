"""Ranking logs: find them, read the ballots, and say by name what could not be read or ranked."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

from inspect_ai.log import EvalLog, EvalSample, list_eval_logs, read_eval_log
from pydantic import ValidationError

from tiebreak.candidates import PROTOCOL_KEY
from tiebreak.report.words import count
from tiebreak.scorers.ballots import STORE_KEY, ItemBallots
from tiebreak.scorers.placement import NotPlacedError, Placement, place

HOW_TO_MAKE_ONE = "inspect eval tiebreak/seal -T candidates=LOGS --model-role judge=MODEL"

# Ballots live in the store; the rest of a sample (candidate answers, transcripts) is many times
# larger and nobody here reads it.
_UNREAD = {"attachments", "error_retries", "events", "messages", "metadata", "output", "scores"}


class RankingLogError(ValueError):
    """A path that was given holds no ranking; the message says what to do next."""


class NoRankingLogError(RankingLogError):
    """No ranking log at this path."""


class NotARankingLogError(RankingLogError):
    """The file is an Inspect log, but not one that ranks candidates."""


class UnreadableLogError(RankingLogError):
    """The file cannot be read as an Inspect log."""


@dataclass(frozen=True, slots=True)
class Unranked:
    """An item that has no place in a leaderboard; `benchmark` is None where the log has no word."""

    item_id: str
    reason: str
    benchmark: str | None = None


@dataclass(frozen=True, slots=True)
class RankingLog:
    """The ballots of one ranking log.

    `items` were judged to the end; `cut_short` have ballots that stop halfway. `unranked` lists
    the latter and every sample without readable ballots. `n_expected` is the number of samples
    that the run was to judge. `benchmark` is the dataset's name, for a log without ballots.
    `notes` are sentences about this log and about files that had to be left out.
    """

    path: str
    task: str
    eval_id: str
    task_id: str
    created: str
    status: str
    protocol: str
    benchmark: str
    n_expected: int
    items: tuple[ItemBallots, ...] = ()
    cut_short: tuple[ItemBallots, ...] = ()
    unranked: tuple[Unranked, ...] = ()
    notes: tuple[str, ...] = ()


def read_ranking_logs(paths: Iterable[str | PathLike[str]]) -> list[RankingLog]:
    """Read the ranking logs among some files and folders.

    Folders are searched with their subfolders, and other Inspect logs in them are passed over. An
    unreadable file in a folder is left out and named in the notes of all logs. A file that is
    reached twice is read once. Logs are ordered by creation time.

    Args:
        paths: log files (.eval or .json) and folders; remote addresses as Inspect takes them.

    Raises:
        NoRankingLogError: a path does not exist, or a folder holds no ranking log.
        NotARankingLogError: a file is a log of another kind.
        UnreadableLogError: a file is damaged or no log at all.
    """
    logs: dict[str, RankingLog] = {}
    left_out: dict[str, str] = {}
    for path in paths:
        text = str(path)
        files, damaged = _in_folder(text) if _is_folder(text) else ([_in_file(text)], {})
        left_out |= damaged
        for file in files:
            key = _identity(file)
            if key not in logs:
                logs[key] = _read(file)
    notes = tuple(left_out.values())
    found = sorted(logs.values(), key=lambda log: (log.created, log.path))
    return [replace(log, notes=(*_status_notes(log, found), *notes)) for log in found]


def _is_folder(path: str) -> bool:
    if "://" in path:
        return not path.endswith((".eval", ".json"))
    if not Path(path).exists():
        raise NoRankingLogError(
            f"{path} does not exist. A ranking log is made by: {HOW_TO_MAKE_ONE}"
        )
    return Path(path).is_dir()


def _in_file(path: str) -> str:
    """The file itself, once its header says that it is a ranking log."""
    if not _is_ranking(_header(path)):
        raise NotARankingLogError(
            f"{path} is an Inspect log, but no ranking log: it holds answers that can be ranked. "
            f"Rank them first: {HOW_TO_MAKE_ONE.replace('LOGS', shlex.quote(path))}"
        )
    return path


def _in_folder(folder: str) -> tuple[list[str], dict[str, str]]:
    """Ranking logs in a folder, and a sentence on each file that cannot be read."""
    found, damaged, others = [], {}, 0
    for info in list_eval_logs(folder, recursive=True):
        path = _local(info.name)
        try:
            ranking = _is_ranking(_header(path))
        except UnreadableLogError as error:
            damaged[path] = f"Left out: {error}"
            continue
        if ranking:
            found.append(path)
        else:
            others += 1
    if not found:
        holds = [count(others, "other Inspect log")] if others else []
        if damaged:
            holds.append(f"{count(len(damaged), 'unreadable file')}: {', '.join(damaged)}")
        raise NoRankingLogError(
            f"No ranking log in {folder} (it holds {' and '.join(holds) or 'no Inspect log'}). "
            f"Make one: {HOW_TO_MAKE_ONE.replace('LOGS', shlex.quote(folder))}"
        )
    return found, damaged


def _header(path: str) -> EvalLog:
    return _read_log(path, header_only=True)


def _read_log(path: str, *, header_only: bool) -> EvalLog:
    try:
        return read_eval_log(
            path, header_only=header_only, exclude_fields=None if header_only else _UNREAD
        )
    except Exception as error:  # whatever damaged bytes make a parser raise
        reason = f"{type(error).__name__}: {_first_line(str(error))}"
        raise UnreadableLogError(f"{path} cannot be read as an Inspect log ({reason})") from error


def _is_ranking(log: EvalLog) -> bool:
    return PROTOCOL_KEY in (log.eval.metadata or {})


def _read(path: str) -> RankingLog:
    log = _read_log(path, header_only=False)
    samples = log.samples or []
    items, cut_short, unranked = [], [], []
    for sample in samples:
        ballots, problem = _ballots(sample)
        if problem is None and ballots is not None:
            items.append(ballots)
            continue
        benchmark = ballots.benchmark if ballots else None
        name = ballots.item_id if ballots else str(sample.id)
        unranked.append(Unranked(name, problem or "", benchmark))
        if ballots is not None:
            cut_short.append(ballots)
    planned = len(log.eval.dataset.sample_ids or ()) * (log.eval.config.epochs or 1)
    return RankingLog(
        path=_shown(path),
        task=log.eval.task,
        eval_id=log.eval.eval_id,
        task_id=log.eval.task_id,
        created=str(log.eval.created),
        status=log.status,
        protocol=str((log.eval.metadata or {})[PROTOCOL_KEY]),
        benchmark=log.eval.dataset.name or log.eval.task,
        n_expected=max(planned, len(samples)),
        items=tuple(items),
        cut_short=tuple(cut_short),
        unranked=tuple(unranked),
    )


def _ballots(sample: EvalSample) -> tuple[ItemBallots | None, str | None]:
    """The ballots of a sample, and why it cannot be ranked (None when it can)."""
    problem = None
    if sample.error is not None:
        problem = f"error: {_first_line(sample.error.message)}"
    elif sample.invalidation is not None:
        problem = f"invalidated: {sample.invalidation.reason or 'no reason given'}"
    data = sample.store.get(STORE_KEY)
    if data is None:
        return None, problem or "its sample holds no ballots"
    try:
        ballots = ItemBallots.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        return None, problem or f"its ballots cannot be read ({where}: {first['msg']})"
    if problem is None and not ballots.complete:
        limit = f" ({sample.limit.type} limit)" if sample.limit else ""
        problem = f"judging was cut short{limit}"
    return ballots, problem


def _status_notes(log: RankingLog, logs: Sequence[RankingLog]) -> Iterator[str]:
    """What a reader must know about a run that did not end well, and what to do about it."""
    judged = f"{len(log.items)} of {log.n_expected} items judged"
    if log.status == "success":
        if len(log.items) < log.n_expected:
            yield (
                f"{judged}. Run the same `inspect eval` again for the others: "
                "calls already paid for come from the cache"
            )
        return
    later = [
        other
        for other in logs
        if other.task_id == log.task_id and other.created > log.created and log.task_id
    ]
    if later:
        yield f"{judged} (status: {log.status}); a later run of the same task: {later[-1].path}"
    else:
        state = "still running, or killed" if log.status == "started" else f"status: {log.status}"
        yield f"{judged} ({state}); run `inspect eval-retry {shlex.quote(log.path)}`"


def _local(name: str) -> str:
    """A file's path. Inspect puts file:// in front of it, without quoting any character."""
    return name.removeprefix("file://")


def _identity(path: str) -> str:
    return path if "://" in path else str(Path(path).resolve())


def _shown(path: str) -> str:
    """Relative to the working directory where the file lies inside it."""
    here = Path.cwd()
    inside = "://" not in path and Path(path).resolve().is_relative_to(here)
    return str(Path(path).resolve().relative_to(here)) if inside else path


def _first_line(text: str) -> str:
    line = text.strip().splitlines()[0] if text.strip() else "no message"
    return line if len(line) <= 200 else f"{line[:199]}…"


def placement_of(item: ItemBallots) -> Placement:
    """The place of every model in an item of a log.

    Raises:
        NotPlacedError: the item cannot be ranked, or its ballots are damaged.
    """
    try:
        placement = place(item)
    except KeyError as error:
        raise NotPlacedError(f"its ballots contradict each other: {error} is no answer") from error
    missing = [model for model in item.models if model not in placement.ranks]
    if missing:
        raise NotPlacedError(f"its ballots give no rank to {', '.join(missing)}")
    return placement
