"""Shards: several logs that are one run.

`inspect eval tiebreak/seal -T shard=3/8` judges every eighth item. Its log says which shard it is,
and has the fingerprint of the run in common with the other seven.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, islice, takewhile
from typing import NamedTuple

from tiebreak.candidates import Shard
from tiebreak.ranking_logs.attempts import best_of
from tiebreak.ranking_logs.log import RankingLog, RankingLogError
from tiebreak.words import count

# A message names so many shards or items; the count says how many there are.
LISTED = 20

_WORST_FIRST = ("error", "cancelled", "started")


class _Part(NamedTuple):
    shard: Shard
    log: RankingLog


def join_shards(logs: Iterable[RankingLog], unreadable: Sequence[str] = ()) -> list[RankingLog]:
    """Put the shards of each run together; other logs stay as they are.

    A joined run has its samples in the order in which a single log would have them, so all that is
    computed from them is the same to the last digit. It is a success when all of its shards are,
    else its status is the worst of theirs; `created` is that of the oldest shard; `eval_id`,
    `task_id` and `benchmark` are those of the first one; its notes are those of all.

    Attempts at a shard that are left out are noted. `unreadable` are sentences about files that may
    well be a missing shard.

    Raises:
        RankingLogError: a run lacks shards (those that are there and `unreadable` files are
            listed), a shard was judged by two tasks, a run was cut into two different numbers
            of shards, or an item is in two shards.
    """
    joined: list[RankingLog] = []
    runs: dict[str, list[_Part]] = defaultdict(list)
    for log in logs:
        if log.shard is None:
            joined.append(log)
        else:
            runs[log.run].append(_Part(log.shard, log))
    for attempts in runs.values():
        parts = _fullest(attempts)
        _refuse_overlaps(parts)
        _refuse_holes(parts, unreadable)
        joined.append(_join(parts))
    return joined


def _fullest(parts: Iterable[_Part]) -> list[_Part]:
    """Of the attempts at each shard the best, in the order of the shards.

    Those of a task are attempts at the same, and so are all that did not come to their end.
    """
    attempts: dict[Shard, list[RankingLog]] = defaultdict(list)
    for shard, log in parts:
        attempts[shard].append(log)
    found = []
    for shard, same in attempts.items():
        tasks: dict[str, list[RankingLog]] = defaultdict(list)
        for log in same:
            tasks[log.task_id or log.path].append(log)
        best = [best_of(task) for task in tasks.values()]
        kept = [log for log in best if _whole(log)] or [best_of(best)]
        notes = tuple(
            f"{other.path} is left out: it judged {count(other.n_judged, 'item')}, and "
            f"{kept[0].path}, another attempt at this shard, {kept[0].n_judged:,}"
            for other in same
            if all(other is not one for one in kept)
        )
        found += [_Part(shard, replace(log, notes=(*log.notes, *notes))) for log in kept]
    return sorted(found, key=lambda part: (part.shard, part.log.path))


def _whole(log: RankingLog) -> bool:
    return log.status == "success" and log.n_judged + len(log.skipped) >= log.n_expected


def _refuse_overlaps(parts: Sequence[_Part]) -> None:
    totals = sorted({part.shard.total for part in parts})
    if len(totals) > 1:
        cuts = " and into ".join(str(total) for total in totals)
        raise RankingLogError(
            f"One run was cut into {cuts} shards, which overlap:{_lines(parts)}\n"
            "Give only the files of one cut"
        )
    shards = [part.shard for part in parts]
    if twice := [part for part in parts if shards.count(part.shard) > 1]:
        raise RankingLogError(
            f"{_names([part.shard for part in twice], 'was', 'were')} judged more than once, by "
            f"different tasks:{_lines(twice)}\n"
            "Keep one log of each shard in the folder; a run that was repeated on purpose is read "
            "by itself, in a folder of its own"
        )
    ids = [{*part.log.planned, *(sample.id for sample in part.log.samples)} for part in parts]
    holders = Counter(chain.from_iterable(ids))
    if shared := sorted(sample_id for sample_id, n in holders.items() if n > 1):
        holding = [part for part, own in zip(parts, ids, strict=True) if own & {*shared}]
        raise RankingLogError(
            f"{count(len(shared), 'item')} in more than one shard: {_some(shared)}. The shards:"
            f"{_lines(holding)}\n"
            "Judge one of them again, from the same candidates as the others"
        )


def _refuse_holes(parts: Sequence[_Part], unreadable: Sequence[str]) -> None:
    there = {part.shard for part in parts}
    total, log = parts[0].shard.total, parts[0].log
    holes = (shard for k in range(1, total + 1) if (shard := Shard(k, total)) not in there)
    if missing := list(islice(holes, LISTED + 1)):
        sentence = (
            f"{_names(missing, 'is', 'are')} missing from a {log.protocol} run "
            f"({len(there)} of {total} are there):{_lines(parts)}\n"
            "Give the other files as well, or judge what is missing with the same arguments and "
            f"-T shard={missing[0]}"
        )
        raise RankingLogError("\n".join((sentence, *unreadable)))


def _join(parts: Sequence[_Part]) -> RankingLog:
    """One run of shards that are all there, each once, in order."""
    logs = [part.log for part in parts]
    files = tuple(file for log in logs for file in log.files)
    statuses = {log.status for log in logs}
    return replace(
        logs[0],
        path=together(files),
        files=files,
        created=min(log.created for log in logs),
        status=next((one for one in _WORST_FIRST if one in statuses), "success"),
        shard=None,
        planned=tuple(sample_id for log in logs for sample_id in log.planned),
        n_expected=sum(log.n_expected for log in logs),
        n_missing=sum(log.n_missing for log in logs),
        samples=tuple(
            sorted(
                (one for log in logs for one in log.samples), key=lambda one: (one.epoch, one.id)
            )
        ),
        canaries=tuple(one for log in logs for one in log.canaries),
        notes=tuple(f"shard {part.shard}: {note}" for part in parts for note in part.log.notes),
    )


def together(files: Sequence[str], noun: str = "shard") -> str:
    """Log files as one phrase: logs/ (8 shards: 1.eval, …, 8.eval)."""
    if len(files) == 1:
        return files[0]
    parts = [file.split("/") for file in files]
    levels = zip(*(part[:-1] for part in parts), strict=False)
    shared = len(list(takewhile(lambda level: len(set(level)) == 1, levels)))
    folder = "/".join((*parts[0][:shared], ""))
    names = ["/".join(part[shared:]) for part in parts]
    inner = ", ".join(names if len(names) < 4 else (names[0], "…", names[-1]))
    return f"{folder} ({count(len(files), noun)}: {inner})".strip()


def _names(shards: Sequence[Shard], one: str, many: str) -> str:
    names = list(dict.fromkeys(str(shard) for shard in shards))
    return f"Shard {names[0]} {one}" if len(names) == 1 else f"Shards {_some(names)} {many}"


def _some(names: Sequence[str]) -> str:
    return ", ".join((*names[:LISTED], "…") if len(names) > LISTED else names)


def _lines(parts: Sequence[_Part]) -> str:
    lines = [f"\n  {part.shard}  {part.log.path}" for part in parts[:LISTED]]
    return "".join((*lines, "\n  …") if len(parts) > LISTED else lines)
