import math
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.cases import cases
from tests.rankers.ballots import FloatArray
from tiebreak.rankers.agreement import (
    cohen_kappa,
    kendall_tau,
    kendall_tau_many,
    pearson,
    pearson_many,
    resolution_gain,
    spearman,
    spearman_many,
    top1,
    top1_many,
)

NAN = math.nan


@pytest.mark.parametrize(
    ("correlation", "first", "second", "expected"),
    [
        # Rank differences 1, 1, 0, 0: ρ = 1 − 6 · 2 / (4 · 15).
        (spearman, [1, 2, 3, 4], [2, 1, 3, 4], 0.8),
        # Six pairs. One is turned round: τ = (5 − 1) / 6.
        (kendall_tau, [1, 2, 3, 4], [2, 1, 3, 4], 4 / 6),
        # One pair is tied on the left: 5 concordant, τ-b = 5 / √(5 · 6).
        (kendall_tau, [1.5, 1.5, 3, 4], [1, 2, 3, 4], 5 / math.sqrt(30)),
        # Deviations -1, 0, 1 and -2, -1, 3.
        (pearson, [1, 2, 3], [0, 1, 5], 5 / math.sqrt(2 * 14)),
    ],
)
def test_by_hand(
    correlation: Any, first: list[float], second: list[float], expected: float
) -> None:
    assert correlation(first, second).value == pytest.approx(expected)


def test_a_model_that_one_side_lacks_is_left_out() -> None:
    a, b = [1, 2, NAN, 3, 4, 5], [2, 1, 1, 3, 4, NAN]
    assert spearman(a, b) == spearman([1, 2, 3, 4], [2, 1, 3, 4])
    assert kendall_tau(a, b).n == 4


@pytest.mark.parametrize(("first", "second", "expected"), cases(__file__, "top1"))
def test_top1(first: list[float], second: list[float], expected: str) -> None:
    assert top1(first, second).value == pytest.approx(float(Fraction(expected)))
    assert top1(second, first) == top1(first, second)


def test_resolution_gain_by_hand() -> None:
    # Gaps 0.2, 0.3, 0.5, mean 1/3; native 0.1, 0, 0.1, mean 0.2/3: five times.
    assert resolution_gain([0.9, 0.7, 0.4], [0.9, 0.8, 0.9]).value == pytest.approx(5)


def test_resolution_gain_over_the_models_that_have_both() -> None:
    # Without the second model 0.5 against 0.1.
    result = resolution_gain([0.9, 0.7, 0.4], [0.9, NAN, 0.8])
    assert result.value == pytest.approx(5)
    assert result.n == 2


def plain_kappa(first: list[int], second: list[int], power: int) -> float:
    """1 − Σ w·observed / Σ w·expected over all cells, by the definition."""
    n = len(first)
    observed = sum(abs(a - b) ** power for a, b in zip(first, second, strict=True)) / n
    expected = sum(abs(a - b) ** power for a in first for b in second) / n**2
    return float(1 - observed / expected)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=12))
def test_weighted_kappa_by_its_definition(ratings: list[tuple[int, int]]) -> None:
    first, second = [list(side) for side in zip(*ratings, strict=True)]
    for power, weights in ((1, "linear"), (2, "quadratic")):
        result = cohen_kappa(first, second, weights=weights, labels=[0, 1, 2, 3])  # type: ignore[arg-type]
        if len({*first, *second}) == 1:
            assert math.isnan(result.value)
        else:
            assert result.value == pytest.approx(plain_kappa(first, second, power), abs=1e-12)


def test_unrated_cases_are_left_out() -> None:
    assert cohen_kappa([1, 2, None, 1, NAN], [1, 2, 1, 2, 1]) == cohen_kappa([1, 2, 1], [1, 2, 2])


some_scores = arrays(
    np.float64, (3, 5), elements=st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.1 + 0.2, 1.0, NAN])
)


@pytest.mark.slow
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


values = st.one_of(st.integers(1, 4).map(float), st.just(NAN))
pairs_of_rankings = st.tuples(st.integers(1, 4), st.integers(1, 6)).flatmap(
    lambda shape: st.tuples(
        arrays(np.float64, shape, elements=values), arrays(np.float64, shape, elements=values)
    )
)


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(pairs_of_rankings)
def test_kendall_many_is_scipys_kendall(pair: tuple[FloatArray, FloatArray]) -> None:
    first, second = pair
    one_by_one = [kendall_tau(a, b).value for a, b in zip(first, second, strict=True)]
    np.testing.assert_allclose(kendall_tau_many(first, second), one_by_one, rtol=0, atol=1e-14)


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(pairs_of_rankings)
def test_kendall_many_by_counting_pairs(pair: tuple[FloatArray, FloatArray]) -> None:
    first, second = pair
    for a, b, value in zip(first, second, kendall_tau_many(first, second), strict=True):
        both = [k for k in range(len(a)) if not np.isnan(a[k] + b[k])]
        signs = [(np.sign(a[i] - a[j]), np.sign(b[i] - b[j])) for i, j in combinations(both, 2)]
        norm = sum(x != 0 for x, _ in signs) * sum(y != 0 for _, y in signs)
        if norm == 0:
            assert np.isnan(value)
        else:
            expected = sum(x * y for x, y in signs) / math.sqrt(norm)
            assert value == pytest.approx(expected, abs=1e-14)


def test_kendall_many_sees_rounding_errors_as_ties() -> None:
    assert np.isnan(kendall_tau_many([0.1 + 0.2, 0.3], [1.0, 2.0]))
