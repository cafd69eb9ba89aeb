"""Natural breaks against all ways to part the values."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from tiebreak.rankers import natural_breaks
from tiebreak.rankers.profile import FloatArray


def squares(values: FloatArray, tier: list[int]) -> float:
    """Squares within the tiers."""
    parts = [values[np.array(tier) == number] for number in set(tier)]
    return float(sum(((part - part.mean()) ** 2).sum() for part in parts))


def least(values: FloatArray, tiers: int) -> float:
    """The least of all ways to part the sorted values that leave no tier empty."""
    ordered, n = np.sort(values), len(values)
    ways = [(0, *cuts, n) for cuts in combinations(range(1, n), tiers - 1)]
    sums = (sum(ordered[a:b].var() * (b - a) for a, b in pairwise(way)) for way in ways)
    return float(min(sums))


@pytest.mark.parametrize("n", [1, 2, 5, 8, 11])
@pytest.mark.parametrize("tiers", [1, 2, 3, 4, 5])
def test_no_other_partition_has_less_within(n: int, tiers: int) -> None:
    rng = np.random.default_rng((n, tiers))
    for values in rng.normal(size=(20, n)), rng.random((20, n)) * 1e-3 + 1e6:
        for one in values:
            if tiers > n:
                continue
            found = natural_breaks(one, tiers).tolist()
            assert set(found) == set(range(1, tiers + 1))
            assert squares(one, found) == pytest.approx(least(one, tiers), rel=1e-3, abs=1e-12)
            # Tier 1 is the highest.
            order = np.argsort(-one)
            assert [found[model] for model in order] == sorted(found)


def test_equal_values_share_their_tier() -> None:
    assert natural_breaks([5, 1, 5, 4.9, 5, 0], 3).tolist() == [1, 2, 1, 1, 1, 3]
    rng = np.random.default_rng(0)
    for values in rng.integers(0, 6, (50, 12)).astype(float):
        found = natural_breaks(values, 3)
        for value in set(values.tolist()):
            assert len(set(found[values == value].tolist())) == 1
