"""Ranking logs: found, read, and the shards of a run joined.

log        what a log holds: `RankingLog`, its items with ballots and rankings
log_file   one log file, read
read       the logs among files and folders
shards     the logs of one run, joined; the best of several attempts
"""

from tiebreak.ranking_logs.log import (
    JudgedItem,
    RankedItem,
    RankingLog,
    RankingLogError,
    Unranked,
    UnreadableLogError,
)
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.ranking_logs.shards import best_attempts

__all__ = [
    "JudgedItem",
    "RankedItem",
    "RankingLog",
    "RankingLogError",
    "Unranked",
    "UnreadableLogError",
    "best_attempts",
    "read_ranking_logs",
]
