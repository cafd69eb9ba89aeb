"""Second views of the matches in a log: least squares and Bradley–Terry over all their results.

A protocol's own ranking counts places item by item. These views take the results of all items
together, who won against whom, and do not ask in which round; so they use matches that elimination
throws away. Both resample items, with all that is known about an item at once.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from tiebreak.analysis.standing import Placed
from tiebreak.rankers import (
    ItemBootstrap,
    MissingPackageError,
    bradley_terry,
)
from tiebreak.rankers.errors import NoFitError
from tiebreak.rankers.massey import least_squares
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.placement import results

Method = Literal["least_squares", "bradley_terry"]

Columns = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]
"""Results as columns: one model, the other, the result for the one, the item."""

# A draw takes 2 to 3 ms, whatever the number of items.
BRADLEY_TERRY_DRAWS: Final = 200


@dataclass(frozen=True, slots=True)
class StrengthRow(Placed):
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
    """
    if not any(match.result is not None for item in items for match in item.matches):
        return ()
    models = sorted({model for item in items for model in item.models})
    columns = _columns(items, models)
    few = replace(how, draws=min(how.draws, BRADLEY_TERRY_DRAWS))
    squares = partial(least_squares, closure=closure)
    return (
        view_of("least_squares", squares, models, columns, closure, how),
        view_of("bradley_terry", bradley_terry, models, columns, False, few),
    )


def _columns(items: Iterable[ItemBallots], models: Sequence[str]) -> Columns:
    number = {model: column for column, model in enumerate(models)}
    rows = [
        (number[one], number[other], result, item.item_id)
        for item in items
        for one, other, result in results(item)
    ]
    first, second, result, names = zip(*rows, strict=True)
    # Epochs of an item are one item.
    of_items = np.unique(names, return_inverse=True)[1]
    return np.array(first), np.array(second), np.array(result, dtype=np.float64), of_items


def view_of(
    method: Method,
    fit: Callable[..., ItemBootstrap],
    models: Sequence[str],
    columns: Columns,
    closure: bool,
    how: Resampling,
) -> StrengthView:
    """The view that a fit of `columns` gives, or why it gives none."""
    rows: tuple[StrengthRow, ...] = ()
    undefined, reason = 0, None
    try:
        fitted = fit(*columns, n_models=len(models), how=how)
    except NoFitError as error:
        reason = error.named(models)
    except MissingPackageError as error:
        reason = str(error)
    else:
        rows, reason = StrengthRow.rows(fitted, models), fitted.reason
        undefined = int(fitted.undefined.min())
    return StrengthView(
        method=method,
        closure=closure,
        rows=rows,
        n_results=len(columns[0]),
        n_items=len(np.unique(columns[3])),
        undefined=undefined,
        level=how.level,
        draws=how.draws,
        seed=how.seed,
        reason=reason,
    )
