"""Combine several logs of one run: attempts, shards, newcomers.

Attempts. A run that was killed leaves a log, and so does every `inspect eval-retry` of it (a log of
the same task), and the same `inspect eval` run again (a log of the same run: pool, protocol,
arguments and judges). The attempt that judged most items counts; then the one that ranked most,
then one that ended with success, then the one that paid for most calls instead of finding them in
the cache, then the latest. A run repeated on purpose has another argument (`-T repeat=2`), and so
is another run.

Shards. `inspect eval tiebreak/seal -T shard=3/8` judges every eighth item. Its log names its shard,
and shares the fingerprint of the run with the other seven.

Newcomers. `inspect eval tiebreak/round_robin -T newcomers=MODEL` asks only the missing matches, of
the new model. Its log names the newcomers. It completes a log of the same items and judges that has
all other models, if no result decided there which models met.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, takewhile
from typing import Literal, NamedTuple

from tiebreak.candidates import Shard
from tiebreak.ranking_logs.log import JudgedItem, RankingLog, RankingLogError, ranked_sample
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.rules import fits
from tiebreak.text import count, listed, split_names

# Messages name up to this many shards or items, and give the number of all.
LISTED = 20

Attempts = Literal["best", "all"]
"""Which attempts at a run are kept: the one that counts, or all."""

_ATTEMPTS_LISTED = 3

_WORST_FIRST = ("error", "cancelled", "started")


class _Part(NamedTuple):
    shard: Shard
    log: RankingLog


def join_shards(logs: Iterable[RankingLog], unreadable: Sequence[str] = ()) -> list[RankingLog]:
    """Join the shards of each run into one log; other logs stay unchanged.

    A joined run has its samples in the order in which a single log would have them, so that results
    are the same to the last digit. Its status is "success" if all shards succeeded, or else the
    worst of their statuses; `created` is that of the oldest shard; `eval_id`, `task_id` and
    `benchmark` are those of the first shard; its notes are those of all shards.

    Attempts at a shard that are left out get a note. `unreadable` are sentences about files that
    may be missing shards.

    Raises:
        RankingLogError: a run lacks shards (the message lists the present shards and `unreadable`
            files), a shard was judged by two tasks, a run was split into two different numbers of
            shards, or an item is in two shards.
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
    """The best attempt at each shard, in the order of the shards.

    Logs of one task are attempts, and so are incomplete logs; several complete ones all stay.
    """
    attempts: dict[Shard, list[RankingLog]] = defaultdict(list)
    for shard, log in parts:
        attempts[shard].append(log)
    best_parts = []
    for shard, same in attempts.items():
        tasks: dict[str, list[RankingLog]] = defaultdict(list)
        for log in same:
            tasks[log.task_id or log.path].append(log)
        best = [best_of(task) for task in tasks.values()]
        done = [log for log in best if log.n_judged + len(log.skipped) >= log.n_expected]
        kept = [log for log in done if log.status == "success"] or [best_of(best)]
        notes = tuple(
            f"{other.path} is left out: it judged {count(other.n_judged, 'item')}, and "
            f"{kept[0].path}, another attempt at this shard, {kept[0].n_judged:,}"
            for other in same
            if all(other is not kept_log for kept_log in kept)
        )
        best_parts += [_Part(shard, replace(log, notes=(*log.notes, *notes))) for log in kept]
    return sorted(best_parts, key=lambda part: (part.shard, part.log.path))


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
        holding = [part for part, held in zip(parts, ids, strict=True) if held & {*shared}]
        raise RankingLogError(
            f"{count(len(shared), 'item')} in more than one shard: {_listed(shared)}. The shards:"
            f"{_lines(holding)}\n"
            "Judge one of them again, from the same candidates as the others"
        )


def _refuse_holes(parts: Sequence[_Part], unreadable: Sequence[str]) -> None:
    present = {part.shard for part in parts}
    total, log = parts[0].shard.total, parts[0].log
    holes = (shard for k in range(1, total + 1) if (shard := Shard(k, total)) not in present)
    if missing := list(islice(holes, LISTED + 1)):
        sentence = (
            f"{_names(missing, 'is', 'are')} missing from a {log.protocol} run "
            f"({len(present)} of {total} are there):{_lines(parts)}\n"
            "Give the other files as well, or judge what is missing with the same arguments and "
            f"-T shard={missing[0]}"
        )
        raise RankingLogError("\n".join((sentence, *unreadable)))


