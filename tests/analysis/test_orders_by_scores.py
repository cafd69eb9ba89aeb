"""Models × benchmarks as ballots: methods against a second way to the same numbers.

The second ways read the file themselves and count pairs of scores; none of them knows a profile.
What the other methods make of ballots is held to brute force in `tests/rankers/voting`.
"""

import csv
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tests.rankers.kemeny.plain import by_sets
from tiebreak.analysis.consensus import Election, elect
from tiebreak.rankers import AGGREGATORS, check_certificate
from tiebreak.tables import read_scores, score_ballots

FILE = Path(__file__).parents[2] / "examples" / "scores.csv"
WEIGHTS: Mapping[str, Mapping[str, int]] = {"plain": {}, "weights": {"law": 3, "history": 2}}


class Second:
    """Scores by benchmark, as often as it counts, and what each method makes of them."""

    def __init__(self, weights: Mapping[str, int]) -> None:
        with FILE.open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.models = [row.pop("model") for row in rows]
        names = [name for name in rows[0] for _ in range(weights.get(name, 1))]
        self.benchmarks = [[Fraction(row[name]) for row in rows] for name in names]
        self.n = len(self.models)

    def ahead(self, one: int, other: int) -> int:
        return sum(scores[one] > scores[other] for scores in self.benchmarks)

    def average(self) -> NDArray[np.float64]:
        """SciPy's ranks."""
        ranks = [stats.rankdata([-float(s) for s in scores]) for scores in self.benchmarks]
        return np.asarray(np.mean(ranks, axis=0), np.float64)

    def borda(self) -> list[float]:
        """A point for each score that is lower, half of one for each that is equal."""
        return [
            float(
                sum(
                    Fraction(int(scores[own] > scores[other]) + int(scores[own] >= scores[other]))
                    / 2
                    for scores in self.benchmarks
                    for other in range(self.n)
                    if other != own
                )
            )
            for own in range(self.n)
        ]

    def copeland(self) -> list[float]:
        return [
            sum(np.sign(self.ahead(own, k) - self.ahead(k, own)) for k in range(self.n))
            for own in range(self.n)
        ]

    def cost(self, order: Sequence[int]) -> int:
        return sum(self.ahead(below, above) for above, below in combinations(order, 2))


@pytest.fixture(scope="module", params=WEIGHTS.values(), ids=list(WEIGHTS))
def both(request: pytest.FixtureRequest) -> tuple[Election, Second]:
    ballots = score_ballots(read_scores(FILE), weights=request.param)
    election = elect(ballots, tuple(AGGREGATORS))
    assert not election.failed
    assert election.kemeny is not None
    check_certificate(ballots.profile, election.kemeny)
    second = Second(request.param)
    assert list(election.names) == second.models
    return election, second


def test_kemeny_against_a_table_of_all_sets(both: tuple[Election, Second]) -> None:
    election, second = both
    wins = [[second.ahead(one, other) for other in range(second.n)] for one in range(second.n)]
    least, ways = by_sets(wins)
    assert election.kemeny is not None
    assert (election.kemeny.cost, election.kemeny.n_optima) == (least, ways)
    for method in ("kemeny_young", "kendall"):
        order = np.argsort(election.consensuses[method].ranks).tolist()
        assert second.cost(order) == least


@pytest.mark.parametrize("method", ["average", "borda", "copeland"])
def test_each_method_against_a_second_one(both: tuple[Election, Second], method: str) -> None:
    election, second = both
    found, scores = election.consensuses[method], getattr(second, method)()
    np.testing.assert_allclose(found.scores, scores)
    better = np.array(scores).round(9) * (1 if found.ascending else -1)
    np.testing.assert_array_equal(found.ranks, stats.rankdata(better))
