"""Reports: what a ranking log says, as dataclasses, on a terminal, as JSON and as CSV."""

from tiebreak.report.bias import PositionBias
from tiebreak.report.console import render
from tiebreak.report.errors import (
    MissingShardError,
    NoRankingLogError,
    NotARankingLogError,
    OverlappingShardsError,
    RankingLogError,
    UnreadableLogError,
)
from tiebreak.report.export import as_dict, to_csv
from tiebreak.report.leaderboard import Leaderboard, LeaderboardRow, leaderboards
from tiebreak.report.logs import RankingLog, Unranked, read_ranking_logs
from tiebreak.report.receipt import KindCalls, Receipt, Usage

__all__ = [
    "KindCalls",
    "Leaderboard",
    "LeaderboardRow",
    "MissingShardError",
    "NoRankingLogError",
    "NotARankingLogError",
    "OverlappingShardsError",
    "PositionBias",
    "RankingLog",
    "RankingLogError",
    "Receipt",
    "Unranked",
    "UnreadableLogError",
    "Usage",
    "as_dict",
    "leaderboards",
    "read_ranking_logs",
    "render",
    "to_csv",
]
