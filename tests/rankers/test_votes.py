"""Boards of many matches: strengths by second methods, errors by the bootstrap."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize

from tiebreak.rankers import Resampling
from tiebreak.rankers.errors import NoFitError
from tiebreak.rankers.massey import VoteFit, fit_votes, joined, least_squares, rater_alpha
from tiebreak.rankers.matches import Matches
from tiebreak.rankers.strength import bradley_terry

N = 5


def drawn(n_items: int, votes: int = 1, *, sd: float = 0.5, seed: int = 0, n: int = N) -> Matches:
    """Votes on planted models, the first one best; the quality of answers goes by item."""
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(n_items), votes)
    first = rng.integers(n, size=len(item))
    second = (first + rng.integers(1, n, size=len(item))) % n
    quality = np.linspace(0.8, -0.8, n) + sd * rng.standard_normal((n_items, n))
    gap = quality[item, first] - quality[item, second] + rng.logistic(size=len(item))
    result = np.where(np.abs(gap) < 0.4, 0.5, gap > 0)
    return Matches(first, second, result, item, n, n_items)


def values(fit: VoteFit, name: str) -> NDArray[np.float64]:
    return np.array([estimate.value for estimate in getattr(fit, name)])


def widths(fit: VoteFit, name: str) -> NDArray[np.float64]:
    return np.array([estimate.upper - estimate.lower for estimate in getattr(fit, name)])


def columns(matches: Matches) -> tuple[Any, ...]:
    return matches.first, matches.second, matches.result, matches.item


def test_strengths_are_the_likeliest_with_a_tie_each() -> None:
    matches = drawn(40, seed=1)

    def surprise(strength: NDArray[np.float64]) -> float:
        gap = strength[matches.first] - strength[matches.second]
        log_won, log_lost = -np.logaddexp(0, -gap), -np.logaddexp(0, gap)
        likely = matches.result @ log_won + (1 - matches.result) @ log_lost
        ties = -np.logaddexp(0, -strength) - np.logaddexp(0, strength)
        return -float(likely + ties.sum() / 2)

    best = minimize(surprise, np.zeros(N), tol=1e-12).x
    strengths = values(fit_votes(matches), "strength")
    np.testing.assert_allclose(strengths, best - best.mean(), atol=1e-5)
    chances = 1 / (1 + np.exp(strengths - strengths[:, None]))
    np.fill_diagonal(chances, 0)
    np.testing.assert_allclose(
        values(fit_votes(matches), "score"), chances.sum(axis=1) / (N - 1), atol=1e-12
    )


def test_margins_are_those_of_all_differences_at_once() -> None:
    matches = drawn(60, 3, seed=2)
    design = np.eye(N)[matches.first] - np.eye(N)[matches.second]
    best = np.linalg.lstsq(design, 2 * matches.result - 1, rcond=None)[0]
    np.testing.assert_allclose(values(fit_votes(matches), "margin"), best, atol=1e-9)


@pytest.mark.parametrize(("n_items", "votes"), [(2000, 1), (400, 8)])
def test_errors_are_those_of_the_bootstrap_over_items(n_items: int, votes: int) -> None:
    matches = drawn(n_items, votes, sd=1.5, seed=3)
    fit = fit_votes(matches)
    how = Resampling(draws=1000)
    for name, method in (("strength", bradley_terry), ("margin", least_squares)):
        second = method(*columns(matches), n_models=N, how=how)
        np.testing.assert_allclose(widths(fit, name), second.upper - second.lower, rtol=0.12)


def test_one_item_has_no_interval() -> None:
    matches = Matches(
        np.array([0, 0, 0, 2]), np.array([1, 1, 1, 0]), np.array([1, 0, 0.5, 0]), np.arange(4), 3, 4
    )
    fit = fit_votes(matches)
    assert np.isnan(fit.score[2].lower)
    assert str(fit.score[2].reason) == "an interval over items needs at least two items"
    assert all(pair.p_adjusted == 1 for pair in fit.tests.pairs if 2 in (pair.above, pair.below))


def test_items_are_counted_once() -> None:
    """Also where a model is once the first and once the second of an item."""
    matches = drawn(40, 6, seed=8)
    models = np.concatenate([matches.first, matches.second])
    items = np.concatenate([matches.item, matches.item])
    counts = [len({*items[models == model].tolist()}) for model in range(N)]
    assert fit_votes(matches).n_items.tolist() == counts


def test_who_is_joined() -> None:
    first, second = np.array([0, 1, 1, 4]), np.array([1, 2, 0, 5])
    apart = Matches(first, second, np.full(4, 0.5), np.arange(4), 7, 4)
    with pytest.raises(NoFitError, match="models 0, 1, 2 never met any of 3, 4, 5, 6"):
        fit_votes(apart)
    assert joined(first, second, 7).tolist() == [True, True, True, False, False, False, False]


@given(st.integers(0, 10**6), st.permutations(range(N)))
def test_neither_sides_nor_names_nor_the_order_of_matches_matter(
    seed: int, names: list[int]
) -> None:
    matches, rng = drawn(30, 2, seed=seed), np.random.default_rng(seed)
    order, turned = rng.permutation(60), rng.random(60) < 0.5
    a, b, y, item = (column[order] for column in columns(matches))
    named = np.array(names)
    first, second = named[np.where(turned, b, a)], named[np.where(turned, a, b)]
    other = Matches(first, second, np.where(turned, 1 - y, y), 29 - item, N, 30)
    fits = fit_votes(matches), fit_votes(other)
    for name in ("score", "strength", "margin"):
        for figure in (values, widths):
            one, two = (figure(fit, name) for fit in fits)
            np.testing.assert_allclose(two[named], one, atol=1e-8)
    alone = {(pair.above, pair.below): pair.p for pair in fits[1].tests.pairs}
    for pair in fits[0].tests.pairs:
        above, below = names[pair.above], names[pair.below]
        assert alone.get((above, below), alone.get((below, above))) == pytest.approx(pair.p)


def coincidences(labels: list[list[int]]) -> float:
    """Krippendorff's α of nominal labels, a list for each case, by its definition."""
    labels = labels + [[2 - label for label in case] for case in labels]
    pairs = [
        (a, b, 1 / (len(case) - 1))
        for case in labels
        for i, a in enumerate(case)
        for j, b in enumerate(case)
        if i != j
    ]
    table = np.zeros((3, 3))
    for a, b, weight in pairs:
        table[a, b] += weight
    n, margin = table.sum(), table.sum(axis=0)
    by_chance = (n * n - (margin**2).sum()) / (n * (n - 1))
    return float(1 - (1 - np.trace(table) / n) / by_chance)


def test_alpha_is_that_of_its_definition() -> None:
    rng = np.random.default_rng(7)
    truth, n_raters = rng.integers(3, size=300), rng.integers(1, 5, size=300)
    item = np.repeat(np.arange(300), n_raters)
    rater = np.concatenate([np.arange(n) for n in n_raters])
    label = np.where(rng.random(len(item)) < 0.7, truth[item], rng.integers(3, size=len(item)))
    turned = rng.random(len(item)) < 0.5
    first, second = np.where(turned, 1, 0), np.where(turned, 0, 1)
    result = np.where(turned, 2 - label, label) / 2
    matches = Matches(first, second, result, item, 2, 300)
    alpha = rater_alpha(matches, rater)
    assert alpha is not None
    cases = [label[item == k].tolist() for k in range(300)]
    assert alpha.value == pytest.approx(coincidences([c for c in cases if len(c) > 1]), abs=2e-3)
    assert alpha.lower < alpha.value < alpha.upper
    # Who votes again on the same does not count twice, and alone there is nothing to agree with.
    assert rater_alpha(matches, np.zeros_like(rater)) is None
