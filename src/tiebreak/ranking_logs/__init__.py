"""Ranking logs: found, read, and the shards of a run joined.

log         what a log holds: `RankingLog`, its items with ballots and rankings
log_file    one log file, read
samples     its samples without their transcripts
votes       a file of people's votes as a log; `votes_file` reads and writes it
read        the logs among files and folders
joins       the best of several attempts at one run; its shards, and newcomers, joined
"""

from tiebreak.ranking_logs.log import JudgedItem as JudgedItem
from tiebreak.ranking_logs.log import RankedItem as RankedItem
from tiebreak.ranking_logs.log import RankingLog as RankingLog
from tiebreak.ranking_logs.log import RankingLogError as RankingLogError
from tiebreak.ranking_logs.log import Unranked as Unranked
from tiebreak.ranking_logs.log import UnreadableLogError as UnreadableLogError
from tiebreak.ranking_logs.read import read_ranking_logs as read_ranking_logs
