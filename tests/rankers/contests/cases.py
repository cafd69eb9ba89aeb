"""Small contests whose exact answer the oracle finds in moments."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from tests.rankers.contests import exact
from tiebreak.rankers.contests.rounds import win_rates


@dataclass(frozen=True)
class Case:
    """Random scores 0 … `levels` − 1: few levels, many ties."""

    models: int
    rounds: int
    levels: int
    eliminate: int | tuple[int, ...]

    @property
    def scores(self) -> NDArray[np.float64]:
        rng = np.random.default_rng(self.models + 10 * self.rounds)
        return rng.integers(0, self.levels, (self.models, self.rounds)).astype(np.float64)

    @property
    def wins(self) -> exact.Wins:
        table: exact.Wins = win_rates(self.scores).tolist()
        return table

    @property
    def each(self) -> tuple[int, ...]:
        t = self.eliminate
        return (t,) * self.rounds if isinstance(t, int) else t


CASES = [
    Case(models, rounds, levels, t)
    for models, rounds, levels in [(2, 3, 2), (5, 3, 3), (6, 4, 100), (7, 4, 4), (4, 5, 3)]
    for t in (0, 1, 2, 3)
] + [
    Case(5, 4, 100, (0, 2, 1, 0)),
    Case(6, 5, 3, (1, 0, 3, 0, 1)),
    Case(8, 3, 4, (2, 9, 0)),
    Case(3, 5, 100, (0, 0, 1, 0, 0)),
]


@cache
def truth(case: Case) -> tuple[Fraction, ...]:
    return tuple(exact.expected_wins(case.wins, case.each))


def truths(case: Case) -> NDArray[np.float64]:
    return np.array([float(value) for value in truth(case)])
