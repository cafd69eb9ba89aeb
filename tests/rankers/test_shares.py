"""Two shares: SciPy's score test, the textbook's interval, clusters and edges."""

import math

import numpy as np
import pytest
from scipy.stats import chi2_contingency, norm

from tiebreak.rankers.intervals import share_gap


def single(hits: int, n: int) -> tuple[list[int], list[int]]:
    """Events that are each a cluster."""
    return [1] * hits + [0] * (n - hits), [1] * n


@pytest.mark.parametrize(("a", "b"), [((97, 1000), (80, 1000)), ((30, 400), (37, 300))])
def test_as_the_chi_squared_test(a: tuple[int, int], b: tuple[int, int]) -> None:
    found = share_gap(*single(*a), *single(*b))
    table = [[a[0], a[1] - a[0]], [b[0], b[1] - b[0]]]
    expected = chi2_contingency(table, correction=False).pvalue
    assert found.p == pytest.approx(expected, rel=0.03)
    assert found.difference == pytest.approx(a[0] / a[1] - b[0] / b[1])
    shares = [(hits + 1) / (n + 2) for hits, n in (a, b)]
    spread = math.sqrt(sum(p * (1 - p) / (n + 2) for p, (_, n) in zip(shares, (a, b), strict=True)))
    reach = norm.ppf(0.975) * spread
    middle = shares[0] - shares[1]
    assert (found.lower, found.upper) == pytest.approx((middle - reach, middle + reach), abs=2e-4)


def test_clusters_count_as_what_they_tell() -> None:
    hits = np.random.default_rng(0).random(100) < 0.3
    once = share_gap(hits, np.ones(100), *single(20, 100))
    fourfold = share_gap(4 * hits, np.full(100, 4), *single(20, 100))
    assert fourfold.p == pytest.approx(once.p, rel=0.05)
    assert fourfold.upper - fourfold.lower == pytest.approx(once.upper - once.lower, rel=0.02)


def test_edges() -> None:
    assert math.isnan(share_gap([], [], [1], [1]).difference)
    assert math.isnan(share_gap([1], [1], [1, 0], [1, 1]).p)
    none = share_gap(*single(0, 50), *single(0, 50))
    assert (none.difference, none.p) == (0, 1)
    assert none.lower < 0 < none.upper
    every = share_gap(*single(50, 50), *single(0, 50))
    assert every.p < 1e-9
    assert every.upper <= 1
