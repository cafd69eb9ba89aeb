"""Tables of true scores: in worlds of known truth, and what they must not depend on."""

import numpy as np
import pytest

from tiebreak.analysis import contests
from tiebreak.analysis.contests import drawn_scores
from tiebreak.rankers import RankingError, csd, item_intervals

RNG = np.random.default_rng(8)


@pytest.mark.slow
def test_posterior_is_calibrated() -> None:
    """The true scores look like one more draw, in benchmarks of any scale and noise."""
    held, spreads = [], []
    for seed in range(60):
        rng = np.random.default_rng((1, seed))
        spread = np.array([0.02, 5.0, 0.1, 0.004])
        common = rng.normal(size=(10, 1))
        truth = spread * (0.6 * common + 0.8 * rng.normal(size=(10, 4)))
        errors = spread * [0.5, 1.0, 2.0, 0.1] * rng.uniform(0.7, 1.3, size=(10, 4))
        drawn = drawn_scores(truth + errors * rng.normal(size=(10, 4)), errors, seed=seed)
        # The mean of a benchmark is no matter of ranks.
        drawn, truth = drawn - drawn.mean(axis=1, keepdims=True), truth - truth.mean(axis=0)
        lower, upper = np.quantile(drawn, [0.05, 0.95], axis=0)
        held.append((lower <= truth) & (truth <= upper))
        spreads.append(drawn.var(axis=(0, 1)) / spread**2)
    shares = np.mean(held, axis=(0, 1))
    assert np.all((shares > 0.8) & (shares < 0.97)), shares
    # Noise on top of noise would give 1.5, 3, 9 and 1.02.
    assert np.all(np.mean(spreads, axis=0) < [1.3, 1.6, 2.5, 1.3])


def test_scales_do_not_matter_and_holes_stay() -> None:
    scores = RNG.normal(size=(7, 3))
    scores[2, 1] = np.nan
    errors = np.full((7, 3), 0.5)
    units = np.array([1.0, 100.0, 0.01])
    one = drawn_scores(scores, errors, draws=50, seed=3)
    other = drawn_scores(scores * units, errors * units, draws=50, seed=3)
    np.testing.assert_allclose(other, one * units, rtol=1e-6)
    assert np.isnan(one[:, 2, 1]).all()
    assert np.isfinite(np.delete(one.reshape(50, -1), 2 * 3 + 1, axis=1)).all()


def test_exact_scores_stay_as_they_are() -> None:
    scores = RNG.integers(0, 3, size=(6, 4)).astype(float)
    drawn = drawn_scores(scores, np.zeros_like(scores), draws=20)
    np.testing.assert_allclose(drawn, np.broadcast_to(scores, drawn.shape), atol=1e-13)


@pytest.mark.parametrize("bad", [-1.0, np.inf, np.nan])
def test_bad_errors(bad: float) -> None:
    errors = np.full((3, 2), 0.1)
    errors[1, 1] = bad
    with pytest.raises(RankingError, match="finite and 0 or more"):
        drawn_scores(np.eye(3)[:, :2], errors)
    with pytest.raises(RankingError, match="shape"):
        drawn_scores(np.eye(3), errors)


@pytest.mark.slow
@pytest.mark.parametrize(("spread", "items"), [(0.01, 50), (0.04, 400)])
def test_intervals_hold_the_truth(spread: float, items: int) -> None:
    held, joint = [], []
    for seed in range(25):
        rng = np.random.default_rng((2, seed, items))
        truth = 0.7 + spread * (rng.normal(size=(8, 1)) + rng.normal(size=(8, 10)))
        errors = np.full(truth.shape, np.sqrt(0.21 / items))
        scores = truth + errors * rng.normal(size=truth.shape)
        found = item_intervals(drawn_scores(scores, errors, seed=seed), seed=seed)
        wins = csd(truth, iterations=2000).expected_wins
        held.append(np.mean((found.lower <= wins) & (wins <= found.upper)))
        place = 1 + np.sum(wins[None] > wins[:, None] + 0.03, axis=1)
        joint.append(np.all((found.rank_lower <= place) & (place <= found.rank_upper)))
    assert 0.87 < np.mean(held) < 0.99
    assert np.mean(joint) > 0.8


@pytest.mark.parametrize("far", [1.0, 40.0])
def test_what_benchmarks_share_is_found_however_large_its_likelihood(far: float) -> None:
    """Of 400 models what sets them apart is the same on all benchmarks, or another on each."""
    rng = np.random.default_rng(3)
    same = far * np.repeat(rng.standard_normal((400, 1)), 4, axis=1)
    other = far * rng.standard_normal((400, 4))
    noise, signal = np.full(4, 1e-4 * far**2), np.full((50, 4), far**2)
    for apart, bounds in ((same, (0.9, 1.0)), (other, (0.0, 0.1))):
        found = contests._shared(apart, np.ones(apart.shape, bool), noise, signal, rng)
        assert found.shape == (50,)
        assert bounds[0] <= found.min() <= found.max() <= bounds[1]
