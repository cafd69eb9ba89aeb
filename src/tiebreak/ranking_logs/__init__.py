"""Ranking logs: found, read, and the shards of a run joined."""

from tiebreak.ranking_logs.log import (
    JudgedItem,
    MissingShardError,
    RankedItem,
    RankingLog,
    RankingLogError,
    Unranked,
    UnreadableLogError,
)
from tiebreak.ranking_logs.read import read_ranking_logs

__all__ = [
    "JudgedItem",
    "MissingShardError",
    "RankedItem",
    "RankingLog",
    "RankingLogError",
    "Unranked",
    "UnreadableLogError",
    "read_ranking_logs",
]
