"""All that `rank` shows of some logs, read once: leaderboards, and star boards of several logs."""

from collections.abc import Sequence
from dataclasses import dataclass

from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.leaderboard import Leaderboard, boards_of
from tiebreak.analysis.stars import StarReport, star_report_of
from tiebreak.analysis.strengths import Control
from tiebreak.paths import Paths
from tiebreak.progress import tracked
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.ranking_logs.joins import Attempts, best_attempts
from tiebreak.ranking_logs.log import RankingLogError
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.scorers.ballots import Rule


@dataclass(frozen=True, slots=True)
class Ranking:
    """The leaderboards of some logs, one a log, and the star boards, one a benchmark.

    A leaderboard of a log judged by stars is about that log alone; the verdict on its models is
    that of the star board, which joins all such logs. `stars` is None where there is none.
    """

    boards: tuple[Leaderboard, ...]
    stars: StarReport | None

    @property
    def unjoined(self) -> tuple[Leaderboard, ...]:
        """The leaderboards that no star board stands for."""
        return tuple(b for b in self.boards if self.stars is None or b.placed_by != "stars")


def rank_logs(
    paths: Paths,
    *,
    how: Resampling = Resampling(),
    closure: bool = False,
    control: Control | None = None,
    rule: Rule | None = None,
    reference: str | None = None,
    attempts: Attempts = "best",
    prices: Sequence[str] = (),
) -> Ranking:
    """Leaderboards as `leaderboards` gives them, and star boards as `star_report` does.

    With `attempts` "all" each attempt at a run has a leaderboard; star boards take the best.
    `prices` are those of `read_ranking_logs`.

    Raises:
        RankingLogError: a path holds no ranking log, or `rule` does not fit one.
        AnalysisError: `reference` is given, and no log judged by stars has that model.
        ValueError: level or draws are out of range.
    """
    logs = read_ranking_logs(
        paths,
        with_metadata=control == "style",
        with_votes=False,
        attempts=attempts,
        prices=prices,
    )
    boards = tuple(
        board
        for log in tracked(logs, "ranking models")
        for board in boards_of(
            log.by_rule(rule) if rule else log, how=how, closure=closure, control=control
        )
    )
    if not boards and logs:
        raise RankingLogError(
            f"{logs[0].path} holds planted answers only, and no ranking: tiebreak canary "
            f"{logs[0].path}"
        )
    best = best_attempts(logs) if attempts == "all" else logs
    stars = star_report_of(best, reference=reference, how=how)
    if reference is not None and stars is None:
        raise AnalysisError(
            "--reference is for relative scores by stars, and no log here was judged by stars "
            "(inspect eval tiebreak/stars)"
        )
    return Ranking(boards, stars)
