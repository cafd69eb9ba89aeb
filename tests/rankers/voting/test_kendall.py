from itertools import combinations, permutations

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.rankers.ballots import partial, tied, uniform
from tests.rankers.voting.tables import table
from tiebreak.rankers.errors import EmptyProfileError
from tiebreak.rankers.voting import kendall


def first_optimum(ranks: NDArray[np.float64]) -> tuple[int, ...]:
    """The first order with the smallest distance to the complete ballots."""
    complete = [ballot for ballot in ranks if not np.isnan(ballot).any()]
    costs = {
        order: sum(
            bool(ballot[b] < ballot[a]) for a, b in combinations(order, 2) for ballot in complete
        )
        for order in permutations(range(ranks.shape[1]))
    }
    return min(order for order, cost in costs.items() if cost == min(costs.values()))


@pytest.mark.parametrize("seed", range(24))
def test_all_orders(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ranks = uniform(rng, 2 + seed % 5, 5)
    if seed % 2:
        ranks = tied(ranks, 3)
    if seed % 3:
        ranks = partial(ranks, rng, 0.1)
    result = kendall(ranks)
    np.testing.assert_array_equal(result.ranks.argsort(), first_optimum(ranks))
    np.testing.assert_array_equal(result.scores, result.ranks)
    partials = int(np.isnan(ranks).any(axis=1).sum() - np.isnan(ranks).all(axis=1).sum())
    assert (result.method, result.dropped) == ("kendall", partials)
    assert result.used == np.sum(~np.isnan(ranks).any(axis=1))


def test_partial_ballots_are_dropped() -> None:
    result = kendall(table("123", *["21-"] * 5))
    np.testing.assert_array_equal(result.ranks, [1, 2, 3])
    assert (result.used, result.dropped) == (1, 5)


def test_a_complete_ballot_is_needed() -> None:
    with pytest.raises(EmptyProfileError, match="none of the 2 ballots ranks all 3"):
        kendall(table("12-", "-12"))
