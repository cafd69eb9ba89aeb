import math
from itertools import combinations, count, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from tests.rankers.ballots import FloatArray
from tiebreak.rankers.pairwise_tests import (
    holm,
    items_needed,
    items_to_tell_apart,
    separation,
    sign_flip_p,
)

NAN = math.nan


def test_by_hand() -> None:
    # Model 0 alone passes 12 items, model 1 alone one; 2 passes what 1 passes, but for that one.
    native = [[1, 0, 0]] * 12 + [[0, 1, 0]] + [[1, 1, 1]] * 7
    result = separation(native, (0, 1, 2))
    assert [(pair.above, pair.below) for pair in result.pairs] == [(0, 1), (0, 2), (1, 2)]
    assert [pair.difference for pair in result.pairs] == pytest.approx([11 / 20, 12 / 20, 1 / 20])
    # Exact McNemar: 12 against 1: 2 · (1 + 13) / 2¹³; 12 against 0: 2 / 2¹²; 1 against 0: 1.
    assert [pair.p for pair in result.pairs] == pytest.approx([28 / 2**13, 2 / 2**12, 1])
    # Of all signs of 13 items T = |Σ d| / √(Σ d²) is √12 or more for (0, 2) where 12 signs agree;
    # for (0, 1) it is 11/√13 or more where 12 of 13 agree, which holds in these signs too.
    assert [p.p_adjusted for p in result.pairs] == pytest.approx([28 / 2**13, 4 / 2**13, 1])
    assert [pair.apart for pair in result.pairs] == [True, True, False]
    assert result.apart == ((0, 1), (0, 2))
    assert result.groups == (range(0, 1), range(1, 3))
    assert (result.rank_lower, result.rank_upper) == ((1, 2, 2), (1, 3, 3))


def test_holes() -> None:
    native = [[1, NAN, 0], [1, NAN, 1], [NAN, 1, 0]]
    result = separation(native, (0, 1, 2))
    assert [pair.n_items for pair in result.pairs] == [0, 2, 1]
    assert result.pairs[0].apart is None
    assert [pair.untested for pair in result.pairs] == ["no common item", None, None]
    assert math.isnan(result.pairs[0].difference)
    assert math.isnan(result.pairs[0].p_adjusted)
    assert [(pair.above, pair.below) for pair in result.tested] == [(0, 2), (1, 2)]
    assert result.pairs[1].difference == pytest.approx(1 / 2)
    assert [pair.p_adjusted for pair in separation(np.ones((3, 2)), (0, 1)).pairs] == [1]


@pytest.mark.parametrize(("sign", "tells"), [(1, True), (-1, False)])
def test_a_long_tail_against_the_mean_is_doubted(sign: int, tells: bool) -> None:
    # The same |mean|, spread and t (2.9); all but six of 40 items lie on one side of it.
    tail = np.array([2.0, 2.4, 1.8, 2.2, 2.6, 1.6])
    rest = np.linspace(-0.02, 0.02, 34)
    gaps = np.concatenate([tail, rest]) - np.mean(np.concatenate([tail, rest]))
    scores = np.column_stack([np.zeros(40), -(sign * gaps + 0.36)])
    [pair] = separation(scores, (0, 1)).pairs
    assert pair.p == pytest.approx(stats.ttest_1samp(sign * gaps + 0.36, 0).pvalue)
    assert pair.p < 0.01
    assert bool(pair.p_adjusted <= 0.01) is tells


