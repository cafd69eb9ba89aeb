import math

import numpy as np
import pytest

from tiebreak.rankers import Resampling
from tiebreak.rankers.errors import EmptyProfileError, RankingError, ShapeError
from tiebreak.rankers.intervals import Estimate, ItemDraws
from tiebreak.rankers.uncertainty import bootstrap_items

NAN = math.nan
# Two rows of item 7, two of item 3, one of item 5.
ITEMS = [7, 3, 7, 5, 3]
VALUES = np.array([[1, NAN], [2, NAN], [4, 1], [8, NAN], [NAN, NAN]])


def over(items: list[int] | None = ITEMS, *, draws: int = 500) -> ItemDraws:
    return ItemDraws(5, items, how=Resampling(level=0.9, draws=draws, seed=3))


def test_means_are_those_of_bootstrap_items() -> None:
    for items in (ITEMS, None):
        found = over(items).means(VALUES, "none")
        expected = bootstrap_items(
            VALUES, items=items, how=Resampling(level=0.9, draws=500, seed=3)
        )
        for column, one in enumerate(found):
            assert one.n_items == expected.n_items[column]
            np.testing.assert_allclose(one.value, expected.score[column])
    # (1 + 4 + 2 + 8) / 4 rows; the other figure has but one item.
    first, second = over().means(VALUES, "none")
    assert (first.value, first.n_items, first.reason) == (15 / 4, 3, None)
    assert first.lower < first.value < first.upper
    assert (second.value, second.n_items) == (1, 1)
    assert second.reason == "an interval over items needs at least two items"
    assert math.isnan(second.lower)


def test_a_figure_of_sums() -> None:
    sums = np.array([[4.0], [9.0], [0.0], [3.0], [0.0]])
    (found,) = over().figures(sums, np.sqrt, sums > 0, "none")
    assert (found.value, found.n_items) == (4, 3)  # √(4 + 9 + 3)
    # Items hold 4, 9 and 3: three of one are the ends of what can be drawn.
    assert 3 <= found.lower < 4 < found.upper <= math.sqrt(27)


def test_undefined_draws_are_told_of() -> None:
    values = np.array([[1.0], [NAN], [2.0], [NAN], [NAN]])
    (found,) = over(None).means(values, "none")
    assert found.reason is not None
    # (3/5)⁵ of the draws hold neither: 39 of 500.
    left_out = int(found.reason.removeprefix("undefined in ").split()[0])
    assert 20 < left_out < 60
    assert found.reason.endswith("of 500 draws of items, which are left out")


def test_undefined_figures() -> None:
    (found,) = over().means(np.full((5, 1), NAN), "nothing there")
    assert math.isnan(found.value)
    assert math.isnan(found.upper)
    assert (found.n_items, found.reason) == (0, "nothing there")
    assert isinstance(found, Estimate)


def test_items_are_counted_once() -> None:
    present = ~np.isnan(VALUES)
    np.testing.assert_array_equal(over().count(present), [3, 1])
    np.testing.assert_array_equal(over(None).count(present), [4, 1])
    np.testing.assert_array_equal(over().count(present[:, :, None]), [[3], [1]])


def test_wrong_input() -> None:
    with pytest.raises(ShapeError, match=r"items must have shape \(5,\), got \(2,\)"):
        over([1, 2])
    with pytest.raises(EmptyProfileError, match="there is no item"):
        ItemDraws(0, None, how=Resampling(level=0.9, draws=5))
    with pytest.raises(RankingError, match="draws"):
        over(draws=0).means(VALUES, "none")
