"""Two ways to rank models over the same benchmarks, each beside the other: CSD and Kemeny–Young."""

from dataclasses import replace

from tiebreak.analysis.consensus import Election
from tiebreak.analysis.contests import ContestReport
from tiebreak.rankers import Profile, kemeny_young
from tiebreak.rankers.contests.expected_wins import CsdOptions, csd
from tiebreak.rankers.contests.rounds import round_means, strengths
from tiebreak.rankers.errors import MissingScoreError, RankingError
from tiebreak.tables.scores import ScoreTable


def with_kemeny(report: ContestReport, *, time_limit: float | None = None) -> ContestReport:
    """The contest with the Kemeny order of its rounds: each ranks the models by their mean score.

    A missing score means what it means in the contest. The order of the rounds, their weights and
    eliminations do not count.

    Args:
        report: what `contest_report` returned.
        time_limit: seconds, as in `kemeny_young`.

    Raises:
        RankingError: a negative time limit.
    """
    if report.table is None:
        return report
    columns = [[report.benchmarks.index(name) for name in names] for names in report.rounds]
    means = round_means(report.table.scores, columns, report.missing)
    profile = Profile.from_scores(strengths(means), report.models)
    return replace(report, kemeny=kemeny_young(profile, time_limit=time_limit))


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
