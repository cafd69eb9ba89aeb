"""CSD over one score table: the contest, what elimination costs, and what a spoilt score does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tiebreak.analysis.finding import Finding, shortened
from tiebreak.rankers.contests.expected_wins import CsdOptions, CsdResult, csd
from tiebreak.rankers.contests.sensitivity import (
    FailureSensitivity,
    Perturbation,
    failure_sensitivity,
    perturb,
)
from tiebreak.rankers.errors import MissingScoreError
from tiebreak.tables.rounds import Rounds
from tiebreak.tables.scores import ScoreTable, find_cells
from tiebreak.words import count


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class ContestReport(Finding):
    """`result` at the first T; `sensitivity` if there are several; `spoilt` if one was asked for.

    `rounds` has the names of the benchmarks of each round, in the order of the contest.
    """

    models: tuple[str, ...]
    benchmarks: tuple[str, ...]
    rounds: tuple[tuple[str, ...], ...]
    weights: tuple[float, ...] | None
    result: CsdResult
    sensitivity: FailureSensitivity | None
    spoilt: Perturbation | None
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        first = [self.models[row] for row in np.flatnonzero(self.result.rank == 1).tolist()]
        sizes = f"{count(len(self.models), 'model')}, {count(len(self.rounds), 'round')}"
        return f"{sizes}, first: {shortened(first)}"


def contest_report(
    table: ScoreTable,
    rounds: Rounds | Sequence[Sequence[int]] | None = None,
    *,
    eliminate: Sequence[int] | Mapping[int, int] | None = None,
    spoil: str | tuple[int, Sequence[int]] | None = None,
    options: CsdOptions | None = None,
) -> ContestReport:
    """Everything that `tiebreak csd` prints.

    Args:
        table: the scores of M models on B benchmarks, what `read_scores` returned.
        rounds: what `read_rounds` returned, or the columns of each round; by default every
            benchmark is a round, in order.
        eliminate: the T to compare, ascending, each for all rounds; or one contest's T by round,
            as {0: T, 1: T, …}. By default those of the rounds, else 0.
        spoil: a model and the benchmarks in which its scores become 0: their numbers, or their
            names as in "MODEL=BENCHMARK,BENCHMARK".
        options: the other arguments of `csd`.

    Raises:
        MissingScoreError: a score is missing that `missing` has no rule for; by name.
        RankingError: as `csd`, `failure_sensitivity` and `perturb`.
        TableError: `spoil` names a model or benchmark that the table does not have.
    """
    chosen: CsdOptions = {**(options or {})}
    columns: Sequence[Sequence[int]] = [(column,) for column in range(len(table.benchmarks))]
    notes = table.notes
    if isinstance(rounds, Rounds):
        columns, chosen["weights"], notes = rounds.columns, rounds.weights, notes + rounds.notes
        if eliminate is None and rounds.eliminate is not None:
            eliminate = dict(enumerate(rounds.eliminate))
    elif rounds is not None:
        columns = rounds
    eliminate = (0,) if eliminate is None else eliminate
    first = list(eliminate.values()) if isinstance(eliminate, Mapping) else eliminate[0]
    several = not isinstance(eliminate, Mapping) and len(eliminate) > 1
    cells = find_cells(table, spoil) if isinstance(spoil, str) else spoil
    try:
        # Its contest before the spoiling is the contest itself.
        spoilt = perturb(table.scores, *cells, 0.0, columns, first, **chosen) if cells else None
        result = csd(table.scores, columns, first, **chosen) if spoilt is None else spoilt.before
    except MissingScoreError as error:
        raise _named(error, table, chosen.get("missing", "error")) from error
    weights = chosen.get("weights")
    return ContestReport(
        models=tuple(table.models),
        benchmarks=tuple(table.benchmarks),
        rounds=tuple(tuple(table.benchmarks[column] for column in names) for names in columns),
        weights=None if weights is None else tuple(np.asarray(weights, np.float64).tolist()),
        result=result,
        sensitivity=(
            failure_sensitivity(table.scores, columns, list(eliminate), **chosen)
            if several
            else None
        ),
        spoilt=spoilt,
        notes=notes,
    )


def _named(error: MissingScoreError, table: ScoreTable, missing: str) -> MissingScoreError:
    """The same error with names: `csd` knows numbers of models and benchmarks only."""
    if error.model is None:
        return error
    model = table.models[error.model]
    names = [table.benchmarks[column] for column in error.benchmarks]
    if missing == "error":
        return MissingScoreError(
            f"{model!r} has no score on {names[0]!r}; give it, leave one of them out, or say what "
            "a missing score means: missing = available or worst (--missing)"
        )
    return MissingScoreError(
        f"{model!r} has no score on any benchmark of the round {' + '.join(names)}; leave one of "
        "them out, or let it lose: missing = worst"
    )
