import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats

from tiebreak.rankers import ItemBootstrap, bootstrap_items

NAN = math.nan
FIELDS = ("mean", "lower", "upper", "rank_lower", "rank_upper", "prob_first")


def same(first: ItemBootstrap, second: ItemBootstrap) -> None:
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(first, field), getattr(second, field))


def test_every_possible_draw_by_hand() -> None:
    # Two items, so four equally likely draws: (1,1) (1,2) (2,1) (2,2).
    # Model 0 has 1 then 0, model 1 has 0 then 0.5: means 1/0, .5/.25, .5/.25, 0/.5.
    result = bootstrap_items([[1.0, 0.0], [0.0, 0.5]], draws=40_000, level=0.9)
    np.testing.assert_allclose(result.mean, [0.5, 0.25])
    np.testing.assert_allclose(result.lower, [0, 0])
    np.testing.assert_allclose(result.upper, [1, 0.5])
    np.testing.assert_allclose(result.prob_first, [0.75, 0.25], atol=0.01)  # 3 of 4 draws
    np.testing.assert_array_equal(result.rank_lower, [1, 1])
    np.testing.assert_array_equal(result.rank_upper, [2, 2])


def test_every_possible_draw_by_brute_force() -> None:
    scores = np.array([[1.0, 0.0, 0.5], [0.5, 1.0, 0.0], [1.0, 0.5, 0.0], [0.0, 0.5, 1.0]])
    draws = np.array([scores[list(rows)].mean(axis=0) for rows in product(range(4), repeat=4)])
    firsts = draws.round(12) == draws.round(12).max(axis=1, keepdims=True)
    expected = (firsts / firsts.sum(axis=1, keepdims=True)).mean(axis=0)
    result = bootstrap_items(scores, draws=60_000, level=0.8)
    np.testing.assert_allclose(result.prob_first, expected, atol=0.01)
    np.testing.assert_allclose(result.lower, np.quantile(draws, 0.1, axis=0), atol=1e-9)
    np.testing.assert_allclose(result.upper, np.quantile(draws, 0.9, axis=0), atol=1e-9)


def test_agrees_with_scipy() -> None:
    scores = np.random.default_rng(3).normal(size=(60, 3))
    ours = bootstrap_items(scores, draws=20_000)
    theirs = stats.bootstrap(
        (scores,), np.mean, axis=0, n_resamples=20_000, method="percentile", rng=5
    ).confidence_interval
    # Monte Carlo error of a quantile: √(0.025 · 0.975 / 20,000) / density ≈ 0.003 here.
    np.testing.assert_allclose(ours.lower, theirs.low, atol=0.015)
    np.testing.assert_allclose(ours.upper, theirs.high, atol=0.015)


def test_one_item_has_no_interval() -> None:
    result = bootstrap_items([[1.0, 0.0]])
    np.testing.assert_array_equal(result.mean, [1, 0])
    for field in FIELDS[1:]:
        assert np.isnan(getattr(result, field)).all()
    assert result.reason is not None
    assert "two items" in result.reason


def test_many_rows_of_one_item_are_one_item() -> None:
    result = bootstrap_items([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]], items=["q", "q", "q"])
    np.testing.assert_array_equal(result.n_items, [1, 1])
    assert np.isnan(result.lower).all()


def test_repeating_every_item_does_not_narrow_the_interval() -> None:
    scores = np.random.default_rng(0).random((30, 4))
    once = bootstrap_items(scores)
    thrice = bootstrap_items(np.repeat(scores, 3, axis=0), items=np.repeat(np.arange(30), 3))
    np.testing.assert_allclose(thrice.lower, once.lower)
    np.testing.assert_allclose(thrice.upper, once.upper)


def test_absent_cells_are_left_out_not_counted_as_zero() -> None:
    result = bootstrap_items([[1.0, NAN, NAN], [1.0, 0.4, NAN], [1.0, 0.4, 0.2]])
    np.testing.assert_allclose(result.mean, [1, 0.4, 0.2])
    np.testing.assert_array_equal(result.n_items, [3, 2, 1])
    np.testing.assert_allclose(result.lower[:2], [1, 0.4])
    assert np.isnan(result.lower[2])
    assert result.reason is not None


