"""Samples and totals: by hand, and against all items."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak.study.estimate.totals import Range, Stratum, Total, range_of, strata, total

KINDS = st.lists(st.integers(0, 4), min_size=1, max_size=60)


@pytest.mark.slow
@settings(deadline=None)
@given(KINDS, st.one_of(st.none(), st.integers(1, 80)), st.randoms(use_true_random=False))
def test_strata(kinds: list[int], most: int | None, rng: object) -> None:
    lengths = [rng.randrange(50) for _ in kinds]  # type: ignore[attr-defined]
    chosen = strata(kinds, lengths, most)
    assert sum(stratum.size for stratum in chosen) == len(kinds)
    taken = [item for stratum in chosen for item in stratum.taken]
    assert len(taken) == len(set(taken))
    if most is None or most >= len(kinds):
        assert sorted(taken) == list(range(len(kinds)))
    for stratum in chosen:
        [kind] = {kinds[item] for item in stratum.taken}
        assert stratum.size == kinds.count(kind)
        assert len(stratum.taken) >= min(2, stratum.size)
        in_order = [lengths[item] for item in stratum.taken]
        assert in_order == sorted(in_order)
    # What is the same for all items of a stratum is known exactly.
    found = total(chosen, {i: np.array([10.0 * kinds[i], 1.0]) for i in taken})
    assert found.value == pytest.approx([10.0 * sum(kinds), len(kinds)])
    assert found.error == pytest.approx([0, 0])


def test_a_sample_takes_short_and_long_ones() -> None:
    # 12 items of length 0, 10, 20, …: the middles of four quarters of three items each.
    [stratum] = strata(["same"] * 12, [10 * i for i in range(12)], 4)
    assert stratum == Stratum(12, (1, 4, 7, 10))


def test_error_by_hand() -> None:
    # Four items, of which two are looked at: mean 2, so 8 in all. s² = (3 - 1)² / 2 = 2, and the
    # variance of the total is 4 · (1 + 4 / 2) · 2 = 24.
    found = total([Stratum(4, (0, 3))], {0: np.array([1.0]), 3: np.array([3.0])})
    assert found.value == 8
    assert found.error**2 == pytest.approx(24)


def test_a_lone_item_varies_like_the_most_variable_ones() -> None:
    # s² is 2 and ½: the third stratum takes 2. Variances 2·2·2 + 2·2·½ + 1·2·2 = 14.
    chosen = [Stratum(2, (0, 1)), Stratum(2, (2, 3)), Stratum(1, (4,))]
    values = {i: np.array([v]) for i, v in enumerate((1.0, 3.0, 1.0, 2.0, 5.0))}
    found = total(chosen, values)
    assert found.value == 12
    assert found.error**2 == pytest.approx(14)
    # A single item has no error to speak of.
    alone = total([Stratum(1, (0,))], {0: np.array([7.0])})
    assert alone.value == 7
    assert alone.error == 0


def test_interval() -> None:
    def totals(value: float, error: float) -> Total:
        return Total(np.array([value]), np.array([error]))

    # 10 - 2·1 = 8, 12 - 2·3 = 6; 10 + 2·1 = 12, 12 + 2·3 = 18. The usual judge's error is nothing.
    assert range_of(totals(11, 99), [totals(10, 1), totals(12, 3)], 0) == Range(6, 11, 18)
    assert range_of(totals(1, 0), [totals(1, 9)], 0) == Range(0, 1, 19)
    assert range_of(totals(5, 0), [totals(6, 0), totals(7, 0)], 0) == Range(5, 5, 7)
    assert range_of(totals(9, 0), [totals(6, 0), totals(7, 0)], 0) == Range(6, 9, 9)


def test_the_interval_covers_draws_of_other_judges() -> None:
    """95% of new draws lie within two standard errors of a sample's total."""
    rng = np.random.default_rng(0)
    chosen = strata([0] * 100, range(100), 20)
    inside = 0
    for _ in range(1000):
        values = rng.poisson(3, 100)
        found = total(chosen, {i: np.array([float(values[i])]) for i in chosen[0].taken})
        truth = rng.poisson(3, 100).sum()
        inside += bool(abs(truth - found.value[0]) <= 2 * found.error[0])
    assert 0.91 < inside / 1000 < 0.98
