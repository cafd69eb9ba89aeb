"""Win rates of each model against each other model, by matches or by places in the items."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiebreak.rankers.profile import FloatArray, ratio
from tiebreak.ranking_logs.log import RankedItem
from tiebreak.scorers.placement import results

By = Literal["matches", "places"]


class WinRates(NamedTuple):
    """Rates of M models against each other.

    `rate[i, j]`, shape (M, M), is the mean result of model i against model j: 1 for a win, ½ for a
    tie, 0 for a loss, so that rate[i, j] + rate[j, i] = 1. NaN on the diagonal and for pairs that
    never met. `n`, of the same shape, counts the results: matches, or items that place both models.
    """

    models: tuple[str, ...]
    rate: FloatArray
    n: NDArray[np.int64]
    by: By


def win_rates(
    items: Sequence[RankedItem], *, models: Sequence[str] | None = None, by: By | None = None
) -> WinRates:
    """Win rates over ranked items of one benchmark under one protocol.

    By matches, a match counts once for every pair of models that gave its two answers, models with
    identical answers are tied, and a match without a verdict does not count. By places, the model
    with the better rank wins the item. By default rates are by matches if any match has a verdict.
    `models` are by default all of the items, sorted by name.
    """
    if models is None:
        models = sorted({model for item, _ in items for model in item.models})
    if by is None:
        decided = any(match.result is not None for item, _ in items for match in item.matches)
        by = "matches" if decided else "places"
    wins, n = _matches(items, models) if by == "matches" else _places(items, models)
    np.fill_diagonal(n, 0)
    return WinRates(tuple(models), ratio(wins, n), n, by)


def _matches(
    items: Iterable[RankedItem], models: Sequence[str]
) -> tuple[FloatArray, NDArray[np.int64]]:
    column = {model: number for number, model in enumerate(models)}
    wins, n = np.zeros((len(models),) * 2), np.zeros((len(models),) * 2, dtype=np.int64)
    for item, _ in items:
        for first, second, result in results(item):
            if first in column and second in column:
                i, j = column[first], column[second]
                wins[i, j] += result
                wins[j, i] += 1 - result
                n[i, j] += 1
                n[j, i] += 1
    return wins, n


def _places(
    items: Iterable[RankedItem], models: Sequence[str]
) -> tuple[FloatArray, NDArray[np.int64]]:
    ranks = np.array([[at.ranks.get(model, np.nan) for model in models] for _, at in items])
    ranks = ranks.reshape(-1, len(models)) if models else np.empty((0, 0))
    placed = (~np.isnan(ranks)).astype(np.int64)
    n, ahead = placed.T @ placed, np.sum(ranks[:, :, None] < ranks[:, None, :], axis=0)
    # Two models of which neither is ahead are tied.
    return ahead + 0.5 * (n - ahead - ahead.T), n
