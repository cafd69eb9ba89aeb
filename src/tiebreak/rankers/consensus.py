"""The result type of all aggregation methods, and checks for arrays of many items' ballots."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.profile import FloatArray, ratio, within_ballots
from tiebreak.rankers.ranks import DECIMALS


@dataclass(frozen=True, eq=False, slots=True)
class Consensus:
    """A ranking that merges the ballots of a profile.

    `ranks`, shape (N,): mean ranks, 1 = best, equal = tied. `scores`, shape (N,): the numbers that
    the method orders by, in the unit given in its docstring; `ascending` is True if a lower score
    is better. `used` is the number of ballots counted, `dropped` the number left out, for example
    by a method that reads only complete ballots.
    """

    method: str
    ranks: FloatArray
    scores: FloatArray
    ascending: bool
    used: int
    dropped: int = 0

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Columns of the candidates, best group first; the members of a group are tied."""
        return tuple(
            tuple(np.flatnonzero(self.ranks == rank).tolist()) for rank in np.unique(self.ranks)
        )


def consensus_by(
    method: str,
    scores: FloatArray | NDArray[np.int64],
    *,
    ascending: bool,
    used: int,
    dropped: int = 0,
) -> Consensus:
    """Build a consensus that ranks candidates by `scores`; equal scores are ties."""
    values = np.asarray(scores, dtype=np.float64)
    rounded = values.round(DECIMALS)
    ranks = within_ballots(rounded if ascending else -rounded)
    return Consensus(method, ranks, values, ascending, used, dropped)


def mean_rank(ranks: ArrayLike, axis: int = 0) -> FloatArray:
    """Mean of the defined ranks along an axis, by default over items; NaN if none is defined."""
    table = np.asarray(ranks, dtype=np.float64)
    defined = np.sum(~np.isnan(table), axis=axis)
    return ratio(np.nansum(table, axis=axis), defined)


def items_table(ranks: ArrayLike) -> FloatArray:
    """Ranks as a checked array of shape (items, ballots, N); errors as in `aggregate_items`."""
    table = np.asarray(ranks, dtype=np.float64)
    if table.ndim != 3 or 0 in table.shape[1:]:
        raise RankingError(f"ranks must have shape (items, ballots, candidates), got {table.shape}")
    if np.isinf(table).any():
        item, ballot, column = np.argwhere(np.isinf(table))[0]
        raise RankingError(
            f"ballot {ballot} of item {item} gives candidate {column} an infinite rank; NaN says "
            "'not ranked'"
        )
    return table


def comparing(table: FloatArray) -> FloatArray:
    """The table with every ballot that ranks fewer than two candidates replaced by NaN."""
    ranked = np.sum(~np.isnan(table), axis=-1, keepdims=True)
    return np.where(ranked > 1, table, np.nan)
