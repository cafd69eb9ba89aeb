import math

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import binomtest, chi2_contingency, norm, t

from tiebreak.rankers import Resampling, wilson
from tiebreak.rankers.intervals import ItemDraws, design_effect, mean_in_bounds, share_gap
from tiebreak.rankers.profile import ratio
from tiebreak.rankers.uncertainty import bootstrap_items
from tiebreak.reason import Reason

NAN = math.nan
# Two rows of item 7, two of item 3, one of item 5.
ITEMS = [7, 3, 7, 5, 3]
NONE = Reason("undefined")
VALUES = np.array([[1, NAN], [2, NAN], [4, 1], [8, NAN], [NAN, NAN]])


def over(items: list[int] | None = ITEMS, *, draws: int = 500) -> ItemDraws:
    return ItemDraws(5, items, how=Resampling(level=0.9, draws=draws, seed=3))


def test_means_are_those_of_bootstrap_items() -> None:
    for items in (ITEMS, None):
        found = over(items).means(VALUES, NONE)
        expected = bootstrap_items(
            VALUES, items=items, how=Resampling(level=0.9, draws=500, seed=3)
        )
        for column, one in enumerate(found):
            assert one.n_items == expected.n_items[column]
            np.testing.assert_allclose(one.value, expected.score[column])
    # (1 + 4 + 2 + 8) / 4 rows; the other figure has but one item.
    first, second = over().means(VALUES, NONE)
    assert (first.value, first.n_items, first.reason) == (15 / 4, 3, None)
    assert first.lower < first.value < first.upper
    assert (second.value, second.n_items) == (1, 1)
    assert second.reason == Reason("one_item")
    assert math.isnan(second.lower)


def test_undefined_draws_are_told_of() -> None:
    values = np.array([[1.0], [NAN], [2.0], [NAN], [NAN]])
    (found,) = over(None).means(values, NONE)
    assert found.reason is not None
    # (3/5)⁵ of the draws hold neither: 39 of 500.
    left_out = int(str(found.reason).removeprefix("undefined in ").split()[0])
    assert 20 < left_out < 60
    assert str(found.reason).endswith("of 500 draws of items, which are left out")


def test_items_are_counted_once() -> None:
    present = ~np.isnan(VALUES)
    np.testing.assert_array_equal(over().count(present), [3, 1])
    np.testing.assert_array_equal(over(None).count(present), [4, 1])
    np.testing.assert_array_equal(over().count(present[:, :, None]), [[3], [1]])


@pytest.mark.parametrize(("successes", "n"), [(93, 96), (50, 96), (0, 5), (5, 5), (1, 2)])
def test_wilson_is_scipys(successes: int, n: int) -> None:
    result = wilson(successes, n)
    assert (result.value, result.n_items) == (successes / n, n)
    theirs = binomtest(successes, n).proportion_ci(method="wilson")
    assert (result.lower, result.upper) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_nothing_observed_is_undefined() -> None:
    result = wilson(0, 0)
    assert all(math.isnan(value) for value in (result.value, result.lower, result.upper))


def test_whole_items_count_as_one() -> None:
    """10 of 50 items fail with all of their 7 replies: as 10 of 50 single ones, but for n − 1."""
    failed = [7] * 10 + [0] * 40
    effect = design_effect(failed, [7] * 50)
    assert effect == pytest.approx(7 * 50 / 49)
    clustered, single = wilson(70, 350, effect=effect), wilson(10, 50, effect=50 / 49)
    assert (clustered.lower, clustered.upper) == pytest.approx((single.lower, single.upper))


@pytest.mark.parametrize(
    ("hits", "n"), [([1, 1, 1, 1], [2, 2, 2, 2]), ([0, 0], [5, 5]), ([3], [7]), ([], [])]
)
def test_no_design_effect(hits: list[int], n: list[int]) -> None:
    """Replies that fail more evenly than by chance do not make the rate better known."""
    assert design_effect(hits, n) == 1


def test_a_bounded_figure_of_one_sum_is_the_t_interval_of_its_log_odds() -> None:
    # A mean: the jackknife's standard error is s / √n.
    rng = np.random.default_rng(0)
    values = rng.uniform(-0.5, 1, 12)
    sums = np.stack([values, np.ones(12)], axis=1)
    over = ItemDraws(12, None, how=Resampling(level=0.9))
    found = over.bounded(sums, lambda s: ratio(*s.T), np.full(12, True), low=-0.5, undefined=NONE)
    mean, error = values.mean(), values.std(ddof=1) / 12**0.5
    share = (mean + 0.5) / 1.5
    reach = t.ppf(0.95, 11) * error / 1.5 / (share * (1 - share))
    expected = [-0.5 + 1.5 * expit(logit(share) + sign * reach) for sign in (-1, 1)]
    assert found.value == pytest.approx(mean)
    assert found.n_items == 12
    np.testing.assert_allclose([found.lower, found.upper], expected)


