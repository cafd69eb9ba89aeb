"""Read ballots, scores, rounds and people's rankings from files.

`read_ballots` gives the ballots for aggregators and `read_scores` the score table for a contest, of
which `score_ballots` makes ballots. `read_rounds` and `read_order` give the rounds of a contest,
`read_human_ranking` a ranking of models by people. Reading a CSV file loads no harness: the readers
of logs are imported when a log is given.
"""

from tiebreak.tables.ballots import BallotFile as BallotFile
from tiebreak.tables.benchmark_ballots import score_ballots as score_ballots
from tiebreak.tables.errors import TableError as TableError
from tiebreak.tables.errors import UnreadableFileError as UnreadableFileError
from tiebreak.tables.human import HumanLabels as HumanLabels
from tiebreak.tables.human import HumanRanking as HumanRanking
from tiebreak.tables.human import read_human_labels as read_human_labels
from tiebreak.tables.human import read_human_ranking as read_human_ranking
from tiebreak.tables.inputs import read_ballots as read_ballots
from tiebreak.tables.inputs import read_scores as read_scores
from tiebreak.tables.rounds import Round as Round
from tiebreak.tables.rounds import Rounds as Rounds
from tiebreak.tables.rounds import read_order as read_order
from tiebreak.tables.rounds import read_rounds as read_rounds
from tiebreak.tables.scores import ScoreTable as ScoreTable
from tiebreak.tables.scores import find_cells as find_cells
