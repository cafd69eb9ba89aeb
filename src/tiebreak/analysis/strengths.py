"""Second views of the matches in a log: least squares and Bradley–Terry over all their results.

A protocol's own ranking counts places item by item. These views take the results of all items
together, who won against whom, and do not ask in which round; so they use matches that elimination
throws away. Both resample items, with all that is known about an item at once.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from tiebreak.analysis.standing import Standing, best_first
from tiebreak.rankers import (
    ItemBootstrap,
    MissingPackageError,
    RankingError,
    bradley_terry,
    competition_ranks,
)
from tiebreak.rankers.errors import NotConnectedError, NotConvergedError
from tiebreak.rankers.massey import least_squares
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.placement import results

Method = Literal["least_squares", "bradley_terry"]

# A draw takes 2 to 3 ms, whatever the number of items.
BRADLEY_TERRY_DRAWS: Final = 200


@dataclass(frozen=True, slots=True)
class StrengthRow(Standing):
    """One model in a view, by its strength."""

    NAME = "strength"

    @property
    def strength(self) -> float:
        """The value, by its name."""
        return self.value


@dataclass(frozen=True, slots=True)
class StrengthView:
    """Strengths that explain all results between two models best; their sum is 0.

    In `least_squares` the difference of two strengths is the mean margin (1 won, 0 tied, -1 lost)
    at which the one should win; with `closure` each item's results are joined by those that they
    imply. In `bradley_terry` it is the logarithm of the odds (a tie is half a win).

    `n_results` of `n_items` items are behind it: a match counts for every pair of models that gave
    its two answers, and models with identical answers are tied. `undefined` of the `draws` over
    items give no strengths and are left out. Without any strengths `rows` are empty, and `reason`
    says why; otherwise it tells about intervals that are missing or rest on fewer draws.
    """

    method: Method
    closure: bool
    rows: tuple[StrengthRow, ...]
    n_results: int
    n_items: int
    undefined: int
    level: float
    draws: int
    seed: int
    reason: str | None


@dataclass(frozen=True, slots=True)
class _Results:
    """Results of a log as columns, each of shape (results,)."""

    models: tuple[str, ...]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    result: NDArray[np.float64]
    items: NDArray[np.int64]


def strength_views(
    items: Sequence[ItemBallots],
    *,
    closure: bool = False,
    how: Resampling = Resampling(),
) -> tuple[StrengthView, ...]:
    """Least squares and Bradley–Terry over all matches of some items.

    Args:
        items: ballots that were judged to the end.
        closure: in least squares, add what the results of an item imply.
        how: level, draws and seed of the intervals; Bradley–Terry takes at most 200 draws.

    Returns:
        One view by each method; none where no match has a verdict.

    Raises:
        RankingError: level or draws are out of range.
    """
    if not any(match.result is not None for item in items for match in item.matches):
        return ()
    found = _results(items)
    few = replace(how, draws=min(how.draws, BRADLEY_TERRY_DRAWS))
    squares = partial(least_squares, closure=closure)
    return (
        _view("least_squares", squares, found, closure, how=how),
        _view("bradley_terry", bradley_terry, found, False, how=few),
    )


def _results(items: Iterable[ItemBallots]) -> _Results:
    items = tuple(items)
    models = tuple(sorted({model for item in items for model in item.models}))
    column = {model: number for number, model in enumerate(models)}
    rows = [
        (column[one], column[other], result, item.item_id)
        for item in items
        for one, other, result in results(item)
    ]
    first, second, result, names = zip(*rows, strict=True)
    return _Results(
        models=models,
        first=np.array(first, dtype=np.int64),
        second=np.array(second, dtype=np.int64),
        result=np.array(result, dtype=np.float64),
        # Epochs of an item are one item.
        items=np.unique(names, return_inverse=True)[1],
    )


def _view(
    method: Method,
    fit: Callable[..., ItemBootstrap],
    found: _Results,
    closure: bool,
    *,
    how: Resampling,
) -> StrengthView:
    rows: tuple[StrengthRow, ...] = ()
    undefined = 0
    try:
        fitted = fit(
            found.first,
            found.second,
            found.result,
            found.items,
            n_models=len(found.models),
            how=how,
        )
    except (NotConnectedError, MissingPackageError, NotConvergedError) as error:
        reason: str | None = (
            error.named(found.models) if isinstance(error, RankingError) else str(error)
        )
    else:
        rows, undefined = _rows(found.models, fitted), int(fitted.undefined.min())
        reason = fitted.reason
    return StrengthView(
        method=method,
        closure=closure,
        rows=rows,
        n_results=len(found.result),
        n_items=len(np.unique(found.items)),
        undefined=undefined,
        level=how.level,
        draws=how.draws,
        seed=how.seed,
        reason=reason,
    )


def _rows(models: Sequence[str], fitted: ItemBootstrap) -> tuple[StrengthRow, ...]:
    ranks = competition_ranks(fitted.score)
    rows = [
        StrengthRow.of(fitted, column, model, ranks[column]) for column, model in enumerate(models)
    ]
    return tuple(sorted(rows, key=best_first))
