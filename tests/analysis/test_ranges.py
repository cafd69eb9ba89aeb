"""Intervals are cut to the range of what they bound, which costs no coverage."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.claims.round_robin import NOISE, points
from benchmarks.claims.worlds import near_ties, true_borda
from tiebreak.analysis.standing import Placed
from tiebreak.rankers import Resampling, bootstrap_items, csd
from tiebreak.rankers.agreement import kendall_tau_many, pearson_many, spearman_many
from tiebreak.rankers.intervals import mean_in_bounds, paired_interval, share_gap
from tiebreak.rankers.kappa import kappa_gap, kappa_mean, label_bias

LEVELS = st.sampled_from([0.5, 0.8, 0.95, 0.999])


def inside(low: float, lower: float, value: float, upper: float, high: float) -> bool:
    """Whether a figure lies in its interval, and both in the range, where they are defined."""
    order = math.isnan(lower) or lower - 1e-12 <= value <= upper + 1e-12
    bounds = math.isnan(lower) or low <= lower <= upper <= high
    return order and bounds and (math.isnan(value) or low <= value <= high)


# Models, items, rounds, sd of the models: at 3 and more the best and the worst are near 1 and 0.
@pytest.mark.parametrize(
    ("n", "n_items", "rounds", "sd", "always"),
    [(4, 10, 1, 0.2, True), (8, 10, 1, 1.0, True), (8, 10, 1, 4.0, True), (8, 20, 2, 6.0, False)],
)
def test_scores_of_a_round_robin_are_covered_as_often(
    n: int, n_items: int, rounds: int, sd: float, always: bool
) -> None:
    theta, rng = near_ties(n, sd), np.random.default_rng(5)
    truth, n_cut = true_borda(theta, ties=0.0, noise=NOISE), 0
    for _ in range(60):
        whole = bootstrap_items(points(rng, theta, n_items, rounds), how=Resampling(draws=200))
        names = [str(number) for number in range(n)]
        rows = sorted(Placed.rows(whole, names, None, (0, 1)), key=lambda row: row.model)
        cut = SimpleNamespace(
            **{end: np.array([getattr(row, end) for row in rows]) for end in ("lower", "upper")},
            score=np.array([row.value for row in rows]),
        )
        n_cut += int(np.sum((cut.lower != whole.lower) | (cut.upper != whole.upper)))
        before, after = ((one.lower <= truth) & (truth <= one.upper) for one in (whole, cut))
        assert (before == after).all()
        assert ((cut.lower <= cut.score) & (cut.score <= cut.upper)).all()
        assert ((cut.lower >= 0) & (cut.upper <= 1)).all()
    assert n_cut > 0 or not always


# How often the first and the second model pass; what a difference is in truth is between.
@pytest.mark.parametrize("rates", [(0.99, 0.01), (0.95, 0.05), (1.0, 0.0), (0.5, 0.5)])
@pytest.mark.parametrize("n_items", [3, 10])
def test_differences_are_covered_as_often(rates: tuple[float, float], n_items: int) -> None:
    rng, truth, n_cut = np.random.default_rng(3), rates[0] - rates[1], 0
    for _ in range(300):
        one, other = ((rng.random(n_items) < rate).astype(float) for rate in rates)
        whole = paired_interval(one - other, most=math.inf)
        cut = paired_interval(one - other)
        n_cut += whole != cut
        assert (whole[0] <= truth <= whole[1]) == (cut[0] <= truth <= cut[1])
    assert n_cut > 0 or rates == (0.5, 0.5)


DIFFERENCES = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=2, max_size=12)


@given(DIFFERENCES, LEVELS)
def test_a_mean_difference_lies_in_its_interval(differences: list[float], level: float) -> None:
    lower, upper = paired_interval(differences, level)
    assert inside(-1, lower, float(np.mean(differences)), upper, 1)


TABLES = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=9
)


@settings(max_examples=60)
@given(TABLES, LEVELS, st.sampled_from([None, "linear", "quadratic"]))
def test_labels(labels: list[tuple[int, int, int]], level: float, weights: object) -> None:
    first, second = np.zeros((2, len(labels), 1, 4, 4))
    for row, (truth, one, other) in enumerate(labels):
        first[row, 0, truth, one] = second[row, 0, truth, other] = 1
    names = [str(row // 2) for row in range(len(labels))]
    bias = label_bias(first[:, 0], items=names, level=level)
    assert inside(-3, bias.lower, bias.value, bias.upper, 3)
    mean = kappa_mean(first, weights=weights, level=level)  # type: ignore[arg-type]
    assert inside(-1, mean.lower, mean.value, mean.upper, 1)
    gap, *_ = kappa_gap(first, second, weights=weights, level=level)  # type: ignore[arg-type]
    assert inside(-2, gap.lower, gap.value, gap.upper, 2)


HITS = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3)), min_size=1, max_size=8)


@given(HITS, HITS, LEVELS)
def test_shares(one: list[tuple[int, int]], other: list[tuple[int, int]], level: float) -> None:
    both = [([min(x, n) for x, n in side], [n for _, n in side]) for side in (one, other)]
    gap, _ = share_gap(*both[0], *both[1], level=level)
    assert inside(-1, gap.lower, gap.value, gap.upper, 1)


@given(st.integers(-9, 29), st.integers(0, 9), st.integers(1, 9), LEVELS)
def test_means_of_shares(twentieths: int, error: int, n: int, level: float) -> None:
    found = mean_in_bounds(twentieths / 20, error / 20, n, level=level)
    assert inside(0, found.lower, found.value, found.upper, 1)


@given(st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=2, max_size=6))
def test_correlations(pairs: list[tuple[float, float]]) -> None:
    one, other = np.array(pairs).T
    for many in (pearson_many, spearman_many, kendall_tau_many):
        assert inside(-1, math.nan, float(many(one, other)), math.nan, 1)


def test_expected_wins_stay_between_none_and_all() -> None:
    # Without control of luck the last one wins nothing; with it the estimate was below 0.
    scores = np.arange(5.0)[:, None] + np.zeros((1, 4))
    scores = scores + np.random.default_rng(1).normal(0, 0.6, scores.shape)
    for seed in range(20):
        wins = csd(scores.round(1), eliminate=1, iterations=2000, seed=seed).expected_wins
        assert wins.min() >= 0
        assert wins.max() <= 4
