"""What ranking logs show: leaderboards, and star boards for all logs judged by stars."""

from typing import Any

from tiebreak.analysis.ranking import Ranking
from tiebreak.report.csv import Rows, one_table
from tiebreak.report.json import json_ready
from tiebreak.report.sheet import Sheet
from tiebreak.report.sheets import leaderboard, stars


def sheets_of(ranking: Ranking) -> list[Sheet]:
    """One sheet a leaderboard; logs judged by stars are joined, a sheet a benchmark."""
    joined = stars.sheets_of(ranking.stars) if ranking.stars else []
    return [*leaderboard.sheets_of(ranking.unjoined), *joined]


def data_of(ranking: Ranking) -> dict[str, Any]:
    """Of all leaderboards, log by log; "stars" holds the boards of logs judged by stars, joined."""
    data = leaderboard.data_of(ranking.boards)
    return {**data, "stars": json_ready(ranking.stars)} if ranking.stars else data


def columns_of(ranking: Ranking) -> list[str] | None:
    """The columns of the rows; None where the rows themselves say."""
    return leaderboard.columns_of() if ranking.unjoined or ranking.stars is None else None


def rows_of(ranking: Ranking) -> Rows:
    """Those of the leaderboards, or of the star boards where all logs were judged by stars.

    Raises:
        ReportError: there are boards of both kinds.
    """
    boards = leaderboard.rows_of(ranking.unjoined)
    if ranking.stars is None:
        return boards
    return one_table({"leaderboards": boards, "star boards": stars.rows_of(ranking.stars)})