def _join(parts: Sequence[_Part]) -> RankingLog:
    logs = [part.log for part in parts]
    files = tuple(file for log in logs for file in log.files)
    statuses = {log.status for log in logs}
    return replace(
        logs[0],
        path=files_in_words(files),
        files=files,
        created=min(log.created for log in logs),
        status=next((status for status in _WORST_FIRST if status in statuses), "success"),
        shard=None,
        planned=tuple(sample_id for log in logs for sample_id in log.planned),
        n_expected=sum(log.n_expected for log in logs),
        n_missing=sum(log.n_missing for log in logs),
        samples=tuple(
            sorted(
                (sample for log in logs for sample in log.samples),
                key=lambda sample: (sample.epoch, sample.id),
            )
        ),
        canaries=tuple(canary for log in logs for canary in log.canaries),
        notes=tuple(f"shard {part.shard}: {note}" for part in parts for note in part.log.notes),
    )


def files_in_words(files: Sequence[str], noun: str = "shard") -> str:
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


def _names(shards: Sequence[Shard], singular: str, plural: str) -> str:
    names = list(dict.fromkeys(str(shard) for shard in shards))
    return (
        f"Shard {names[0]} {singular}" if len(names) == 1 else f"Shards {_listed(names)} {plural}"
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join((*names[:LISTED], "…") if len(names) > LISTED else names)


def _lines(parts: Sequence[_Part]) -> str:
    lines = [f"\n  {part.shard}  {part.log.path}" for part in parts[:LISTED]]
    return "".join((*lines, "\n  …") if len(parts) > LISTED else lines)


Key = tuple[str, str, str]
"""Benchmark, item id, and hash of the question."""


def join_newcomers(logs: Sequence[RankingLog]) -> list[RankingLog]:
    """Join each log of newcomers' matches with the log that it completes; other logs stay.

    If it would complete several, it is joined with the one with most judged items, or the latest of
    equals. If there is none, it stays on its own with a note. Newcomers may join one after another.
    """
    complete = [log for log in logs if not newcomers_of(log)]
    added = [log for log in logs if newcomers_of(log)]
    for log in sorted(added, key=lambda log: (len(_models(log)), log.age)):
        fitting = [candidate for candidate in complete if _completes(log, candidate)]
        if not fitting:
            names = ", ".join(newcomers_of(log))
            note = (
                f"Only matches of {names} were judged here: give the ranking log of the others, on "
                "the same items and by the same judge, as well"
            )
            complete.append(replace(log, notes=(*log.notes, note)))
            continue
        best = max(fitting, key=lambda candidate: (candidate.n_judged, candidate.created))
        complete = [candidate for candidate in complete if candidate is not best]
        complete.append(_joined(best, log))
    return complete


def newcomers_of(log: RankingLog) -> tuple[str, ...]:
    """The models in a log of newcomers whose matches were asked; empty for other logs."""
    given = log.arguments.get("newcomers")
    if isinstance(given, str):
        return tuple(split_names(given))
    return tuple(map(str, given)) if isinstance(given, list | tuple) else ()


def _completes(new: RankingLog, old: RankingLog) -> bool:
    """Whether `old` shares items, judges and rubric with `new`, and has its other models."""
    return (
        not old.arguments.get("baseline")  # its models met only one model, not each other
        and _models(old) == _models(new) - {*newcomers_of(new)}
        and _judges(old) == _judges(new)
        and {*_by_key(old)} & {*_by_key(new)} != set()
        and all(fits("points", item) for item in old.items)  # no result decided which pairs met
    )


def _models(log: RankingLog) -> set[str]:
    return {model for item in log.items for model in item.models}


def _judges(log: RankingLog) -> set[tuple[str, str]]:
    return {
        (call.model, item.rubric)
        for item in log.items
        for call in item.calls
        if call.kind == "match"
    }


def _by_key(log: RankingLog) -> dict[Key, JudgedItem]:
    return {
        (sample.ballots.benchmark, sample.ballots.item_id, sample.ballots.input_hash): sample
        for sample in log.samples
        if sample.ballots and sample.judged
    }


def _joined(old: RankingLog, new: RankingLog) -> RankingLog:
    before, after = _by_key(old), _by_key(new)
    files, notes = (*old.files, *new.files), [*old.notes, *new.notes]
    if alone := len(before.keys() ^ after.keys()):
        notes.append(f"{count(alone, 'item')} that only one of the logs judged to the end left out")
    return replace(
        old,
        path=files_in_words(files, "log"),
        files=files,
        eval_id=new.eval_id,
        task_id=new.task_id,
        status=old.status if new.status == "success" else new.status,
        protocol=new.protocol,
        run=new.run,
        arguments=new.arguments,
        settings=new.settings or old.settings,
        planned=new.planned,
        n_expected=new.n_expected,
        samples=tuple(_joined_samples(before, after)),
        canaries=(*old.canaries, *new.canaries),
        notes=tuple(notes),
    )


def _joined_samples(
    before: dict[Key, JudgedItem], after: dict[Key, JudgedItem]
) -> Iterator[JudgedItem]:
    for key, sample in after.items():
        if key in before:
            first, other = before[key].ballots, sample.ballots
            assert first is not None
            assert other is not None
            ballots = _joined_ballots(first, other)
            yield ranked_sample(replace(sample, ballots=ballots, votes=None))


def _joined_ballots(old: ItemBallots, new: ItemBallots) -> ItemBallots:
    """The ballots of all models; old matches get the new representatives of their answers.

    If a newcomer gave the same answer as an older model, they share a group and its matches.
    """
    leader = {model: group[0] for group in new.groups for model in group}
    renamed = [
        replace(match, high=leader[match.high], low=leader[match.low], winner=leader[match.winner])
        for match in old.matches
    ]
    met = {frozenset((match.high, match.low)) for match in renamed}
    added = [match for match in new.matches if frozenset((match.high, match.low)) not in met]
    pairs = old.scheduled or tuple(
        (first, other) for first in old.models for other in old.models if first < other
    )
    return new.model_copy(
        update={
            "matches": (*renamed, *added),
            "scheduled": (*pairs, *new.scheduled),
            "calls": (*old.calls, *new.calls),
            "lengths": {**{leader[name]: n for name, n in old.lengths.items()}, **new.lengths},
        }
    )


def best_attempts(logs: Iterable[RankingLog]) -> list[RankingLog]:
    """The best log of each run, in the order given, with a note on attempts that are left out."""
    logs = list(logs)
    best: dict[int, RankingLog] = {}
    for run in _runs(logs):
        best_log = best_of(run)
        left_out = [log for log in run if log is not best_log]
        notes = (*best_log.notes, _left_out(left_out, best_log)) if left_out else best_log.notes
        best[id(best_log)] = replace(best_log, notes=notes)
    return [best[id(log)] for log in logs if id(log) in best]


def best_of(attempts: Iterable[RankingLog]) -> RankingLog:
    """The attempt that counts, by the order in the module's docstring."""
    return max(attempts, key=_progress)


def _runs(logs: Iterable[RankingLog]) -> Iterable[list[RankingLog]]:
    """Group logs by run; logs that do not name their run are grouped by task."""
    runs: dict[object, list[RankingLog]] = defaultdict(list)
    run_of: dict[object, object] = {}
    for log in logs:
        # The first log of a task decides the group, so that its retries join it.
        task = (log.protocol, log.task_id or log.path)
        runs[run_of.setdefault(task, (log.run, log.judges) if log.run else task)].append(log)
    return runs.values()


def _progress(log: RankingLog) -> tuple[int, int, bool, int, tuple[str, int, str]]:
    done = log.n_judged + len(log.skipped)
    paid = sum(not call.cached for item in log.items for call in item.calls)
    return done, len(log.ranked), log.status == "success", paid, log.age


def _left_out(left_out: Sequence[RankingLog], kept: RankingLog) -> str:
    how = "`tiebreak rank --attempts all` shows"
    if len(left_out) == 1:
        [other] = left_out
        return (
            f"{other.path} is left out: it judged {count(other.n_judged, 'item')}, and "
            f"{kept.path}, another attempt at this run, {kept.n_judged:,}; {how} it"
        )
    judged = sorted(log.n_judged for log in left_out)
    paths = listed([log.path for log in left_out], most=_ATTEMPTS_LISTED)
    return (
        f"{len(left_out)} other attempts at this run are left out: they judged {judged[0]:,} to "
        f"{count(judged[-1], 'item')}, and {kept.path} {kept.n_judged:,}; {how} them ({paths})"
    )