@pytest.mark.parametrize(("values", "n"), [([], 0), ([0.3], 1), ([1.0, 1.0], 2), ([0.9, 0.1], 2)])
def test_a_bounded_figure_of_few_items(values: list[float], n: int) -> None:
    sums = np.stack([[*values, 0], [*np.ones(n), 0]], axis=1)
    over = ItemDraws(n + 1, None, how=Resampling())
    found = over.bounded(sums, lambda s: ratio(*s.T), np.arange(n + 1) < n, low=0, undefined=NONE)
    assert found.n_items == n
    if not n:
        assert (found.reason, math.isnan(found.value)) == (NONE, True)
    elif n == 1:
        assert "at least two items" in str(found.reason)
        assert math.isnan(found.lower)
    elif values[0] == 1:
        assert (found.lower, found.upper) == (1, 1)
    else:
        assert 0 <= found.lower < 0.01
        assert 0.99 < found.upper <= 1


@pytest.mark.parametrize(("n", "losses", "alone"), [(200, 2, 0.9876), (50, 1, 0.9619)])
def test_a_few_small_losses_do_not_tell_how_large_losses_are(
    n: int, losses: int, alone: float
) -> None:
    """Stars near the ceiling: as if a quarter of a whole item had been lost as well.

    `alone` is Wilson's lower bound at the variance that was seen, which is too high.
    """
    scores = np.ones(n)
    scores[:losses] = 2 / 3
    found = mean_in_bounds(float(scores.mean()), float(scores.std(ddof=1) / math.sqrt(n)), n)
    whole = np.concatenate([np.zeros(losses), np.ones(n - losses)])
    worst = mean_in_bounds(float(whole.mean()), float(whole.std(ddof=1) / math.sqrt(n)), n)
    assert worst.lower < found.lower < alone < found.value
    # Where whole items are lost nothing is added: Wilson's interval, with Student's quantile.
    assert worst.lower == pytest.approx(wilson(n - losses, n).lower, abs=0.005)


def single(hits: int, n: int) -> tuple[list[int], list[int]]:
    """Events that are each a cluster."""
    return [1] * hits + [0] * (n - hits), [1] * n


@pytest.mark.parametrize(("a", "b"), [((97, 1000), (80, 1000)), ((30, 400), (37, 300))])
def test_as_the_chi_squared_test(a: tuple[int, int], b: tuple[int, int]) -> None:
    found, p_value = share_gap(*single(*a), *single(*b))
    table = [[a[0], a[1] - a[0]], [b[0], b[1] - b[0]]]
    expected = chi2_contingency(table, correction=False).pvalue
    assert p_value == pytest.approx(expected, rel=0.03)
    assert found.value == pytest.approx(a[0] / a[1] - b[0] / b[1])
    shares = [(hits + 1) / (n + 2) for hits, n in (a, b)]
    spread = math.sqrt(sum(p * (1 - p) / (n + 2) for p, (_, n) in zip(shares, (a, b), strict=True)))
    reach = norm.ppf(0.975) * spread
    middle = shares[0] - shares[1]
    assert (found.lower, found.upper) == pytest.approx((middle - reach, middle + reach), abs=2e-4)


def test_clusters_count_as_what_they_tell() -> None:
    hits = np.random.default_rng(0).random(100) < 0.3
    once, p = share_gap(hits, np.ones(100), *single(20, 100))
    fourfold, of_fourfold = share_gap(4 * hits, np.full(100, 4), *single(20, 100))
    assert of_fourfold == pytest.approx(p, rel=0.05)
    assert fourfold.upper - fourfold.lower == pytest.approx(once.upper - once.lower, rel=0.02)


def test_edges() -> None:
    assert math.isnan(share_gap([], [], [1], [1])[0].value)
    assert math.isnan(share_gap([1], [1], [1, 0], [1, 1])[1])
    none, p = share_gap(*single(0, 50), *single(0, 50))
    assert (none.value, p) == (0, 1)
    assert none.lower < 0 < none.upper
    every, p = share_gap(*single(50, 50), *single(0, 50))
    assert p < 1e-9
    assert every.upper <= 1
