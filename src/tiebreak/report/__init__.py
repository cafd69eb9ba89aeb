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
from tiebreak.report.export import as_dict, json_ready, to_csv
from tiebreak.report.leaderboard import (
    Leaderboard,
    LeaderboardRow,
    Settled,
    boards_of,
    leaderboards,
)
from tiebreak.report.length import LengthBias
from tiebreak.report.logs import RankingLog, Unranked, read_ranking_logs
from tiebreak.report.receipt import KindCalls, Receipt, Usage
from tiebreak.report.replies import JudgeReplies
from tiebreak.report.strengths import StrengthRow, StrengthView

__all__ = [
    "JudgeReplies",
    "KindCalls",
    "Leaderboard",
    "LeaderboardRow",
    "LengthBias",
    "MissingShardError",
    "NoRankingLogError",
    "NotARankingLogError",
    "OverlappingShardsError",
    "PositionBias",
    "RankingLog",
    "RankingLogError",
    "Receipt",
    "Settled",
    "StrengthRow",
    "StrengthView",
    "Unranked",
    "UnreadableLogError",
    "Usage",
    "as_dict",
    "boards_of",
    "json_ready",
    "leaderboards",
    "read_ranking_logs",
    "render",
    "to_csv",
]
