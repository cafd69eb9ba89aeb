"""Tables: files in; ballots, scores and rounds out.

`read_ballots` gives what the aggregators work on, `read_human_ranking` what people say,
`read_score_table` and `read_results` give what the contest works on, `read_rounds` its order.
"""

from tiebreak.tables.ballot_sources import read_ballots
from tiebreak.tables.ballots import BallotFile
from tiebreak.tables.errors import (
    CellError,
    EmptyTableError,
    HeaderError,
    MetricError,
    MissingFileError,
    NoBallotError,
    NoResultError,
    PrefLibError,
    RenameError,
    RepeatedBenchmarkError,
    RepeatedRowError,
    RoundsError,
    TableError,
    TooManyBallotsError,
    UnknownBenchmarkError,
    UnknownFormatError,
    UnknownModelError,
    UnrankedCandidateError,
    UnreadableFileError,
)
from tiebreak.tables.human import read_human_ranking
from tiebreak.tables.results import read_results
from tiebreak.tables.rounds import Round, Rounds, read_rounds
from tiebreak.tables.score_sources import find_cells, read_scores
from tiebreak.tables.scores import ScoreTable, read_score_table

__all__ = [
    "BallotFile",
    "CellError",
    "EmptyTableError",
    "HeaderError",
    "MetricError",
    "MissingFileError",
    "NoBallotError",
    "NoResultError",
    "PrefLibError",
    "RenameError",
    "RepeatedBenchmarkError",
    "RepeatedRowError",
    "Round",
    "Rounds",
    "RoundsError",
    "ScoreTable",
    "TableError",
    "TooManyBallotsError",
    "UnknownBenchmarkError",
    "UnknownFormatError",
    "UnknownModelError",
    "UnrankedCandidateError",
    "UnreadableFileError",
    "find_cells",
    "read_ballots",
    "read_human_ranking",
    "read_results",
    "read_rounds",
    "read_score_table",
    "read_scores",
]
