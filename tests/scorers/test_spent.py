"""Sums of what was spent, as they are compared and as people read them."""

import pytest

from tests.ranking_logs.builders import call
from tiebreak.scorers.budget import Spent


@pytest.mark.parametrize(
    ("spent", "told"),
    [
        (Spent(), "0 calls"),
        (Spent(1200), "1,200 calls"),
        (Spent(3, 1234.5), "3 calls ($1,234.50)"),
    ],
)
def test_in_words(spent: Spent, told: str) -> None:
    assert str(spent) == told


def test_sums() -> None:
    one, other = Spent(3, 0.5), Spent(1, 0.75)
    assert one.plus(other) == Spent(4, 1.25)
    assert one.minus(other) == Spent(2, 0)
    assert other.minus(one) == Spent(0, 0.25)
    assert one.larger(other) == other.larger(one) == Spent(3, 0.75)
    one.add(call(cost=0.25))
    one.add(call(cost=None))
    assert one == Spent(5, 0.75)


@pytest.mark.parametrize(
    ("spent", "below", "within"),
    [
        (Spent(1, 0.5), True, True),
        (Spent(2, 0.5), False, True),
        (Spent(1, 1.0), False, True),
        (Spent(1, 1.0 + 1e-10), False, True),
        (Spent(1, 1.001), False, False),
        (Spent(3, 0.5), False, False),
    ],
)
def test_against_a_limit(spent: Spent, below: bool, within: bool) -> None:
    """Two calls and a dollar: room for one more below both; no more than both is within them."""
    limit = Spent(2, 1.0)
    assert (spent.below(limit), spent.within(limit)) == (below, within)
