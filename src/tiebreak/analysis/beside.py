"""Two ways to rank models over the same benchmarks, each beside the other: CSD and Kemeny–Young."""

from collections.abc import Sequence
from dataclasses import replace

from tiebreak.analysis.consensus import Election, elect
from tiebreak.analysis.contests import ContestReport
from tiebreak.rankers.contests.expected_wins import CsdOptions, csd
from tiebreak.rankers.errors import MissingScoreError, RankingError
from tiebreak.tables.ballots import BallotFile
from tiebreak.tables.benchmark_ballots import score_ballots
from tiebreak.tables.scores import ScoreTable


def with_kemeny(report: ContestReport, *, time_limit: float | None = None) -> ContestReport:
    """The contest with the Kemeny order of its models: each benchmark that is played is a ballot.

    Which round a benchmark is in, weights and eliminations do not count, and a missing score is
    not ranked, whatever it means in the contest: this is what `elect` makes of the same scores.

    Args:
        report: what `contest_report` returned.
        time_limit: seconds, as in `elect`.

    Raises:
        TableError: no benchmark has scores of two models.
        RankingError: a negative time limit.
    """
    if report.table is None:
        return report
    ballots = played_ballots(report.table, report.rounds)
    return replace(report, election=elect(ballots, time_limit=time_limit))


def played_ballots(table: ScoreTable, rounds: Sequence[Sequence[str]]) -> BallotFile:
    """The benchmarks of a table that are in some round, each a ballot over the models.

    Raises:
        TableError: none of them has scores of two models.
    """
    played = table.only({name for names in rounds for name in names})
    return score_ballots(played, drop_unranked=True)


def with_csd(election: Election, table: ScoreTable, options: CsdOptions | None = None) -> Election:
    """The election with expected wins beside it: each benchmark a round, as in the table, T = 0.

    Where there are none, "csd" is in `failed`. Weights and ties of the election's ballots are not
    the contest's.

    Args:
        election: over models of the table.
        table: the scores, as those of the ballots.
        options: arguments of `csd`.
    """
    rows = [table.models.index(name) for name in election.names]
    try:
        return replace(election, csd=csd(table.scores[rows], **(options or {})))
    except MissingScoreError as error:
        model, benchmark = election.names[error.model or 0], table.benchmarks[error.benchmarks[0]]
        reason = (
            f"{model!r} has no score on {benchmark!r}, and a contest needs one; `tiebreak csd "
            "--missing` plays on by a rule"
        )
    except RankingError as error:
        reason = str(error)
    return replace(election, failed={**election.failed, "csd": reason})
