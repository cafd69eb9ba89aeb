"""Ranking logs: found, read, and the shards of a run joined."""

from tiebreak.ranking_logs.joins import Attempts as Attempts
from tiebreak.ranking_logs.log import JudgedItem as JudgedItem
from tiebreak.ranking_logs.log import RankedItem as RankedItem
from tiebreak.ranking_logs.log import RankingLog as RankingLog
from tiebreak.ranking_logs.log import RankingLogError as RankingLogError
from tiebreak.ranking_logs.log import Unranked as Unranked
from tiebreak.ranking_logs.log import UnreadableLogError as UnreadableLogError
from tiebreak.ranking_logs.read import read_ranking_logs as read_ranking_logs
