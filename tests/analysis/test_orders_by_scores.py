"""Models × benchmarks by all eight methods, each against a second way to the same numbers.

The second ways read the file themselves and count pairs of scores; none of them knows a profile.
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
from scipy.optimize import Bounds, LinearConstraint, milp

from tests.rankers.kemeny.plain import by_sets
from tiebreak.analysis.consensus import Election, elect
from tiebreak.rankers import AGGREGATORS, check_certificate
from tiebreak.tables import ScoreTable, read_scores, score_ballots

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

    def irv(self) -> list[float]:
        """The round in which a model goes out; ties as the method's docstring says."""
        out: dict[int, float] = {}
        while len(out) < self.n:
            left = [own for own in range(self.n) if own not in out]
            votes = dict.fromkeys(left, Fraction(0))
            for scores in self.benchmarks:
                top = [own for own in left if scores[own] == max(scores[k] for k in left)]
                for own in top:
                    votes[own] += Fraction(1, len(top))
            last = [own for own in left if votes[own] == min(votes.values())]
            margin = {
                own: sum(self.ahead(own, k) - self.ahead(k, own) for k in left) for own in last
            }
            number = max(out.values(), default=0) + 1
            out |= {own: number for own in last if margin[own] == min(margin.values())}
        return [out[own] for own in range(self.n)]

    def spearman(self) -> NDArray[np.float64]:
        """Complete ballots: by the rearrangement inequality the order of the mean ranks."""
        return stats.rankdata(self.average().round(9))

    def dodgson(self) -> list[float]:
        return [self._swaps(own) for own in range(self.n)]

    def _swaps(self, own: int) -> float:
        """An integer program: for each benchmark and each score above, whether it is passed.

        (The method's own has a variable for each distance that a ballot's model is lifted.)
        """
        steps: list[tuple[int, Fraction]] = []  # of benchmark and score, from the nearest upwards
        for number, scores in enumerate(self.benchmarks):
            steps += [(number, s) for s in sorted({s for s in scores if s >= scores[own]})]
        gains = np.zeros((self.n, len(steps)))
        cost = np.zeros(len(steps))
        for at, (number, score) in enumerate(steps):
            passed = [k for k in range(self.n) if self.benchmarks[number][k] == score and k != own]
            each = 1 if score == self.benchmarks[number][own] else 2
            gains[passed, at] = each
            cost[at] = each * len(passed) / 2
        others = [k for k in range(self.n) if k != own]
        needs = [1 - self.ahead(own, k) + self.ahead(k, own) for k in others]
        nearer = [
            np.eye(len(steps))[at - 1] - np.eye(len(steps))[at]
            for at in range(1, len(steps))
            if steps[at][0] == steps[at - 1][0]
        ]
        constraints = [LinearConstraint(gains[others], lb=needs)]
        if nearer:
            constraints.append(LinearConstraint(np.array(nearer), lb=0))
        whole = np.ones(len(cost), np.int64)
        found = milp(cost, integrality=whole, bounds=Bounds(0, 1), constraints=constraints)
        assert found.success
        return float(found.fun)

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


@pytest.mark.parametrize("method", ["average", "borda", "copeland", "irv", "spearman", "dodgson"])
def test_each_method_against_a_second_one(both: tuple[Election, Second], method: str) -> None:
    election, second = both
    found, scores = election.consensuses[method], getattr(second, method)()
    np.testing.assert_allclose(found.scores, scores)
    better = np.array(scores).round(9) * (1 if found.ascending else -1)
    np.testing.assert_array_equal(found.ranks, stats.rankdata(better))


@pytest.mark.slow
def test_what_cannot_be_proven_in_time_leaves_the_others() -> None:
    rng = np.random.default_rng(3)
    scores = 1 / (1 + np.exp(rng.normal(size=(126, 1)) + rng.normal(size=(126, 23))))
    scores = np.where(rng.random(scores.shape) < 0.3, np.nan, scores.round(3))
    names = (tuple(f"m{k}" for k in range(126)), tuple(f"b{k}" for k in range(23)))
    election = elect(
        score_ballots(ScoreTable(*names, scores)),
        tuple(AGGREGATORS),
        time_limit=2.0,
    )
    assert "not proven in time" in str(election.failed["dodgson"])
    assert "complete ballots" in str(election.failed["kendall"])
    assert set(election.failed) == {"dodgson", "kendall"}
    assert election.kemeny is not None
    assert election.kemeny.lower_bound > 0.98 * election.kemeny.cost
