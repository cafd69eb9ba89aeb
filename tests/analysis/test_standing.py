"""One row of a ranking: filled from a bootstrap, and sorted best first."""

import numpy as np
import pytest

from tiebreak.analysis.leaderboard import LeaderboardRow
from tiebreak.analysis.peers.review import PeerRank
from tiebreak.analysis.standing import Placed, Standing, best_first, left_open
from tiebreak.analysis.strengths import StrengthRow
from tiebreak.rankers import bootstrap_items, competition_ranks
from tiebreak.rankers.pairwise_tests import separation


def test_a_standing_is_the_column_of_a_bootstrap() -> None:
    table = np.array([[1.0, 0.5, 0.0, np.nan], [1.0, 0.0, 0.5, np.nan], [0.5, 1.0, 0.0, 0.25]])
    found = bootstrap_items(table)
    order = best_first(competition_ranks(found.score), "abcd")
    rows = Standing.rows(found, "abcd", **left_open(found, separation(table, order)))
    first, alone = rows[0], next(row for row in rows if row.model == "d")
    # Three items can tell no two models apart.
    assert (first.rank, first.model, first.rank_lower, first.rank_upper) == (1, "a", 1, 4)
    assert first.value == pytest.approx(2.5 / 3)
    own = (first.lower, first.upper, first.first_share)
    assert own == (found.lower[0], found.upper[0], found.first_share[0])
    # In one item only: a value, but no interval.
    assert (alone.value, alone.rank_lower, alone.rank_upper) == (0.25, None, None)
    assert np.isnan([alone.lower, alone.upper, alone.first_share]).all()


def test_models_without_a_rank_come_last() -> None:
    found = bootstrap_items(np.array([[np.nan, 0.5, 0.5, np.nan, 1.0]] * 2))
    rows = Placed.rows(found, ["b", "d", "c", "a", "e"])
    assert [(row.rank, row.model) for row in rows] == [
        *((1, "e"), (2, "c"), (2, "d")),
        *((None, "a"), (None, "b")),
    ]


def test_rank_ranges_are_those_of_the_tests_in_the_order_of_the_models() -> None:
    # b beats a, and a beats c, in all of 12 items; d is in one item.
    table = np.array([[0.5, 1.0, 0.0, np.nan]] * 11 + [[0.5, 1.0, 0.0, 0.75]])
    found = bootstrap_items(table)
    order = best_first(competition_ranks(found.score), "abcd")
    assert order == [1, 3, 0, 2]
    rows = Standing.rows(found, "abcd", **left_open(found, separation(table, order)))
    assert [(row.model, row.rank_lower, row.rank_upper) for row in rows] == [
        *(("b", 1, 2), ("d", None, None), ("a", 2, 3), ("c", 3, 4)),
    ]


def test_ranks_and_further_fields_may_be_given() -> None:
    found = bootstrap_items(np.array([[1.0, 0.0]] * 2))
    pairs = left_open(found, separation(np.array([[1.0, 0.0]] * 2), [0, 1]))
    others: dict[str, list[int | None]] = {"n_items": [2, 3], "at_once": [None, 1]}
    rows = PeerRank.rows(found, ["a", "b"], [2.0, 1.0], **pairs, **others)
    assert [(row.rank, row.model, row.n_items, row.at_once) for row in rows] == [
        *((1, "b", 3, 1), (2, "a", 2, None)),
    ]


@pytest.mark.parametrize("kind", [LeaderboardRow, StrengthRow, PeerRank])
def test_the_value_has_a_name_of_its_own(kind: type[Placed]) -> None:
    row = object.__new__(kind)
    object.__setattr__(row, "value", 0.75)
    assert getattr(row, kind.NAME) == 0.75
