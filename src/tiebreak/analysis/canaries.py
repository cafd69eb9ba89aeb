"""How often judges were persuaded: the canaries of ranking logs, log by log."""

from dataclasses import dataclass

from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.finding import Finding
from tiebreak.analysis.judge.canaries import Canaries, canaries_of
from tiebreak.analysis.receipt import Receipt, receipt_of
from tiebreak.paths import Paths
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.words import count

NO_CANARY = (
    "No canary was judged in these logs. Ask a judge about some: tiebreak canary LOGS --judge "
    "MODEL; or plant some in a ranking: inspect eval tiebreak/round_robin -T canaries=40 …"
)


@dataclass(frozen=True, slots=True, repr=False)
class CanaryReport(Finding):
    """The canaries of one log: who judged by which protocol, what came of it, and the bill.

    `level` is that of the intervals; `notes` are those of the log.
    """

    protocol: str
    judges: tuple[str, ...]
    benchmarks: tuple[str, ...]
    log: str
    canaries: Canaries
    receipt: Receipt
    level: float
    notes: tuple[str, ...]

    def __str__(self) -> str:
        found = self.canaries
        planted = count(found.n, "canary", "canaries")
        return f"{', '.join(self.judges)}: persuaded by {found.n_persuaded:,} of {planted}"


def canary_reports(paths: Paths, *, how: Resampling = Resampling()) -> list[CanaryReport]:
    """The canaries of all ranking logs among some files and folders that hold any.

    Raises:
        RankingLogError: a path holds no ranking log.
        AnalysisError: no log holds a canary that was judged.
    """
    found = []
    for log in read_ranking_logs(paths, with_votes=False):
        canaries = canaries_of(log.canaries, how=how)
        if canaries is None:
            continue
        planted = [one.ballots for one in log.canaries if one.ballots]
        found.append(
            CanaryReport(
                protocol=log.protocol,
                judges=tuple(sorted({call.model for one in planted for call in one.calls})),
                benchmarks=tuple(sorted({one.benchmark for one in planted})),
                log=log.path,
                canaries=canaries,
                receipt=receipt_of(planted),
                level=how.level,
                notes=log.notes,
            )
        )
    if not found:
        raise AnalysisError(NO_CANARY)
    return found
