import math
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import friedmanchisquare, kendalltau, rankdata

from tests.rankers.ballots import FloatArray, panel
from tiebreak.rankers import Resampling
from tiebreak.rankers.panel import (
    kendall_w,
    krippendorff_alpha,
    reviewer_agreement,
)
from tiebreak.reason import Reason

NAN = math.nan
MEASURES = (reviewer_agreement, krippendorff_alpha, kendall_w)


CASES = [
    panel(0, 6, 4, 5),
    panel(1, 6, 4, 5, levels=2),
    panel(2, 8, 5, 6, holes=0.15, levels=4),
    panel(3, 8, 3, 4, holes=0.05),
    np.concatenate([panel(4, 3, 4, 5), np.full((2, 4, 5), NAN), panel(5, 3, 4, 5, levels=1)]),
]
cases = pytest.mark.parametrize("ranks", CASES, ids=range(len(CASES)))


# Agreement of every two.


@cases
def test_agreement_by_definition(ranks: FloatArray) -> None:
    n = ranks.shape[1]
    found = reviewer_agreement(ranks, how=Resampling(draws=10))
    every: list[list[float]] = [[] for _ in range(n)]
    for r, s in permutations(range(n), 2):
        taus = []
        for row in ranks:
            both = ~np.isnan(row[r]) & ~np.isnan(row[s])
            tau = kendalltau(row[r, both], row[s, both]).statistic if both.sum() > 1 else NAN
            if not math.isnan(tau):
                taus.append(float(tau))
        np.testing.assert_allclose(found.tau[r, s], np.mean(taus))
        assert found.n_items[r, s] == len(taus)
        every[r] += taus
    np.testing.assert_allclose(
        [one.value for one in found.reviewers], [np.mean(taus) for taus in every], atol=1e-12
    )
    np.testing.assert_allclose(found.panel.value, np.mean(np.concatenate(every)))
    assert found.panel.lower <= found.panel.value <= found.panel.upper


def test_a_reviewer_that_fails_throughout_or_ties_all() -> None:
    ranks = panel(7, 5, 5, 4)
    ranks[:, 1] = NAN
    ranks[:, 3] = 1
    found = reviewer_agreement(ranks)
    rest = reviewer_agreement(ranks[:, [0, 2, 4]])
    for silent in (1, 3):
        assert np.isnan(found.tau[silent]).all()
        assert np.all(found.n_items[silent] == 0)
        assert math.isnan(found.reviewers[silent].value)
        assert found.reviewers[silent].reason == Reason("no_common_order")
    np.testing.assert_array_equal(found.tau[np.ix_([0, 2, 4], [0, 2, 4])], rest.tau)
    assert found.panel == rest.panel


# Krippendorff's α.


def complete(row: FloatArray) -> FloatArray:
    """The ballots that rank everybody whom a ballot of two or more ranks, from their middle."""
    ballots = [ballot for ballot in row if np.sum(~np.isnan(ballot)) > 1]
    if not ballots:
        return np.zeros((0, 0))
    columns = [c for c in range(row.shape[1]) if any(not math.isnan(b[c]) for b in ballots)]
    kept = [ballot[columns] for ballot in ballots if not np.isnan(ballot[columns]).any()]
    middle = (len(columns) + 1) / 2
    return np.array([rankdata(ballot) - middle for ballot in kept]).reshape(-1, len(columns))


def alpha_by_definition(units: list[list[float]]) -> float:
    """Observed by expected disagreement over all ordered pairs of values."""
    units = [unit for unit in units if len(unit) > 1]
    values = [value for unit in units for value in unit]
    n = len(values)
    observed = sum(
        sum((x - y) ** 2 for x, y in permutations(unit, 2)) / (len(unit) - 1) for unit in units
    )
    expected = sum((x - y) ** 2 for x, y in permutations(values, 2))
    return 1 - (observed / n) / (expected / (n * (n - 1))) if expected else NAN


@cases
def test_alpha_by_definition(ranks: FloatArray) -> None:
    units = [list(unit) for row in ranks for unit in complete(row).T]
    np.testing.assert_allclose(
        krippendorff_alpha(ranks, how=Resampling(draws=10)).value, alpha_by_definition(units)
    )


# Kendall's W.


@cases
def test_w_is_friedmans_chi_square(ranks: FloatArray) -> None:
    by_row, mean = kendall_w(ranks, how=Resampling(draws=10))
    expected = []
    for row in ranks:
        ballots = complete(row)
        m, n = ballots.shape
        if m < 2 or not np.any(ballots):
            expected.append(NAN)
        elif m < 3 or n < 3:  # SciPy wants three of both; by definition, with T = Σ (t³ − t)
            counts = [np.unique(ballot, return_counts=True)[1] for ballot in ballots]
            t = sum(float(np.sum(count**3 - count)) for count in counts)
            s = np.sum(ballots.sum(axis=0) ** 2)
            expected.append(float(12 * s / (m**2 * (n**3 - n) - m * t)))
        else:
            expected.append(float(friedmanchisquare(*ballots.T).statistic / (m * (n - 1))))
    np.testing.assert_allclose(by_row, expected, atol=1e-12)
    np.testing.assert_allclose(mean.value, np.nanmean(expected))
    assert mean.n_items == np.sum(~np.isnan(expected))


# What all three do.


@pytest.mark.parametrize("measure", MEASURES)
def test_the_level_counts_and_nothing_is_drawn(measure: type) -> None:
    ranks = panel(3, 10, 4, 5)
    assert repr(measure(ranks)) == repr(measure(ranks, how=Resampling(draws=1, seed=4)))
    wide, narrow = (repr(measure(ranks, how=Resampling(level=level))) for level in (0.99, 0.8))
    assert wide != narrow
