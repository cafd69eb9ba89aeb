"""Files in; ballots, scores, rounds and people's rankings out.

`read_ballots` gives what the aggregators work on, `read_scores` what the contest works on and
`score_ballots` makes ballots of, `read_rounds` and `read_order` the contest's order,
`read_human_ranking` how people rank the models. Reading a CSV file loads no harness: the readers of
logs are imported when a log is given.
"""

from tiebreak.tables.ballots import BallotFile
from tiebreak.tables.benchmark_ballots import score_ballots
from tiebreak.tables.errors import TableError, UnreadableFileError
from tiebreak.tables.human import HumanLabels, HumanRanking, read_human_labels, read_human_ranking
from tiebreak.tables.inputs import read_ballots, read_scores
from tiebreak.tables.rounds import Round, Rounds, read_order, read_rounds
from tiebreak.tables.scores import ScoreTable, find_cells

__all__ = [
    "BallotFile",
    "HumanLabels",
    "HumanRanking",
    "Round",
    "Rounds",
    "ScoreTable",
    "TableError",
    "UnreadableFileError",
    "find_cells",
    "read_ballots",
    "read_human_labels",
    "read_human_ranking",
    "read_order",
    "read_rounds",
    "read_scores",
    "score_ballots",
]
