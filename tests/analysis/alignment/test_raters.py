"""Which aggregators are asked where nobody names one."""

from typing import Any

import numpy as np
import pytest

from tests.analysis.alignment.panels import panel
from tiebreak.analysis.alignment import _methods, consensus_method
from tiebreak.rankers import AGGREGATORS
from tiebreak.reason import Reason


def of_size(n_items: int, n: int) -> Any:
    return panel(np.tile(np.arange(1.0, n + 1), (n_items, 1, 1)), models="abcdefghijkl")


@pytest.mark.parametrize(("n_items", "n"), [(60, 10), (166, 6)])
def test_dodgson_where_it_is_quick(n_items: int, n: int) -> None:
    assert _methods(of_size(n_items, n), None) == (sorted(AGGREGATORS), [])


@pytest.mark.parametrize(("n_items", "n"), [(61, 10), (167, 6)])
def test_without_dodgson_where_it_is_slow(n_items: int, n: int) -> None:
    assert _methods(of_size(n_items, n), None) == (
        [name for name in sorted(AGGREGATORS) if name != "dodgson"],
        [Reason("slow_dodgson", n_items=n_items, n_models=n)],
    )
    assert _methods(of_size(n_items, n), ["dodgson"]) == (["dodgson"], [])


def test_the_first_method_makes_the_views() -> None:
    methods: list[list[str] | None] = [None, [], ["borda", "average"]]
    assert [consensus_method(one) for one in methods] == ["kemeny_young", "kemeny_young", "borda"]
