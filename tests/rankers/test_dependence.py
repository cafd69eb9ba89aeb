import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tiebreak.rankers import Resampling
from tiebreak.rankers.dependence import EffectiveVotes, effective_votes, fit_loadings
from tiebreak.rankers.errors import RankingError

NAN = math.nan
FloatArray = NDArray[np.float64]


def panel(
    seed: int, noise: list[float], *, rows: int = 100, n: int = 8, copies: list[int] | None = None
) -> FloatArray:
    """Ranks of the same answers by reviewers with independent noise; infinite = by lot.

    `copies` name for each reviewer whose ballots it hands in, by default its own.
    """
    rng = np.random.default_rng(seed)
    errors = rng.normal(size=(rows, len(noise), n))
    size = np.array(noise)[:, None]
    truth = rng.normal(size=(rows, 1, n))
    seen = np.where(np.isinf(size), errors, truth + errors * np.where(np.isinf(size), 1, size))
    ranks = (seen.argsort(axis=2).argsort(axis=2) + 1).astype(np.float64)
    return ranks if copies is None else ranks[:, copies]


def kish(blocks: list[int]) -> float:
    """R / (1 + (R − 1)·ρ̄) of blocks of copies: ρ is 1 within a block and 0 else."""
    r = sum(blocks)
    rho = sum(b * (b - 1) for b in blocks) / (r * (r - 1))
    return r / (1 + (r - 1) * rho)


def test_kish_by_hand() -> None:
    # Two copies among four: one pair of six, 4 / (1 + 3 / 6).
    np.testing.assert_allclose(kish([2, 1, 1]), 8 / 3)
    np.testing.assert_allclose(kish([1] * 8), 8)
    np.testing.assert_allclose(kish([8]), 1)


PANELS: list[tuple[list[float], list[int] | None, float, float]] = [
    # noise, copies, what N_eff should be, how far it may be off
    ([1] * 8, None, 8, 0.5),
    ([1] * 4, None, 4, 0.3),
    ([0.3, 0.4, 0.6, 0.8, 1.2, 1.6, 2.2, 3], None, 8, 0.8),
    ([1] * 7 + [math.inf], None, 8, 0.7),
    ([1] * 5 + [math.inf] * 3, None, 8, 1.2),
    ([math.inf] * 8, None, 8, 0.7),
    ([3] * 8, None, 8, 0.7),
    ([1] * 8, [0, 0, 2, 3, 4, 5, 6, 7], kish([2] + [1] * 6), 0.5),
    ([1] * 8, [0, 0, 0, 3, 4, 5, 6, 7], kish([3] + [1] * 5), 0.4),
    ([1] * 8, [0, 0, 0, 0, 4, 5, 6, 7], kish([4] + [1] * 4), 0.4),
    ([1] * 8, [0, 0, 2, 2, 4, 4, 6, 6], kish([2] * 4), 0.4),
    ([1] * 8, [0, 0, 0, 3, 3, 3, 6, 7], kish([3, 3, 1, 1]), 0.4),
    ([1] * 4, [0, 1, 2, 0], kish([2, 1, 1]), 0.2),
    ([1] * 5, [0, 1, 1, 3, 4], kish([2, 1, 1, 1]), 0.4),
]


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "copies", "expected", "off"), PANELS, ids=range(len(PANELS)))
def test_planted_panels(
    noise: list[float], copies: list[int] | None, expected: float, off: float
) -> None:
    found = [
        effective_votes(panel(seed, noise, copies=copies), how=Resampling(draws=1))
        for seed in range(11)
    ]
    assert abs(np.median([one.votes.value for one in found]) - expected) < off
    for one in found:
        check_the_relation(one, len(noise))


def check_the_relation(found: EffectiveVotes, n: int) -> None:
    rho, votes = found.rho.value, found.votes.value
    np.testing.assert_allclose(votes, min(n, max(1, n / max(1 + (n - 1) * rho, 1e-9))))
    assert votes == n or rho > 0
    assert found.n_reviewers == n


