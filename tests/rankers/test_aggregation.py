import math
from itertools import combinations, permutations

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.rankers.ballots import partial, tied, uniform
from tests.rankers.voting.tables import table
from tiebreak.rankers.aggregation import aggregate, aggregate_items
from tiebreak.rankers.aggregators import AGGREGATORS
from tiebreak.rankers.consensus import mean_rank
from tiebreak.rankers.errors import UnprovenOrderError
from tiebreak.rankers.kemeny.solve import kemeny_young
from tiebreak.rankers.profile import Profile

NAN = math.nan


def test_an_unproven_order_is_no_consensus(monkeypatch: pytest.MonkeyPatch) -> None:
    def out_of_time(profile: Profile, **options: object) -> object:
        return kemeny_young(profile, time_limit=0)

    monkeypatch.setattr("tiebreak.rankers.kemeny.solve.kemeny_young", out_of_time)
    ranks = uniform(np.random.default_rng(3), 11, 25)
    assert not kemeny_young(ranks, time_limit=0).optimal
    with pytest.raises(UnprovenOrderError, match="best one found, which is within"):
        aggregate(ranks)


# Many items at once.


def draw(seed: int, n: int = 4) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    items = [partial(tied(uniform(rng, 5, n), 3), rng, 0.2) for _ in range(6)]
    items[2][:, 1] = NAN  # an absent answer
    items[3][2] = NAN  # a reviewer who failed
    return np.stack(items)


def by_borda(item: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean ranks in the two optimal orders that Borda's count names, by trying every order."""
    n = item.shape[1]
    before = (item[:, :, None] < item[:, None, :]).sum(axis=0)
    count = (before - before.T).sum(axis=1)
    costs = {
        order: sum(before[b, a] for a, b in combinations(order, 2))
        for order in permutations(range(n))
    }
    optimal = [order for order, cost in costs.items() if cost == min(costs.values())]
    ranks = np.zeros(n)
    for sign in (1, -1):
        chosen = min(optimal, key=lambda order: [(-count[c], sign * c) for c in order])
        ranks += (np.argsort(chosen) + 1) / 2
    return ranks


@pytest.mark.parametrize("method", AGGREGATORS)
@pytest.mark.parametrize("seed", range(4))
def test_items_one_by_one(method: str, seed: int) -> None:
    ranks = draw(seed)
    result = aggregate_items(ranks, method)
    assert result.shape == (6, 4)
    for item, own in zip(ranks, result, strict=True):
        item = item[np.sum(~np.isnan(item), axis=1) > 1]
        present = ~np.isnan(item).all(axis=0)
        assert np.isnan(own[~present]).all()
        item = item[:, present]
        if method == "kendall":
            item = item[~np.isnan(item).any(axis=1)]
        if not item.size:
            expected = np.full(present.sum(), NAN)
        elif method in ("kendall", "kemeny_young"):
            expected = by_borda(item)
        else:
            expected = aggregate(item, method).ranks
        np.testing.assert_array_equal(own[present], expected)


@pytest.mark.parametrize("method", AGGREGATORS)
def test_items_without_anything_to_compare(method: str) -> None:
    # Nobody ranked; each ballot ranks one; c is only ranked alone; all is well.
    items = [table("---", "---"), table("1--", "-1-"), table("12-", "--1"), table("123", "123")]
    expected = table("---", "---", "12-", "123")
    np.testing.assert_array_equal(aggregate_items(items, method), expected)


def test_kendall_reads_the_ballots_that_are_complete_in_their_item() -> None:
    # c is absent from the first item, so "b, a" is complete there, and incomplete in the second.
    items = [table("21-", "21-", "1--"), table("21-", "21-", "123"), table("21-", "-21", "1-2")]
    expected = table("21-", "123", "---")
    np.testing.assert_array_equal(aggregate_items(items, "kendall"), expected)


def test_no_items() -> None:
    for method in AGGREGATORS:
        assert aggregate_items(np.empty((0, 2, 3)), method).shape == (0, 3)


def test_mean_rank_over_what_is_defined() -> None:
    np.testing.assert_array_equal(mean_rank([[1.0, NAN, NAN], [2.0, 3.0, NAN]]), [1.5, 3, NAN])
    np.testing.assert_array_equal(mean_rank([[1.0, NAN], [2.0, 3.0]], axis=1), [1, 2.5])
