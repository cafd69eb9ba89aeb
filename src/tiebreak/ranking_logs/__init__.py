"""Ranking logs: found, read, and the shards of a run joined.

log        what a log holds: `RankingLog`, its items with ballots and rankings
log_file   one log file, read
read       the logs among files and folders
joins      the best of several attempts at one run; its shards, and newcomers, joined
"""

from tiebreak.ranking_logs.joins import Attempts
from tiebreak.ranking_logs.log import (
    JudgedItem,
    RankedItem,
    RankingLog,
    RankingLogError,
    Unranked,
    UnreadableLogError,
)
from tiebreak.ranking_logs.read import read_ranking_logs

__all__ = [
    "Attempts",
    "JudgedItem",
    "RankedItem",
    "RankingLog",
    "RankingLogError",
    "Unranked",
    "UnreadableLogError",
    "read_ranking_logs",
]