@pytest.mark.slow
def test_copies_have_correlation_one() -> None:
    found = effective_votes(panel(1, [1] * 6, copies=[0, 1, 2, 3, 4, 0]))
    np.testing.assert_allclose(found.correlations[0, 5], 1, atol=0.15)
    np.testing.assert_allclose(np.diagonal(found.correlations), 1)
    np.testing.assert_allclose(found.correlations, found.correlations.T)
    others = [found.correlations[r, s] for r, s in combinations(range(6), 2) if (r, s) != (0, 5)]
    assert np.max(np.abs(others)) < 0.2
    assert found.votes.lower < kish([2, 1, 1, 1, 1]) < found.votes.upper < 6


def test_reliability_is_the_squared_correlation_with_the_common_view() -> None:
    noise = [0.5, 1, 1, 1, 2, math.inf]
    ranks = panel(0, noise, rows=3000)
    rng = np.random.default_rng(0)
    rng.normal(size=(3000, 6, 8))
    truth = rng.normal(size=(3000, 8))
    x = ranks - 4.5
    # The common view is what a ballot of the truth alone predicts of each reviewer, within rows:
    # nearly the ranks of the truth, as these are what all the reviewers' ranks go by.
    place = truth.argsort(axis=1).argsort(axis=1) - 3.5
    square = [
        np.mean(x[:, r] * place) ** 2 / np.mean(place**2) / np.mean(x[:, r] ** 2) for r in range(6)
    ]
    found = effective_votes(ranks, how=Resampling(draws=1))
    np.testing.assert_allclose(found.reliability, square, atol=0.06)
    assert found.reliability[5] < 0.01


def test_loadings_of_an_exact_factor_with_a_few_outliers() -> None:
    a = np.array([0.9, 0.8, 0.7, 0.6, 0.5, -0.4, 0])
    products = np.outer(a, a)
    products[0, 1] = products[1, 0] = 1
    products[2, 4] = products[4, 2] = 0.9
    np.fill_diagonal(products, 1)
    np.testing.assert_allclose(fit_loadings(products[None])[0], a, atol=0.01)
    # Least squares are far off.
    assert abs(np.linalg.eigh(products)[1][:, -1][4]) ** 2 * np.linalg.eigvalsh(products)[-1] > 0.4


@pytest.mark.parametrize("n", [5, 7, 9])
@pytest.mark.parametrize("seed", range(6))
def test_loadings_are_a_local_optimum(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(400, 1)) * rng.uniform(0, 1.5, n) + rng.normal(size=(400, n))
    products = (x.T @ x / 400)[None]
    a = fit_loadings(products)[0]
    pairs = np.triu_indices(n, k=1)

    def loss(loadings: FloatArray) -> float:
        squares = (products[0] - np.outer(loadings, loadings))[pairs] ** 2
        scale = (np.trace(products[0]) / n / 10) ** 2
        return float(np.sum(squares / (squares + scale)))

    assert np.all(a**2 <= np.diagonal(products[0]) + 1e-9)
    for r in range(n):
        for step in (-0.05, 0.05):
            moved = a.copy()
            moved[r] += step
            if moved[r] ** 2 <= products[0, r, r]:
                assert loss(moved) >= loss(a) - 0.01


@pytest.mark.slow
@settings(deadline=None, max_examples=10)
@given(st.integers(0, 10**6), st.permutations(range(5)), st.permutations(range(6)))
def test_numbering_does_not_matter(seed: int, reviewers: list[int], candidates: list[int]) -> None:
    # Of two copies the fit may name either one first.
    ranks = panel(seed, [0.5, 0.8, 1, 1.5, 1.2], rows=60, n=6)
    first = effective_votes(ranks, how=Resampling(draws=20))
    second = effective_votes(ranks[:, reviewers][:, :, candidates], how=Resampling(draws=20))
    for one, other in ((first.votes, second.votes), (first.rho, second.rho)):
        np.testing.assert_allclose(
            [other.value, other.lower, other.upper], [one.value, one.lower, one.upper], atol=1e-3
        )
    np.testing.assert_allclose(second.reliability, first.reliability[reviewers], atol=1e-3)


