"""Contests of many tables: against contests of each, the oracle, and brute force."""

import joblib
import numpy as np
import pytest

from tests.rankers.contests.cases import Case
from tiebreak.rankers import csd, failure_sensitivity, item_intervals
from tiebreak.rankers.contests.sensitivity import _joint_ranks, drawn_wins

CASE = Case(6, 4, 100, 0)
RNG = np.random.default_rng(8)


@pytest.mark.parametrize(
    ("rounds", "eliminate", "weights"),
    [
        (None, 0, None),
        (None, [1, 0, 2, 1], None),
        ([[2, 0], [1], [3]], 1, None),
        (None, 1, [1.0, 2.0, 3.0, 4.0]),
    ],
)
def test_each_table_is_played_as_it_is(
    rounds: list[list[int]] | None, eliminate: int | list[int], weights: list[float] | None
) -> None:
    tables = np.repeat([CASE.scores, CASE.scores[::-1]], 150, axis=0)
    [wins] = drawn_wins(tables, rounds, [eliminate], weights=weights)
    for part, table in (wins[:150], tables[0]), (wins[150:], tables[-1]):
        expected = csd(table, rounds, eliminate, weights=weights, iterations=20_000)
        error = np.hypot(part.std(axis=0) / np.sqrt(150), expected.standard_error)
        assert np.all(np.abs(part.mean(axis=0) - expected.expected_wins) <= 4.5 * error + 1e-9)


def test_intervals_and_their_seed() -> None:
    tables = RNG.normal(size=(50, 7, 3)) + np.arange(7)[::-1, None]
    found, again = (item_intervals(tables, [[0, 1], [2]], seed=1) for _ in range(2))
    np.testing.assert_array_equal(found.lower, again.lower)
    assert np.all(found.lower <= found.upper)
    assert np.all(found.rank_lower <= found.rank_upper)
    assert (found.draws, found.level) == (50, 0.95)


def test_the_same_with_workers_and_beside_other_eliminations() -> None:
    tables = RNG.normal(size=(50, 7, 3))
    alone = item_intervals(tables, None, 1, n_jobs=1)
    with joblib.parallel_config(backend="threading"):
        found = failure_sensitivity(tables[0], None, (1, 2), tables, iterations=200, n_jobs=2)
    assert found.items is not None
    np.testing.assert_array_equal(found.items.lower, alone.lower)
    np.testing.assert_array_equal(found.items.rank_upper, alone.rank_upper)


@pytest.mark.parametrize("apart", [0.0, 1.0, 4.0])
def test_joint_ranks_by_brute_force(apart: float) -> None:
    wins = RNG.normal(size=(200, 5)) + apart * np.array([4.0, 1.5, 1.0, 0.0, -3.0])
    left = {(i, j): wins[:, i] - wins[:, j] for i in range(5) for j in range(5) if i != j}
    sure: list[tuple[int, int]] = []
    while left:
        spread = {pair: own.std() for pair, own in left.items()}
        stray = [
            max(abs(own[draw] - own.mean()) / spread[pair] for pair, own in left.items())
            for draw in range(200)
        ]
        new = [p for p, own in left.items() if own.mean() > np.quantile(stray, 0.95) * spread[p]]
        sure += new
        left = {p: own for p, own in left.items() if p not in new and p[::-1] not in new}
        if not new:
            break
    lower, upper = _joint_ranks(wins, 0.95)
    assert lower.tolist() == [1 + sum(j == m for _, j in sure) for m in range(5)]
    assert upper.tolist() == [5 - sum(i == m for i, _ in sure) for m in range(5)]
    assert bool(sure) == (apart > 0)


def test_joint_ranks_without_any_spread() -> None:
    lower, upper = _joint_ranks(np.tile([3.0, 1.0, 1.0], (20, 1)), 0.95)
    assert (lower.tolist(), upper.tolist()) == ([1, 2, 2], [1, 3, 3])
