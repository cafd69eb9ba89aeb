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
from tiebreak.ranking_logs.log import JudgedItem, RankedItem, RankingLog, Unranked
from tiebreak.ranking_logs.read import read_ranking_logs

__all__ = [
    "JudgedItem",
    "MissingShardError",
    "NoPeerReviewError",
    "NoRankingLogError",
    "NotARankingLogError",
    "OverlappingShardsError",
    "RankedItem",
    "RankingLog",
    "RankingLogError",
    "Unranked",
    "UnreadableLogError",
    "read_ranking_logs",
]
