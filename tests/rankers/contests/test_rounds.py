from itertools import permutations

import numpy as np
import pytest

from tests.rankers.contests import exact
from tiebreak.rankers.contests.expected_wins import csd
from tiebreak.rankers.contests.rounds import tiers, weighted_orders, weighted_rounds, win_rates

WEIGHTS = [5.0, 1.0, 2.0]
# Place by place: P(0, 2, 1) = 5/8 · 2/3 · 1, and so on.
LAW = {
    order: np.prod(
        [WEIGHTS[name] / sum(WEIGHTS[left] for left in order[at:]) for at, name in enumerate(order)]
    )
    for order in permutations(range(3))
}


def shares(orders: list[tuple[int, ...]]) -> dict[tuple[int, ...], float]:
    return {order: orders.count(order) / len(orders) for order in LAW}


@pytest.mark.slow
def test_law() -> None:
    orders = [tuple(row) for row in weighted_rounds(WEIGHTS, draws=20_000).tolist()]
    assert shares(orders) == pytest.approx(LAW, abs=0.015)  # 4 × √(¼ / 20,000)


def test_every_row_is_an_order_even_with_extreme_weights() -> None:
    orders = weighted_rounds([1e-300, 1e300, 1.0, 1e-320], draws=500)
    assert np.all(np.sort(orders, axis=1) == np.arange(4))
    assert np.all(orders[:, 0] == 1)
    assert np.all(orders[:, 1] == 2)


def test_the_lowest_number_draws_no_round_twice() -> None:
    orders = weighted_orders(np.zeros((1, 3)), np.array(WEIGHTS))
    assert orders.tolist() == [[0, 1, 2]]


@pytest.mark.parametrize("control_variate", [False, True])
def test_expected_wins_over_random_orders(control_variate: bool) -> None:
    scores = np.array([[3, 0, 1], [2, 2, 0], [1, 1, 3], [0, 3, 1], [1, 2, 2]])
    truth = sum(
        float(chance)
        * np.array(
            [
                float(value)
                for value in exact.expected_wins(win_rates(scores[:, order]).tolist(), (1, 0, 0))
            ]
        )
        for order, chance in LAW.items()
    )
    found = csd(
        scores,
        eliminate=(1, 0, 0),
        weights=WEIGHTS,
        iterations=20_000,
        control_variate=control_variate,
    )
    assert np.all(np.abs(found.expected_wins - truth) < 4.5 * found.standard_error)
    # In the given order it is another contest.
    fixed = csd(scores, eliminate=(1, 0, 0), iterations=20_000)
    assert np.any(np.abs(fixed.expected_wins - truth) > 9 * found.standard_error)


def test_by_hand() -> None:
    # Success rates 1, ¾, ¾, ½ and 0 of four models.
    items = np.array([[1, 1, 1, 1], [1, 1, 1, 0], [0, 1, 1, 1], [1, 0, 0, 1], [0, 0, 0, 0]])
    found = tiers(items)
    assert found.names == ("0.9–1", "0.7–0.8", "0.4–0.5", "0–0.1")
    assert found.n_items.tolist() == [1, 2, 1, 1]
    assert found.tier.tolist() == [0, 1, 1, 2, 3]
    assert found.scores.tolist() == [[1, 0.5, 1, 0], [1, 1, 0, 0], [1, 1, 0, 0], [1, 0.5, 1, 0]]
    assert len(found.dropped) == 6
    assert "0.8–0.9" in found.dropped
    assert csd(found.scores, iterations=100).expected_wins.shape == (4,)


@pytest.mark.parametrize(
    ("rate", "name"), [(0.95, "0.9–1"), (0.9, "0.8–0.9"), (0.1, "0–0.1"), (0.3, "0.2–0.3")]
)
def test_bounds_belong_to_the_harder_tier(rate: float, name: str) -> None:
    # The mean of three equal numbers is not always that number, in floating point.
    assert tiers([[rate] * 3]).names == (name,)
