"""What ranking logs show: leaderboards, and star boards for all logs judged by stars."""

from typing import Any

from tiebreak.analysis.ranking import Ranking
from tiebreak.report.csv import Rows, one_table
from tiebreak.report.json import json_ready
from tiebreak.report.sheet import Sheet
from tiebreak.report.sheets import leaderboard, stars


def sheets_of(found: Ranking) -> list[Sheet]:
    """One sheet a leaderboard; logs judged by stars are joined, a sheet a benchmark."""
    joined = stars.sheets_of(found.stars) if found.stars else []
    return [*leaderboard.sheets_of(found.others), *joined]


def data_of(found: Ranking) -> dict[str, Any]:
    """Of all leaderboards, log by log; "stars" holds the boards of logs judged by stars, joined."""
    data = leaderboard.data_of(found.boards)
    return {**data, "stars": json_ready(found.stars)} if found.stars else data


def columns_of(found: Ranking) -> list[str] | None:
    """The columns of the rows; None where the rows themselves say."""
    return leaderboard.columns_of() if found.others or found.stars is None else None


def rows_of(found: Ranking) -> Rows:
    """Those of the leaderboards, or of the star boards where all logs were judged by stars.

    Raises:
        ReportError: there are boards of both kinds.
    """
    boards = leaderboard.rows_of(found.others)
    if found.stars is None:
        return boards
    return one_table({"leaderboards": boards, "star boards": stars.rows_of(found.stars)})
