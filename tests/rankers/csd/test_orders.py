import random
from itertools import permutations

import numpy as np
import pytest

from tests.rankers.csd import exact
from tiebreak.rankers.csd import ContestSettingError, csd, weighted_rounds, win_rates
from tiebreak.rankers.csd.orders import weighted_orders
from tiebreak.rankers.errors import RankingError

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


def test_law() -> None:
    orders = [tuple(row) for row in weighted_rounds(WEIGHTS, draws=20_000).tolist()]
    assert shares(orders) == pytest.approx(LAW, abs=0.015)  # 4 × √(¼ / 20,000)


def test_it_is_the_law_of_the_papers_keys() -> None:
    rng = random.Random(0)
    orders = []
    for _ in range(20_000):
        keys = [rng.random() ** (1 / weight) for weight in WEIGHTS]
        orders.append(tuple(np.argsort(keys)[::-1].tolist()))
    assert shares(orders) == pytest.approx(LAW, abs=0.015)


def test_every_row_is_an_order_even_with_extreme_weights() -> None:
    orders = weighted_rounds([1e-300, 1e300, 1.0, 1e-320], draws=500)
    assert np.all(np.sort(orders, axis=1) == np.arange(4))
    assert np.all(orders[:, 0] == 1)
    assert np.all(orders[:, 1] == 2)


def test_the_lowest_number_draws_no_round_twice() -> None:
    orders = weighted_orders(np.zeros((1, 3)), np.array(WEIGHTS))
    assert orders.tolist() == [[0, 1, 2]]


def test_seeds() -> None:
    first, again, other = (weighted_rounds(WEIGHTS, draws=50, seed=s).tolist() for s in (1, 1, 2))
    assert first == again
    assert first != other


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


@pytest.mark.parametrize(
    ("weights", "draws", "match"),
    [
        ([1, 0], 1, "above 0"),
        ([1, -1], 1, "above 0"),
        ([1, float("nan")], 1, "above 0"),
        ([1, float("inf")], 1, "above 0"),
        ([], 1, "shape"),
        ([[1, 2]], 1, "shape"),
        ([1, 2], 0, "draws"),
    ],
)
def test_bad_input(weights: list[float], draws: int, match: str) -> None:
    with pytest.raises(RankingError, match=match):
        weighted_rounds(weights, draws=draws)
    assert issubclass(ContestSettingError, RankingError)
