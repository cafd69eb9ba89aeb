"""What the readers of results hand on: scores, and what a file does not give and why."""

import math
from dataclasses import dataclass
from typing import NamedTuple

# The suffix of a pool of candidates.
POOL = ".parquet"
NO_SCORE = (
    "its answers have no score; if they are programs, `tiebreak score-code OUT --out pool.parquet` "
    "runs their tests"
)
RANKING_LOG = "ranking log, not a result of a benchmark; left out"


class Result(NamedTuple):
    """A score of a model on a benchmark, better when higher.

    `task` is the benchmark's name as the file has it. `metric` was chosen out of `choices`. `when`
    is the start of the run in seconds since 1970, −inf where the file does not say. `n_items` is
    the number of items scored, None where the file does not say. `error` is the score's standard
    error over items, NaN where the file does not say; `paired`: for comparing models over the same
    items, as a pool gives it.
    """

    model: str
    task: str
    benchmark: str
    score: float
    metric: str
    choices: tuple[str, ...]
    when: float
    n_items: int | None
    source: str
    error: float = math.nan
    paired: bool = False


class Unscored(NamedTuple):
    """Answers of a model to a benchmark without a score; `reason` says why, and what to do.

    `when` as in `Result`.
    """

    model: str
    task: str
    benchmark: str
    reason: str
    when: float = -math.inf


class Note(NamedTuple):
    """Words on a model or file, "" for none; of several, the same words become one sentence.

    A `public` one names no file.
    """

    about: str
    text: str
    public: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """What one file gave: results, and notes on what it did not give and why.

    `lacking` lists the metrics of those tasks that have not the metric that was asked for.
    """

    results: tuple[Result, ...] = ()
    notes: tuple[Note, ...] = ()
    lacking: tuple[str, ...] = ()
    unscored: tuple[Unscored, ...] = ()
