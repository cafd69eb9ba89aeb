"""Every aggregator is said once: what its line promises must be there, or a test fails by name."""

import math
import re
from typing import get_args

import numpy as np
import pytest

from tiebreak.inspect_tasks.rerank import peer_review
from tiebreak.rankers import AGGREGATORS, Profile
from tiebreak.rankers.aggregators import Aggregator, Method
from tiebreak.rankers.errors import UnprovenOrderError

each = pytest.mark.parametrize("one", AGGREGATORS.values(), ids=list(AGGREGATORS))


@each
def test_a_line_says_what_the_method_needs(one: Aggregator) -> None:
    assert AGGREGATORS[one.name] is one
    assert len(one.heading) == 3
    result = one(Profile.from_ranks([[2, 1, 3]] * 2), time_limit=60)
    assert result.method == one.name
    assert result.ranks.tolist() == [2, 1, 3]


@each
def test_partial_ballots_are_left_out_by_those_that_say_so(one: Aggregator) -> None:
    result = one(Profile.from_ranks([[1.0, 2.0, 3.0], [math.nan, 2.0, 1.0]]))
    assert (result.used, result.dropped) == ((1, 1) if one.complete_only else (2, 0))


@each
def test_a_tie_goes_by_the_column_only_in_an_optimal_order(one: Aggregator) -> None:
    ranks = one(Profile.from_ranks([[1, 2], [2, 1]])).ranks.tolist()
    assert ranks == ([1, 2] if one.optimal_order else [1.5, 1.5])


@each
def test_what_may_take_long_takes_a_limit(one: Aggregator) -> None:
    hard = Profile.from_ranks(np.random.default_rng(0).random((11, 40)))
    if one.slow or one.optimal_order:
        with pytest.raises(UnprovenOrderError, match="proven"):
            one(hard, time_limit=0)
    else:
        assert one(hard, time_limit=0).used == 11


@each
def test_the_task_of_a_peer_review_names_it(one: Aggregator) -> None:
    assert re.search(rf"\b{one.name}\b", str(peer_review.__doc__).split("method:")[1])


def test_names_and_headings_are_unique_and_settings_may_have_them() -> None:
    assert len({one.heading for one in AGGREGATORS.values()}) == len(AGGREGATORS)
    assert set(get_args(Method)) == set(AGGREGATORS)
