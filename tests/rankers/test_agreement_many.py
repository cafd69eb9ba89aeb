"""Many pairs at once: the single figures, and counting by hand, are the oracles."""

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats

from tiebreak.rankers import kendall, pearson, spearman, top1
from tiebreak.rankers.agreement_many import kendall_many, pearson_many, spearman_many, top1_many
from tiebreak.rankers.errors import InfiniteRankError, RankingError, ShapeError

FloatArray = NDArray[np.float64]
NAN = math.nan

some_scores = arrays(
    np.float64, (3, 5), elements=st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.1 + 0.2, 1.0, NAN])
)


@settings(deadline=None, max_examples=150)
@given(some_scores, some_scores)
def test_many_are_the_single_ones(first: FloatArray, second: FloatArray) -> None:
    rho, same = spearman_many(first, second), top1_many(first, second)
    linear = pearson_many(first, second)
    for row in range(3):
        np.testing.assert_allclose(rho[row], spearman(first[row], second[row]).value, atol=1e-12)
        np.testing.assert_allclose(linear[row], pearson(first[row], second[row]).value, atol=1e-9)
        np.testing.assert_allclose(same[row], top1(-first[row], -second[row]).value)
    np.testing.assert_allclose(
        spearman_many(first, second[0]), spearman_many(first, np.tile(second[0], (3, 1)))
    )


def test_many_without_ties_by_hand() -> None:
    # ρ = 1 − 6 Σd² / (N(N² − 1)): one swap of neighbours among four is 1 − 6 · 2 / 60 = 0.8.
    assert spearman_many([[4, 3, 2, 1]], [3, 4, 2, 1]).tolist() == [0.8]
    assert spearman_many([1.0, 2, 3], [5.0, 6, 7]) == 1.0
    assert spearman_many([1.0, 2, 3], [3.0, 2, 1]) == -1.0
    # {0, 1} are first on one side, 1 alone on the other: ½.
    assert top1_many([[2, 2, 1], [3, 2, 1]], [1, 2, 0]).tolist() == [0.5, 0]


@pytest.mark.parametrize("many", [pearson_many, spearman_many, kendall_many, top1_many])
@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([1, 2], [1, 2, 3], "shape"),
        (1, 2, "shape"),
        ([[1, 2]] * 2, [[1, 2]] * 3, "do not go together"),
        ([1, math.inf], [1, 2], "finite"),
        ([1, 2], [1, -math.inf], "finite"),
    ],
)
def test_bad_rows(many: Any, first: Any, second: Any, message: str) -> None:
    with pytest.raises(RankingError, match=message):
        many(first, second)


values = st.one_of(st.integers(1, 4).map(float), st.just(NAN))
pairs_of_rankings = st.tuples(st.integers(1, 4), st.integers(1, 6)).flatmap(
    lambda shape: st.tuples(
        arrays(np.float64, shape, elements=values), arrays(np.float64, shape, elements=values)
    )
)


@settings(deadline=None, max_examples=150)
@given(pairs_of_rankings)
def test_kendall_many_is_scipys_kendall(pair: tuple[FloatArray, FloatArray]) -> None:
    first, second = pair
    one_by_one = [kendall(a, b).value for a, b in zip(first, second, strict=True)]
    np.testing.assert_allclose(kendall_many(first, second), one_by_one, rtol=0, atol=1e-14)


@settings(deadline=None, max_examples=100)
@given(pairs_of_rankings)
def test_kendall_many_by_counting_pairs(pair: tuple[FloatArray, FloatArray]) -> None:
    first, second = pair
    for a, b, value in zip(first, second, kendall_many(first, second), strict=True):
        both = [k for k in range(len(a)) if not np.isnan(a[k] + b[k])]
        signs = [(np.sign(a[i] - a[j]), np.sign(b[i] - b[j])) for i, j in combinations(both, 2)]
        norm = sum(x != 0 for x, _ in signs) * sum(y != 0 for _, y in signs)
        if norm == 0:
            assert np.isnan(value)
        else:
            expected = sum(x * y for x, y in signs) / math.sqrt(norm)
            assert value == pytest.approx(expected, abs=1e-14)


def test_kendall_many_broadcasts() -> None:
    rankings = np.random.default_rng(0).permuted(np.tile(np.arange(5.0), (4, 1)), axis=1)
    table = kendall_many(rankings[:, None], rankings)
    assert table.shape == (4, 4)
    np.testing.assert_allclose(table, table.T)
    np.testing.assert_allclose(np.diag(table), 1)
    np.testing.assert_allclose(table[1], kendall_many(rankings, rankings[1]))
    assert kendall_many(rankings[0], rankings[1]) == pytest.approx(
        stats.kendalltau(rankings[0], rankings[1]).statistic
    )


def test_kendall_many_sees_rounding_errors_as_ties() -> None:
    assert np.isnan(kendall_many([0.1 + 0.2, 0.3], [1.0, 2.0]))


@pytest.mark.parametrize(
    ("first", "second", "error"),
    [
        ([[1, 2]], [1, 2, 3], ShapeError),
        (np.ones((2, 3)), np.ones((5, 3)), ShapeError),
        (1.0, [1.0], ShapeError),
        ([1, -math.inf], [1, 2], InfiniteRankError),
    ],
)
def test_kendall_many_bad_input(first: Any, second: Any, error: type[RankingError]) -> None:
    with pytest.raises(error):
        kendall_many(first, second)
