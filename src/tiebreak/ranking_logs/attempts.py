"""Attempts: logs of one run that was started several times, of which one counts.

A run that was killed leaves a log, and so does every `inspect eval-retry` of it (a log of the same
task) and the same `inspect eval` given again (a log of the same run: pool, protocol, arguments and
judges). An attempt that did not come to its end gives way to the one that did, or to the one that
came furthest; so does one that came to its end without a call of its own, for it repeats replies
that are there. A run that was judged to its end again by another task is no attempt: it stays.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from tiebreak.ranking_logs.log import RankingLog
from tiebreak.words import count

Attempts = Literal["best", "all"]
"""Which logs of a run are read: those that count, or all."""

_LISTED = 3


def best_attempts(logs: Iterable[RankingLog]) -> list[RankingLog]:
    """The logs that count, in their order; the first of a run has a note on those left out."""
    logs = list(logs)
    noted: dict[int, RankingLog] = {}
    for run in _runs(logs):
        kept = those_that_count(run)
        others = [log for log in run if all(log is not one for one in kept)]
        noted |= {id(log): log for log in kept}
        if others:
            first = kept[0]
            noted[id(first)] = replace(first, notes=(*first.notes, _left_out(others, first)))
    return [noted[id(log)] for log in logs if id(log) in noted]


def those_that_count(attempts: Sequence[RankingLog]) -> list[RankingLog]:
    """Of attempts at one run, or at one shard of it, those that count, the oldest first."""
    tasks: dict[str, list[RankingLog]] = defaultdict(list)
    for log in attempts:
        tasks[log.task_id or log.path].append(log)
    furthest = [max(same, key=_progress) for same in tasks.values()]
    whole = [log for log in furthest if _complete(log) and not _replayed(log)]
    return sorted(whole or [max(furthest, key=_progress)], key=lambda log: log.age)


def _runs(logs: Iterable[RankingLog]) -> Iterable[list[RankingLog]]:
    """Logs of the same run together; of a log that does not name its run, those of its task."""
    runs: dict[object, list[RankingLog]] = defaultdict(list)
    run_of: dict[object, object] = {}
    for log in logs:
        task = (log.protocol, log.task_id or log.path)
        runs[run_of.setdefault(task, (log.run, log.judges) if log.run else task)].append(log)
    return runs.values()


def _progress(log: RankingLog) -> tuple[int, int, bool, tuple[str, int, str]]:
    done = log.n_judged + len(log.skipped)
    return done, len(log.ranked), log.status == "success", log.age


def _complete(log: RankingLog) -> bool:
    return log.status == "success" and log.n_judged + len(log.skipped) >= log.n_expected


def _replayed(log: RankingLog) -> bool:
    """Whether all of its replies were in the cache."""
    calls = [call for item in log.items for call in item.calls]
    return bool(calls) and all(call.cached for call in calls)


def _left_out(others: Sequence[RankingLog], kept: RankingLog) -> str:
    how = "`tiebreak rank --attempts all` shows"
    if len(others) == 1:
        [other] = others
        return (
            f"{other.path} is left out: it judged {count(other.n_judged, 'item')}, and "
            f"{kept.path}, another attempt at this run, {kept.n_judged:,}; {how} it"
        )
    judged = sorted(log.n_judged for log in others)
    paths = ", ".join([log.path for log in others[:_LISTED]] + ["…"] * (len(others) > _LISTED))
    return (
        f"{len(others)} other attempts at this run are left out: they judged {judged[0]:,} to "
        f"{count(judged[-1], 'item')}, and {kept.path} {kept.n_judged:,}; {how} them ({paths})"
    )
