import math

import numpy as np
import pytest
from scipy.stats import binomtest

from tests.rankers.ballots import FloatArray
from tiebreak.rankers import Resampling
from tiebreak.rankers.dependence import effective_votes, pair_errors

NAN = math.nan
QUICK = Resampling(draws=100)


def block(reviewers: int, together: int, correlation: float) -> FloatArray:
    """Correlations of errors: the first so many go together."""
    found = np.eye(reviewers)
    found[:together, :together] = correlation
    np.fill_diagonal(found, 1)
    return found


def panel(
    seed: int, noise: list[float], correlations: FloatArray, *, rows: int = 100, n: int = 8,
    signal: float = 1,
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """Ranks, and native scores of which 90% pass, of the same answers."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(rows, 1, n))
    root = np.linalg.cholesky(correlations + 1e-12 * np.eye(len(noise)))
    errors = root @ rng.normal(size=(rows, len(noise), n))
    seen = signal * truth + np.array(noise)[:, None] * errors
    ranks: FloatArray = (-seen).argsort(axis=2).argsort(axis=2).astype(np.float64) + 1
    native = truth[:, 0] + 0.5 * rng.normal(size=(rows, n)) > -1.43
    return ranks, native.astype(np.float64)


def kish(noise: list[float], correlations: FloatArray) -> float:
    errors = np.outer(noise, noise) * correlations
    return float(len(noise) * np.trace(errors) / errors.sum())


UNEQUAL = [0.5, 0.7, 0.9, 1, 1.2, 1.5, 0.8, 1.1]
SHARED: list[tuple[list[float], FloatArray]] = [
    ([1] * 8, block(8, 6, 0.9)),
    (UNEQUAL, block(8, 6, 0.9)),
    ([1] * 8, block(8, 6, 0.5)),
    ([1] * 6, block(6, 4, 0.8)),
    ([1] * 10, block(10, 7, 0.7)),
    ([1] * 8, block(8, 4, 0.5)),
    ([1] * 4, block(4, 2, 0.9)),
]


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [0, 0.5, 0.9])
@pytest.mark.parametrize("n", [4, 8])
def test_no_estimate_where_all_may_err_together(correlation: float, n: int) -> None:
    # Independent reviewers who see as much, or errors of all: ballots are the same.
    for seed in range(8):
        found = effective_votes(*panel(seed, [1.0] * n, block(n, n, correlation)), how=QUICK)
        assert math.isnan(found.estimate)
        assert "all pairs of reviewers have equally much in common" in str(found.reason)
        assert 1 <= found.at_least < n


@pytest.mark.slow
@pytest.mark.parametrize("signal", [0, 0.5, 2])
@pytest.mark.parametrize("number", range(len(SHARED)))
def test_the_least_votes_are_no_more_than_the_truth(number: int, signal: float) -> None:
    noise, shared = SHARED[number]
    for seed in range(5):
        ranks, _ = panel(seed, noise, shared, rows=40, signal=signal)
        found = effective_votes(ranks, how=Resampling(draws=200))
        assert 1 <= found.at_least <= kish(noise, shared) + 1e-9
        assert math.isnan(found.estimate)


def test_the_least_votes_by_brute_force() -> None:
    ranks, _ = panel(3, [0.5, 1, 1.5], block(3, 2, 0.6), rows=400, n=5)
    products = np.einsum("irn,isn->rs", ranks - 3, ranks - 3) / len(ranks)
    root = np.linalg.cholesky(products)
    rng = np.random.default_rng(0)
    b = rng.normal(size=(200_000, 3))
    a = b / np.linalg.norm(b, axis=1, keepdims=True) @ root.T
    errors = products - a[:, :, None] * a[:, None, :]
    assert np.linalg.eigvalsh(errors[:100]).min() > -1e-9
    every = 3 * np.trace(errors, axis1=1, axis2=2) / errors.sum(axis=(1, 2))
    # Of one item there is no interval, so that the figure itself is shown.
    found = effective_votes(ranks, items=np.zeros(len(ranks)), how=QUICK)
    assert found.at_least == pytest.approx(max(every.min(), 1), abs=2e-3)
    assert found.at_least <= every.min() + 1e-9


def test_failing_reviewers_are_left_out() -> None:
    ranks, native = panel(2, [1] * 7, block(7, 4, 0.8))
    ranks[:, 2] = NAN
    ranks[:, 5] = 1  # ties all, throughout
    ranks[::3, 0] = NAN
    ranks[1::3, 3, 4] = NAN  # partial
    found = effective_votes(ranks, native, how=QUICK)
    rest = effective_votes(ranks[:, [0, 1, 3, 4, 6]], native, how=QUICK)
    assert found == rest
    assert found.n_reviewers == 5
    assert found.estimate > 2


# Wrong before right.


def test_pair_errors_by_hand() -> None:
    # One right answer, a, before two wrong ones; and in the second item c is right.
    ranks = np.array(
        [[[1, 2, 3], [2, 1, 3], [1, 1, 2]], [[1, 2, 3], [NAN, 2, 1], [3, 2, 1]]], dtype=np.float64
    )
    native = np.array([[1, 0, 0], [NAN, 0, 1]], dtype=np.float64)
    reviewers, together, majority = pair_errors(ranks, native)
    # Pairs ab, ac, and of the second bc alone.
    assert [error.value for error in reviewers] == pytest.approx([1 / 3, 1 / 3, 0.5 / 3])
    assert together.value == pytest.approx(2.5 / 9)
    # a before b and b before a, by one each; the others 3:0 and 2:1.
    assert majority.value == pytest.approx(0.5 / 3)
    assert majority.n_items == 2


def test_the_interval_of_one_pair_an_item_is_wilsons() -> None:
    # Nearly: the quantile is Student's, and the variance has n − 1.
    wrong = np.arange(400) < 60
    ranks = np.where(wrong[:, None], [2.0, 1.0], [1.0, 2.0])[:, None]
    found = pair_errors(ranks, np.tile([1.0, 0.0], (400, 1)))[0][0]
    expected = binomtest(60, 400).proportion_ci(method="wilson")
    assert (found.lower, found.upper) == pytest.approx((expected.low, expected.high), abs=1e-3)
    none = pair_errors(ranks[100:], np.tile([1.0, 0.0], (300, 1)))[0][0]
    expected = binomtest(0, 300).proportion_ci(method="wilson")
    assert (none.lower, none.upper) == pytest.approx((0, expected.high), abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "shared"), SHARED, ids=range(len(SHARED)))
def test_planted_panels(noise: list[float], shared: FloatArray) -> None:
    found = [
        effective_votes(*panel(seed, noise, shared), how=Resampling(draws=1)) for seed in range(12)
    ]
    estimates = [one.estimate for one in found]
    assert np.nanmean(estimates) == pytest.approx(kish(noise, shared), rel=0.25)
    # Errors that correlate by .5 do not always stand out from what all see of the truth.
    assert np.isfinite(estimates).sum() >= (
        5 if shared.max(where=shared < 1, initial=0) == 0.5 else 12
    )
    assert all(one.n_reviewers == len(noise) for one in found)
