"""Everything that `rank` shows: leaderboards of logs, and star boards over several logs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.leaderboard import Leaderboard, board_of
from tiebreak.analysis.remarks import FEW_ITEMS
from tiebreak.analysis.stars import StarReport, star_report_of
from tiebreak.analysis.strengths import Control
from tiebreak.paths import Paths
from tiebreak.progress import tracked
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.ranking_logs.joins import Attempts, best_attempts
from tiebreak.ranking_logs.log import RankingLog, RankingLogError
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.scorers.ballots import Rule


@dataclass(frozen=True, slots=True)
class Categories:
    """Leaderboards of a log's categories by name; `small` counts items of those with too few.

    Each of k boards has the level 1 - (1 - L) / k, L being the level of the `whole` board. So the
    probability that any of their tests tells two equal models apart is at most 1 - L (Bonferroni).
    """

    whole: Leaderboard
    boards: Mapping[str, Leaderboard]
    small: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Leaderboards, one per log, benchmark and protocol, and star boards, one per benchmark.

    The leaderboard of a log judged by stars is about that log alone; the star board joins all such
    logs of a benchmark and gives the verdict on its models. `stars` is None if no log has stars.
    `categories` belong to `boards`; empty unless they were asked for and items name some.
    """

    boards: tuple[Leaderboard, ...]
    stars: StarReport | None
    categories: tuple[Categories, ...] = ()

    @property
    def unjoined(self) -> tuple[Leaderboard, ...]:
        """Leaderboards that no star board replaces."""
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
    by: Literal["category"] | None = None,
) -> Ranking:
    """Leaderboards as `leaderboards` makes them, and star boards as `star_report` does.

    With `attempts` "all" each attempt at a run has a leaderboard; star boards use the best attempt.
    `prices` are as for `read_ranking_logs`. `by` adds a board for each category of each log.

    Raises:
        RankingLogError: a path holds no ranking log, or `rule` does not fit one.
        AnalysisError: `reference` is given, and no log judged by stars has that model; or `by` is,
            and no item has a category; or what only other boards have, and all logs are of stars.
        ValueError: level or draws are out of range.
    """
    logs = read_ranking_logs(
        paths, with_metadata=control == "style", with_votes=False, attempts=attempts, prices=prices
    )
    parts = [part for log in logs for part in (log.by_rule(rule) if rule else log).parts()]
    boards = tuple(
        board_of(part, how=how, closure=closure, control=control)
        for part in tracked(parts, "ranking models")
    )
    pairs = zip(parts, boards, strict=True)
    categories = tuple(
        part
        for log, board in pairs
        if by == "category" and board.placed_by != "stars"  # whose boards have subjects
        if (part := categories_of(log, board, how)).boards or part.small
    )
    if by and not categories and any(board.placed_by != "stars" for board in boards):
        raise AnalysisError("No item here has a category (or subject) to make boards by")
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
    ranking = Ranking(boards, stars, categories)
    if not ranking.unjoined and (by or closure or control):
        raise AnalysisError(
            "--by, --closure and --control are not for logs judged by stars, and there is no other "
            "here: leave them out. Such a board has its scores by subject anyway"
        )
    return ranking


def categories_of(log: RankingLog, whole: Leaderboard, how: Resampling) -> Categories:
    """Boards of the categories of a log that has one benchmark and protocol.

    A category needs `FEW_ITEMS` items: with fewer, intervals cover less than they claim.
    """
    sizes = Counter(item.subject for item, _ in log.ranked if item.subject)
    enough = sorted(name for name, n in sizes.items() if n >= FEW_ITEMS)
    level = 1 - (1 - how.level) / max(1, len(enough))
    boards = {
        name: board_of(
            replace(
                log,
                benchmark=f"{log.benchmark} · {name}",
                samples=tuple(s for s in log.samples if s.ballots and s.ballots.subject == name),
                canaries=(),  # like the next two, of the whole log and shown on its board
                n_missing=0,
                notes=(),
            ),
            how=replace(how, level=level),
            views=False,
        )
        for name in enough
    }
    small = {name: n for name, n in sorted(sizes.items()) if n < FEW_ITEMS}
    return Categories(whole, boards, small)
