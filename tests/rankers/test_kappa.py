"""κ of tables: scikit-learn, the textbook, the jackknife by hand, and where it is undefined."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import t

from tiebreak.rankers.agreement import cohen_kappa
from tiebreak.rankers.kappa import CHANCE_LABELS, kappa_estimate, kappa_gap, kappa_many, kappa_mean

KINDS: list[Any] = [None, "linear", "quadratic"]
LABELS = arrays(np.int64, st.tuples(st.integers(1, 30), st.just(2)), elements=st.integers(0, 3))


def tables(labels: np.ndarray[Any, Any], k: int = 4) -> np.ndarray[Any, Any]:
    """One table a case, of shape (cases, k, k)."""
    found = np.zeros((len(labels), k, k))
    found[np.arange(len(labels)), labels[:, 0], labels[:, 1]] = 1
    return found


@settings(deadline=None)
@given(LABELS, st.sampled_from(KINDS))
def test_as_scikit_learn(labels: np.ndarray[Any, Any], weights: Any) -> None:
    value = kappa_many(tables(labels).sum(axis=0), weights)
    expected = cohen_kappa(
        labels[:, 0].tolist(), labels[:, 1].tolist(), weights=weights, labels=range(4)
    )
    assert float(value) == pytest.approx(expected.value, nan_ok=True)


def test_the_textbook() -> None:
    # J. L. Fleiss, B. Levin and M. C. Paik (2003), Statistical Methods for Rates and Proportions,
    # table 18.1: two raters, 100 subjects, three diagnoses; κ = .68 on p. 603.
    table = [[75, 1, 4], [5, 4, 1], [0, 0, 10]]
    assert float(kappa_many(table)) == pytest.approx(0.676, abs=5e-4)
    assert kappa_many(np.stack([table, np.eye(3)])).tolist() == pytest.approx([0.676, 1], abs=5e-4)


@pytest.mark.parametrize("weights", KINDS)
def test_the_interval_by_hand(weights: Any) -> None:
    rng = np.random.default_rng(1)
    labels, items = rng.integers(0, 3, (40, 2)), rng.integers(0, 15, 40)
    found = kappa_estimate(tables(labels), items=items, weights=weights, level=0.9)

    def smoothed(keep: np.ndarray[Any, Any]) -> float:
        whole = tables(labels[keep]).sum(axis=0)
        n, places = whole.sum(), np.arange(4)
        chance = np.outer(whole.sum(axis=1), whole.sum(axis=0)) / n
        gap = np.abs(places[:, None] - places) / 3
        w = {None: (gap > 0) * 1.0, "linear": gap, "quadratic": gap**2}[weights]
        more = CHANCE_LABELS * chance / n
        return float(np.sum(w * (whole + more)) / np.sum(w * (chance + more)))

    odds = [math.log(r / (2 - r)) for i in np.unique(items) for r in [smoothed(items != i)]]
    n = len(odds)
    assert found.n_items == n
    whole = smoothed(np.ones(40, bool))
    centre = math.log(whole / (2 - whole))
    reach = t.ppf(0.95, n - 1) * math.sqrt((n - 1) * np.var(odds))
    low, high = (1 - 2 / (1 + math.exp(-(centre + sign * reach))) for sign in (1, -1))
    # The labels by chance add a little.
    assert low - 0.05 < found.lower < low
    assert high < found.upper < high + 0.05


def test_means_and_gaps_over_groups() -> None:
    rng = np.random.default_rng(2)
    people = rng.integers(0, 4, (60, 3))
    judges = [
        np.where(rng.random((60, 3)) < p, people, rng.integers(0, 4, (60, 3))) for p in (0.9, 0.5)
    ]
    both = [
        np.stack([tables(np.stack([people[:, g], judge[:, g]], axis=1)) for g in range(3)], axis=1)
        for judge in judges
    ]
    kappas = [[float(kappa_many(one[:, g].sum(axis=0))) for g in range(3)] for one in both]
    means = [kappa_mean(one) for one in both]
    assert [one.value for one in means] == pytest.approx(np.mean(kappas, axis=1).tolist())
    assert all(one.lower < one.value < one.upper for one in means)
    gap, p, _ = kappa_gap(*both)
    assert gap.value == pytest.approx(float(np.mean(kappas[0]) - np.mean(kappas[1])))
    assert 0 < gap.lower < gap.value < gap.upper
    assert p < 0.001
    assert gap.n_items == 60
    turned, of_turned, _ = kappa_gap(*both[::-1])
    assert (turned.value, of_turned) == pytest.approx((-gap.value, p))
    # A judge beside itself, and a group in which nobody is told apart.
    assert kappa_gap(both[0], both[0])[0].value == 0
    alike = np.concatenate([both[0], np.tile(np.diag([0, 0, 0, 1.0]), (60, 1, 1, 1))], axis=1)
    assert kappa_mean(alike).value == pytest.approx(means[0].value)
    others = np.concatenate([both[1], np.zeros((60, 1, 4, 4))], axis=1)
    assert kappa_gap(alike, others)[0].value == pytest.approx(gap.value)