@pytest.mark.slow
def test_failing_reviewers_are_left_out() -> None:
    ranks = panel(2, [1] * 7)
    ranks[:, 2] = NAN
    ranks[:, 5] = 1  # ties all, throughout
    ranks[::3, 0] = NAN
    ranks[1::3, 3, 4] = NAN  # partial
    found = effective_votes(ranks)
    rest = effective_votes(ranks[:, [0, 1, 3, 4, 6]])
    assert found.n_reviewers == 5
    assert (found.votes, found.rho) == (rest.votes, rest.rho)
    assert np.isnan(found.reliability[[2, 5]]).all()
    assert np.isnan(found.correlations[[2, 5]]).all()
    kept = [0, 1, 3, 4, 6]
    np.testing.assert_array_equal(found.correlations[np.ix_(kept, kept)], rest.correlations)
    assert found.votes.value > 4


def test_products_are_means_over_items_that_both_rank() -> None:
    # Reviewer 0 is silent in half of the items: the rest of its ballots say all there is.
    ranks = panel(3, [1] * 5, rows=2000)
    ranks[::2, 0] = NAN
    found = effective_votes(ranks, how=Resampling(draws=1))
    np.testing.assert_allclose(found.reliability, found.reliability.mean(), atol=0.05)


@pytest.mark.parametrize(
    ("ranks", "reason", "n"),
    [
        (panel(0, [1] * 3), "come from 3 of the reviewers", 3),
        (np.ones((5, 6, 3)), "come from 0 of the reviewers", 0),
        (np.full((5, 6, 3), NAN), "come from 0 of the reviewers", 0),
        (panel(0, [1] * 5, copies=[0] * 5), "they may be perfect, or copies", 5),
        (panel(0, [1] * 8, copies=[0] * 6 + [6, 7]), "they may be perfect, or copies", 8),
    ],
)
def test_undefined(ranks: FloatArray, reason: str, n: int) -> None:
    found = effective_votes(ranks, how=Resampling(draws=50))
    for figure in (found.votes, found.rho):
        assert math.isnan(figure.value)
        assert math.isnan(figure.lower)
        assert figure.reason is not None
        assert reason in figure.reason
    assert found.n_reviewers == n
    assert np.isnan(found.correlations).all()
    assert np.isnan(found.reliability).all()


def test_reviewers_who_never_meet() -> None:
    ranks = panel(0, [1] * 4, rows=10)
    ranks[:5, 0] = NAN
    ranks[5:, 1] = NAN
    assert effective_votes(ranks).votes.reason == "two reviewers never ranked the same item"
    # Where they meet in one item, draws without it are left out, and that is said.
    ranks = panel(0, [1] * 4, rows=10)
    ranks[:4, 0] = NAN
    ranks[5:, 1] = NAN
    votes = effective_votes(ranks, how=Resampling(draws=200)).votes
    assert votes.reason is not None
    assert "draws of items, which are left out" in votes.reason
    assert votes.value >= 1


@pytest.mark.slow
def test_same_seed_same_numbers_and_epochs_together() -> None:
    ranks = panel(4, [1] * 5, rows=30, copies=[0, 1, 2, 3, 0])
    twice, items = np.repeat(ranks, 2, axis=0), np.repeat(np.arange(30), 2)
    first, again = (
        effective_votes(ranks, how=Resampling(seed=2)),
        effective_votes(twice, items=items, how=Resampling(seed=2)),
    )
    assert first.votes == effective_votes(ranks, how=Resampling(seed=2)).votes
    assert first.votes != effective_votes(ranks, how=Resampling(seed=3)).votes
    np.testing.assert_allclose(
        [again.votes.value, again.votes.lower, again.votes.upper],
        [first.votes.value, first.votes.lower, first.votes.upper],
    )
    assert again.votes.n_items == 30


@pytest.mark.parametrize(
    ("ranks", "options", "message"),
    [
        (np.ones((3, 4)), {}, "items, ballots, candidates"),
        (np.ones((0, 5, 4)), {}, "there is no item"),
        (np.ones((2, 5, 4)), {"items": [1]}, r"items must have shape \(2,\)"),
        (panel(0, [1] * 4, rows=3), {"how": Resampling(level=0)}, "level"),
    ],
)
def test_wrong_input(ranks: FloatArray, options: dict[str, float], message: str) -> None:
    with pytest.raises(RankingError, match=message):
        effective_votes(ranks, **options)  # type: ignore[arg-type]