def test_exact_ties_share_the_first_place() -> None:
    result = bootstrap_items([[1.0, 1.0, 0.0], [0.7, 0.7, 0.1], [0.3, 0.3, 0.2]])
    np.testing.assert_allclose(result.prob_first, [0.5, 0.5, 0])
    np.testing.assert_array_equal(result.rank_upper, [1, 1, 3])


def test_no_item_at_all() -> None:
    result = bootstrap_items(np.empty((0, 2)))
    assert np.isnan(result.mean).all()
    assert np.isnan(result.prob_first).all()


cells = st.one_of(st.integers(0, 6).map(lambda score: score / 6), st.just(NAN))
tables = arrays(np.float64, st.tuples(st.integers(2, 7), st.integers(1, 4)), elements=cells)


@settings(deadline=None, max_examples=60)
@given(tables, st.integers(0, 3), st.permutations(range(7)))
def test_order_of_items_does_not_matter(
    scores: NDArray[np.float64], seed: int, order: list[int]
) -> None:
    rows = [row for row in order if row < len(scores)]
    same(
        bootstrap_items(scores, draws=50, seed=seed),
        bootstrap_items(scores[rows], draws=50, seed=seed),
    )


@settings(deadline=None, max_examples=60)
@given(tables)
def test_bounds_and_probabilities(scores: NDArray[np.float64]) -> None:
    result = bootstrap_items(scores, draws=50)
    enough = result.n_items > 1
    assert (np.isnan(result.lower) == ~enough).all()
    assert (result.lower[enough] <= result.upper[enough]).all()
    assert (result.lower[enough] >= np.nanmin(scores[:, enough], initial=1)).all()
    if enough.any():
        assert np.nansum(result.prob_first) == pytest.approx(1)
    n_ranked = enough.sum()
    assert ((result.rank_lower[enough] >= 1) & (result.rank_upper[enough] <= n_ranked)).all()


def test_models_keep_their_numbers_when_they_change_places() -> None:
    # Another order of columns is another stream of draws: equal up to Monte Carlo error.
    scores = np.random.default_rng(1).random((40, 3))
    first = bootstrap_items(scores, draws=20_000)
    second = bootstrap_items(scores[:, ::-1], draws=20_000)
    np.testing.assert_allclose(first.lower, second.lower[::-1], atol=0.005)
    np.testing.assert_allclose(first.prob_first, second.prob_first[::-1], atol=0.02)


def test_a_seed_gives_the_same_numbers() -> None:
    scores = np.random.default_rng(1).random((12, 3))
    same(bootstrap_items(scores, seed=4), bootstrap_items(scores, seed=4))
    assert (bootstrap_items(scores, seed=4).lower != bootstrap_items(scores, seed=5).lower).any()


def test_coverage_of_simulated_leaderboards() -> None:
    # 95% percentile intervals of a mean of 40 uniform scores: nominal 95%, expected about 94%.
    # Standard error over 300 simulations × 2 models: √(.06 · .94 / 600) ≈ 1%.
    generator = np.random.default_rng(7)
    truth = np.array([0.5, 0.6])
    hits = []
    for seed in range(300):
        scores = truth + generator.uniform(-0.4, 0.4, size=(40, 2))
        result = bootstrap_items(scores, draws=400, seed=seed)
        hits.append((result.lower <= truth) & (truth <= result.upper))
    assert 0.90 < np.mean(hits) < 0.98


def test_coverage_with_several_rows_per_item() -> None:
    # Five rows of an item are one answer to one question. Resampling rows would cover about 62%:
    # its interval is √5 times too narrow, and P(|z| < 1.96 / √5) = 0.62.
    generator = np.random.default_rng(8)
    hits = []
    for seed in range(200):
        scores = np.repeat(generator.uniform(0, 1, size=(40, 1)), 5, axis=0)
        result = bootstrap_items(scores, items=np.repeat(np.arange(40), 5), draws=300, seed=seed)
        hits.append((result.lower <= 0.5) & (result.upper >= 0.5))
    assert 0.88 < np.mean(hits) < 0.99


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ([1.0, 0.0], {}, "shape"),
        ([[1.0], [0.0]], {"items": [1]}, "items must have shape"),
        ([[math.inf]], {}, "finite"),
        ([[1.0]], {"level": 95}, "level"),
        ([[1.0]], {"draws": 0}, "draws"),
    ],
)
def test_refuses_nonsense(scores: list[list[float]], options: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bootstrap_items(scores, **options)
