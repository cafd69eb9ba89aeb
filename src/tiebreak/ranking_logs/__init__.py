"""Ranking logs: found, read, and the shards of a run joined."""

from tiebreak.ranking_logs.errors import (
    MissingShardError,
    NoPeerReviewError,
    NoRankingLogError,
    NotARankingLogError,
    OverlappingShardsError,
    RankingLogError,
    UnreadableLogError,
)
from tiebreak.ranking_logs.read import RankingLog, Unranked, read_ranking_logs

__all__ = [
    "MissingShardError",
    "NoPeerReviewError",
    "NoRankingLogError",
    "NotARankingLogError",
    "OverlappingShardsError",
    "RankingLog",
    "RankingLogError",
    "Unranked",
    "UnreadableLogError",
    "read_ranking_logs",
]