@pytest.mark.parametrize(("n_items", "untested"), [(20, "rare failures"), (80, None)])
def test_a_failure_too_rare_to_show(n_items: int, untested: str | None) -> None:
    # 0.05 apart in every item: one failure in 20 would make up for it, and 20 items may hide it.
    noise = 0.01 * np.sin(np.arange(2 * n_items)).reshape(n_items, 2)
    result = separation(noise + np.array([0.95, 0.9]), (0, 1))
    [pair] = result.pairs
    assert pair.p < 1e-6
    assert pair.untested == untested
    assert pair.apart is (None if untested else True)
    assert math.isnan(pair.p_adjusted) is bool(untested)
    assert len(result.tested) == (0 if untested else 1)
    # Passes and fails hide nothing: 12 of 20 against none.
    passes = np.repeat([[1.0, 0.0], [1.0, 1.0]], n_items // 2, axis=0)
    assert separation(passes, (0, 1)).pairs[0].apart


@pytest.mark.parametrize("n_pairs", [1, 3, 28, 1770])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_items_needed_is_where_the_best_case_begins_to_show(n_pairs: int, level: float) -> None:
    best = (n for n in count(1) if n_pairs * stats.binomtest(n, n).pvalue <= 1 - level)
    assert items_needed(n_pairs, level) == next(best)


@pytest.mark.parametrize("power", [0.5, 0.8])
def test_items_that_tell_two_models_apart_give_their_test_its_power(power: float) -> None:
    # A difference of 0.1 whose standard deviation is 1, seen in 400 items as it is: t = 2.
    likely, least = items_to_tell_apart(400, 2 * float(stats.t.sf(2, 399)), power=power)
    shift = 0.1 * math.sqrt(likely)
    assert stats.norm.sf(stats.norm.isf(0.025) - shift) == pytest.approx(power, abs=1e-6)
    # The largest difference that 400 items leave open at 95%.
    largest = 0.1 + stats.norm.isf(0.025) / math.sqrt(400)
    assert least * largest**2 == pytest.approx(likely * 0.1**2)
    assert items_to_tell_apart(400, 1.0, power=power)[0] == math.inf


scores = arrays(
    np.float64,
    st.tuples(st.integers(1, 25), st.integers(2, 6)),
    elements=st.sampled_from([0.0, 1.0, NAN]),
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(scores)
def test_groups_are_all_longest_runs(native: FloatArray) -> None:
    n_models = native.shape[1]
    result = separation(native, range(n_models), level=0.5)
    apart = {(pair.above, pair.below) for pair in result.pairs if pair.apart}
    runs = [
        range(start, stop)
        for start in range(n_models)
        for stop in range(start + 1, n_models + 1)
        if not apart & set(combinations(range(start, stop), 2))
    ]
    longest = [
        run for run in runs if not any(run != other and set(run) <= set(other) for other in runs)
    ]
    assert list(result.groups) == longest


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(scores)
def test_p_of_a_pair_is_mcnemar_for_pass_or_fail(native: FloatArray) -> None:
    result = separation(native, range(native.shape[1]))
    for pair in result.tested:
        wins = int(np.sum(native[:, pair.above] > native[:, pair.below]))
        losses = int(np.sum(native[:, pair.above] < native[:, pair.below]))
        p = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
        assert pair.p == pytest.approx(p)
        assert pair.p_adjusted >= pair.p
        assert pair.apart is (pair.p_adjusted <= 0.05)


FIRST, SECOND = np.array(list(combinations(range(3), 2))).T


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(arrays(np.float64, (7, 3), elements=st.sampled_from([0.0, 0.5, 1.0, NAN])))
def test_adjusted_p_values_by_trying_all_signs(table: FloatArray) -> None:
    """The definition of the step-down: the largest T of a pair and of all pairs with a lesser T."""
    gaps = np.nan_to_num(table[:, FIRST] - table[:, SECOND])
    root = np.sqrt(np.maximum(np.sum(gaps**2, axis=0), 1e-300))
    signs = np.array(list(product((-1, 1), repeat=7)))
    seen, flipped = np.abs(gaps.sum(axis=0)) / root, np.abs(signs @ gaps) / root
    expected = np.zeros(3)
    for pair in range(3):
        lesser = [other for other in range(3) if seen[other] <= seen[pair] + 1e-9]
        expected[pair] = np.mean(flipped[:, lesser].max(axis=1) >= seen[pair] - 1e-9)
    result = separation(table, (0, 1, 2))
    tested = [pair.p_adjusted for pair in result.pairs]
    # Graded scores may be drawn in for their skewness; p-values of lesser pairs are never smaller.
    for pair, p in enumerate(tested):
        if not math.isnan(p):
            assert p >= expected[pair] - 1e-9


differences = arrays(
    np.float64, st.integers(1, 9), elements=st.integers(-3, 3).map(lambda x: x / 4)
)


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(differences)
def test_sign_flips_by_trying_all(gaps: FloatArray) -> None:
    total = abs(gaps.sum())
    far = [abs(np.dot(signs, gaps)) >= total - 1e-9 for signs in product((-1, 1), repeat=len(gaps))]
    assert sign_flip_p(gaps) == pytest.approx(np.mean(far))


def test_random_sign_flips_against_scipy() -> None:
    gaps = np.random.default_rng(1).normal(0.25, 1, size=40)
    theirs = stats.permutation_test(
        (gaps,), np.mean, permutation_type="samples", n_resamples=20_000, rng=2
    )
    # Standard errors √(p(1 − p)/9,999) and √(…/20,000): together 0.004 at p = 0.1.
    assert 0.05 < theirs.pvalue < 0.3
    assert sign_flip_p(gaps) == pytest.approx(theirs.pvalue, abs=0.012)
    assert sign_flip_p(gaps, seed=4) == sign_flip_p(gaps, seed=4)
    assert sign_flip_p(gaps, seed=4) != sign_flip_p(gaps, seed=5)
    assert sign_flip_p(-gaps) == pytest.approx(sign_flip_p(gaps), abs=0.012)


def test_order_of_items_does_not_matter_with_random_signs() -> None:
    gaps = np.random.default_rng(1).normal(0.3, 1, size=40)
    assert sign_flip_p(gaps) == sign_flip_p(gaps[::-1])


def test_pass_or_fail_is_mcnemar() -> None:
    # 15 against 5 of 20: 2 Σ_{k ≤ 5} C(20, k) / 2²⁰ = 2 · 21,700 / 1,048,576.
    gaps = [1.0] * 15 + [-1.0] * 5 + [0.0] * 80 + [NAN]
    assert sign_flip_p(gaps) == pytest.approx(43_400 / 2**20)


@pytest.mark.parametrize(
    ("p", "adjusted"),
    [
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),  # Holm's own kind of example
        ([0.5, 0.9], [1, 1]),
        ([0.02, NAN, 0.03], [0.04, NAN, 0.04]),
        ([], []),
    ],
)
def test_holm(p: list[float], adjusted: list[float]) -> None:
    np.testing.assert_allclose(holm(p), adjusted)
