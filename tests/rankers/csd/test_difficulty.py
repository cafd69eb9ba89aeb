import numpy as np
import pytest

from tiebreak.rankers.csd import csd, tiers
from tiebreak.rankers.errors import RankingError

NAN = float("nan")


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


def test_all_items_count_once() -> None:
    items = np.random.default_rng(0).random((200, 5)).round(2)
    found = tiers(items, (0.7, 0.5, 0.3))
    np.testing.assert_allclose(found.scores @ found.n_items / 200, items.mean(axis=0))
    rates = items.mean(axis=1)
    hardest = [rates[found.tier == number].min() for number in range(len(found.names))]
    easiest = [rates[found.tier == number].max() for number in range(len(found.names))]
    assert all(low > high for low, high in zip(hardest, easiest[1:], strict=False))


@pytest.mark.parametrize(
    ("items", "bounds", "match"),
    [
        ([[1, NAN]], (0.5,), "model 1 has no score in item 0"),
        ([1, 0], (0.5,), "shape"),
        ([[2, 0]], (0.5,), "between 0 and 1"),
        ([[1, 0]], (0.5, 0.5), "descend"),
        ([[1, 0]], (1.0, 0.5), "descend"),
        ([[1, 0]], (0.5, 0.0), "descend"),
        ([[1, 0]], (NAN,), "descend"),
    ],
)
def test_bad_input(items: list[list[float]], bounds: tuple[float, ...], match: str) -> None:
    with pytest.raises(RankingError, match=match):
        tiers(items, bounds)
