"""Attempts: logs of one run that was started several times, of which one counts.

A run that was killed leaves a log, and so does every `inspect eval-retry` of it (a log of the same
task) and the same `inspect eval` given again (a log of the same run: pool, protocol, arguments and
judges). The one counts that judged most items; of equals one that ended well, then the one that
paid for most calls and did not find them in the cache, then the latest. A run that is repeated on
purpose has an argument of its own (`-T repeat=2`), and so is another run.
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
    """The best log of each run, in their order, with a note on those that are left out."""
    logs = list(logs)
    best: dict[int, RankingLog] = {}
    for run in _runs(logs):
        one = best_of(run)
        others = [log for log in run if log is not one]
        notes = (*one.notes, _left_out(others, one)) if others else one.notes
        best[id(one)] = replace(one, notes=notes)
    return [best[id(log)] for log in logs if id(log) in best]


def best_of(attempts: Iterable[RankingLog]) -> RankingLog:
    """The attempt that counts."""
    return max(attempts, key=_progress)


def _runs(logs: Iterable[RankingLog]) -> Iterable[list[RankingLog]]:
    """Logs of the same run together; of a log that does not name its run, those of its task."""
    runs: dict[object, list[RankingLog]] = defaultdict(list)
    run_of: dict[object, object] = {}
    for log in logs:
        task = (log.protocol, log.task_id or log.path)
        runs[run_of.setdefault(task, (log.run, log.judges) if log.run else task)].append(log)
    return runs.values()


def _progress(log: RankingLog) -> tuple[int, int, bool, int, tuple[str, int, str]]:
    done = log.n_judged + len(log.skipped)
    paid = sum(not call.cached for item in log.items for call in item.calls)
    return done, len(log.ranked), log.status == "success", paid, log.age


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
