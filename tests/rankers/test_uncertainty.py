import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats

from tiebreak.rankers import ItemBootstrap, Resampling, bootstrap_items, uncertainty
from tiebreak.rankers.uncertainty import bootstrap_leaderboard, expanded_tail
from tiebreak.reason import Reason

NAN = math.nan
FIELDS = ("mean", "lower", "upper", "first_share")


def same(first: ItemBootstrap, second: ItemBootstrap) -> None:
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(first, field), getattr(second, field))


def test_every_possible_draw_by_brute_force() -> None:
    scores = np.array([[1.0, 0.0, 0.5], [0.5, 1.0, 0.0], [1.0, 0.5, 0.0], [0.0, 0.5, 1.0]])
    draws = np.array([scores[list(rows)].mean(axis=0) for rows in product(range(4), repeat=4)])
    firsts = draws.round(12) == draws.round(12).max(axis=1, keepdims=True)
    expected = (firsts / firsts.sum(axis=1, keepdims=True)).mean(axis=0)
    result = bootstrap_items(scores, how=Resampling(level=0.8, draws=60_000))
    np.testing.assert_allclose(result.first_share, expected, atol=0.01)
    # t = −1.6377 with 3 degrees of freedom; Φ(√(4/3) · −1.6377) = Φ(−1.8911) = 0.0293.
    np.testing.assert_allclose(result.lower, np.quantile(draws, 0.0293, axis=0), atol=1e-9)
    np.testing.assert_allclose(result.upper, np.quantile(draws, 0.9707, axis=0), atol=1e-9)


cells = st.one_of(st.integers(0, 6).map(lambda score: score / 6), st.just(NAN))
tables = arrays(np.float64, st.tuples(st.integers(2, 7), st.integers(1, 4)), elements=cells)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(tables, st.integers(0, 3), st.permutations(range(7)))
def test_order_of_items_does_not_matter(
    scores: NDArray[np.float64], seed: int, order: list[int]
) -> None:
    rows = [row for row in order if row < len(scores)]
    same(
        bootstrap_items(scores, how=Resampling(draws=50, seed=seed)),
        bootstrap_items(scores[rows], how=Resampling(draws=50, seed=seed)),
    )


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(tables)
def test_bounds_and_probabilities(scores: NDArray[np.float64]) -> None:
    result = bootstrap_items(scores, how=Resampling(draws=50))
    enough = result.n_items > 1
    assert (np.isnan(result.lower) == ~enough).all()
    assert (result.lower[enough] <= result.upper[enough]).all()
    assert (result.lower[enough] >= np.nanmin(scores[:, enough], initial=1)).all()
    if enough.any():
        assert np.nansum(result.first_share) == pytest.approx(1)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("n", [2, 3, 10, 1000])
def test_expanded_tails_meet_the_t_interval(n: int, level: float) -> None:
    # Bootstrap means of a large normal sample are N(mean, s² (n − 1) / n²). Their quantile at the
    # expanded tail is the end of the t interval, in units of s / √n.
    tail = float(expanded_tail(n, level))
    end = stats.norm.ppf(tail) * math.sqrt((n - 1) / n)
    if tail > 0:
        assert end == pytest.approx(stats.t.ppf((1 - level) / 2, n - 1))
    assert tail < (1 - level) / 2


def test_expanded_tails_vanish_with_more_items() -> None:
    tails = expanded_tail([1, 2, 5, 10, 20, 100, 10**6], 0.95)
    # By R's resample::ExpandProbs and a table of t: Φ(−√(10/9) · 2.2622) = Φ(−2.3845) = 0.00855.
    np.testing.assert_allclose(tails[2:5], [0.00096, 0.00855, 0.01588], atol=0.00001)
    assert np.isnan(tails[0])
    assert (np.diff(tails[1:]) > 0).all()
    assert tails[-1] == pytest.approx(0.025, abs=1e-5)


# Coverage is measured by benchmarks/claims, in tests/test_statistics.py as well.


def test_a_mean_as_any_leaderboard_is_bootstrap_items() -> None:
    # The scores are sorted, because `bootstrap_items` sorts items before it draws them.
    scores = np.sort(np.random.default_rng(0).normal(size=(30, 3)), axis=0)
    general = bootstrap_leaderboard(lambda counts: counts @ scores / 30, 30, how=Resampling(seed=3))
    special = bootstrap_items(scores, how=Resampling(seed=3))
    for field in FIELDS:
        np.testing.assert_allclose(getattr(general, field), getattr(special, field), rtol=1e-12)
    np.testing.assert_array_equal(general.undefined, [0, 0, 0])


def test_draws_without_a_score_are_counted_and_left_out() -> None:
    # Model 0 is defined only where item 0 is drawn: in 1 − (2/3)³ = 19/27 of the draws.
    def statistic(counts: NDArray[np.float64]) -> NDArray[np.float64]:
        first = np.where(counts[:, 0] > 0, 2.0, np.nan)
        return np.stack([first, np.ones(len(counts)), np.full(len(counts), np.nan)], axis=1)

    result = bootstrap_leaderboard(statistic, 3, how=Resampling(draws=9000))
    assert result.undefined[0] == pytest.approx(9000 * 8 / 27, abs=150)
    np.testing.assert_array_equal(result.undefined[1:], [0, 9000])
    np.testing.assert_array_equal(result.lower, [2, 1, NAN])
    # Where model 0 has no score model 1 is first.
    np.testing.assert_allclose(result.first_share[:2], [19 / 27, 8 / 27], atol=0.02)
    assert np.isnan(result.first_share[2])
    assert result.reason == Reason("undefined_throughout")


@pytest.mark.parametrize("few_kinds", [True, False])
def test_batches_of_draws_are_one_stream(few_kinds: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uncertainty, "_AS_LONG", 0 if few_kinds else 99)
    scores = np.random.default_rng(2).random((9, 3))
    whole = bootstrap_items(scores, how=Resampling(draws=100))
    monkeypatch.setattr(uncertainty, "_CHUNK", 70)  # 7 draws at once
    same(whole, bootstrap_items(scores, how=Resampling(draws=100)))


@pytest.mark.parametrize("few_kinds", [True, False])
@pytest.mark.parametrize("size", [[1, 1, 1], [3, 1], [1, 4, 2], [40, 1, 9]])
def test_draws_follow_the_multinomial_distribution(
    size: list[int], few_kinds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uncertainty, "_AS_LONG", 0 if few_kinds else 99)
    n, draws = sum(size), 40_000
    counts = np.concatenate([*uncertainty._counts(np.array(size), draws, 11)])
    law = stats.multinomial(n, np.array(size) / n)
    outcomes = np.array([row for row in product(range(n + 1), repeat=len(size)) if sum(row) == n])
    expected = draws * law.pmf(outcomes)
    place = {tuple(row): number for number, row in enumerate(outcomes.tolist())}
    observed = np.bincount([place[tuple(row)] for row in counts.astype(int).tolist()])
    observed = np.pad(observed, (0, len(outcomes) - len(observed)))
    common = expected >= 5  # the others are one class
    observed, expected = (
        np.append(values[common], values[~common].sum()) for values in (observed, expected)
    )
    kept = expected > 0
    assert stats.chisquare(observed[kept], expected[kept]).pvalue > 0.01
    np.testing.assert_allclose(np.cov(counts.T), law.cov(), atol=0.02 * n)
