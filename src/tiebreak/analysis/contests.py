"""CSD over one score table: the contest, what elimination costs, and what a spoilt score does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tiebreak.rankers.contests.expected_wins import CsdOptions, CsdResult, csd
from tiebreak.rankers.contests.sensitivity import (
    FailureSensitivity,
    Perturbation,
    failure_sensitivity,
    perturb,
)
from tiebreak.rankers.errors import MissingScoreError
from tiebreak.rankers.profile import FloatArray


@dataclass(frozen=True, eq=False, slots=True)
class ContestReport:
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


def contest_report(
    models: Sequence[str],
    benchmarks: Sequence[str],
    scores: FloatArray,
    *,
    rounds: Sequence[Sequence[int]] | None = None,
    weights: Sequence[float] | None = None,
    eliminate: Sequence[int] | Mapping[int, int] = (0,),
    spoil: tuple[int, Sequence[int]] | None = None,
    notes: Sequence[str] = (),
    options: CsdOptions | None = None,
) -> ContestReport:
    """Everything that `tiebreak csd` prints.

    Args:
        models: M names.
        benchmarks: B names.
        scores: shape (M, B), higher is better.
        rounds: columns of each round; by default every benchmark is a round, in order.
        weights: one per round, for a random order of the rounds in every contest.
        eliminate: the T to compare, ascending, each for all rounds; or one contest's T by round,
            as {0: T, 1: T, …}.
        spoil: a model, and the benchmarks in which its scores become 0.
        notes: sentences to print.
        options: the other arguments of `csd`.

    Raises:
        MissingScoreError: a score is missing that `missing` has no rule for; by name.
        RankingError: as `csd`, `failure_sensitivity` and `perturb`.
    """
    chosen: CsdOptions = {**(options or {}), "weights": weights}
    by_round = isinstance(eliminate, Mapping)
    first = list(eliminate.values()) if isinstance(eliminate, Mapping) else eliminate[0]
    several = not by_round and len(eliminate) > 1
    columns = [(column,) for column in range(len(benchmarks))] if rounds is None else rounds
    try:
        # Its contest before the spoiling is the contest itself.
        spoilt = perturb(scores, *spoil, 0.0, columns, first, **chosen) if spoil else None
        result = csd(scores, columns, first, **chosen) if spoilt is None else spoilt.before
    except MissingScoreError as error:
        raise _named(error, models, benchmarks, chosen.get("missing", "error")) from error
    return ContestReport(
        models=tuple(models),
        benchmarks=tuple(benchmarks),
        rounds=tuple(tuple(benchmarks[column] for column in names) for names in columns),
        weights=None if weights is None else tuple(weights),
        result=result,
        sensitivity=(
            failure_sensitivity(scores, columns, list(eliminate), **chosen) if several else None
        ),
        spoilt=spoilt,
        notes=tuple(notes),
    )


def _named(
    error: MissingScoreError, models: Sequence[str], benchmarks: Sequence[str], missing: str
) -> MissingScoreError:
    """The same error with names: `csd` knows numbers of models and benchmarks only."""
    if error.model is None:
        return error
    model = models[error.model]
    names = [benchmarks[column] for column in error.benchmarks]
    if missing == "error":
        return MissingScoreError(
            f"{model!r} has no score on {names[0]!r}; give it, leave one of them out, or say what "
            "a missing score means: missing = available or worst (--missing)"
        )
    return MissingScoreError(
        f"{model!r} has no score on any benchmark of the round {' + '.join(names)}; leave one of "
        "them out, or let it lose: missing = worst"
    )
