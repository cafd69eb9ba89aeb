"""What every aggregator returns."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiebreak.rankers.profile import FloatArray, within_ballots
from tiebreak.rankers.ranks import DECIMALS


@dataclass(frozen=True, eq=False, slots=True)
class Consensus:
    """One ranking out of many.

    `ranks`, shape (N,): mean ranks, 1 = best, equal = tied. `scores`, shape (N,): the numbers that
    the method orders by, in the unit that its docstring states; `ascending` tells whether a lower
    score is better. `used` of the profile's ballots were counted, `dropped` were not (a method that
    only reads complete ballots, say).
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
    """A consensus whose ranks are those of some scores; equal scores are ties."""
    values = np.asarray(scores, dtype=np.float64)
    rounded = values.round(DECIMALS)
    ranks = within_ballots(rounded if ascending else -rounded)
    return Consensus(method, ranks, values, ascending, used, dropped)
