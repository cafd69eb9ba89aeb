"""Find and read ranking logs, rank their items, and join logs that belong to one run.

log         `RankingLog`: the content of a log, its items with ballots and rankings
log_file    reads one log file
samples     reads the samples of a log without their transcripts
votes       a file of people's votes as a ranking log; `votes_file` reads and writes such files
read        finds and reads the ranking logs among files and folders
joins       picks the best of several attempts at a run; joins shards and newcomers
"""

from tiebreak.ranking_logs.log import JudgedItem as JudgedItem
from tiebreak.ranking_logs.log import RankedItem as RankedItem
from tiebreak.ranking_logs.log import RankingLog as RankingLog
from tiebreak.ranking_logs.log import RankingLogError as RankingLogError
from tiebreak.ranking_logs.log import Unranked as Unranked
from tiebreak.ranking_logs.log import UnreadableLogError as UnreadableLogError
from tiebreak.ranking_logs.read import read_ranking_logs as read_ranking_logs
