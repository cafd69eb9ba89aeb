"""One row of a ranking: filled from a bootstrap, and sorted best first."""

import numpy as np
import pytest

from tiebreak.analysis.leaderboard import LeaderboardRow
from tiebreak.analysis.peers.ranking import PeerRank
from tiebreak.analysis.standing import Standing
from tiebreak.analysis.strengths import StrengthRow
from tiebreak.rankers import bootstrap_items


def test_a_standing_is_the_column_of_a_bootstrap() -> None:
    table = np.array([[1.0, 0.5, 0.0, np.nan], [1.0, 0.0, 0.5, np.nan], [0.5, 1.0, 0.0, 0.25]])
    found = bootstrap_items(table)
    rows = Standing.rows(found, "abcd")
    first, alone = rows[0], next(row for row in rows if row.model == "d")
    assert (first.rank, first.model) == (1, "a")
    assert first.value == pytest.approx(2.5 / 3)
    assert (first.lower, first.upper) == (found.lower[0], found.upper[0])
    assert (first.rank_lower, first.rank_upper) == (found.rank_lower[0], found.rank_upper[0])
    assert first.prob_first == found.prob_first[0]
    # In one item only: a value, but no interval.
    assert (alone.value, alone.rank_lower, alone.rank_upper) == (0.25, None, None)
    assert np.isnan([alone.lower, alone.upper, alone.prob_first]).all()


def test_models_without_a_rank_come_last() -> None:
    found = bootstrap_items(np.array([[np.nan, 0.5, 0.5, np.nan, 1.0]] * 2))
    rows = Standing.rows(found, ["b", "d", "c", "a", "e"])
    assert [(row.rank, row.model) for row in rows] == [
        *((1, "e"), (2, "c"), (2, "d")),
        *((None, "a"), (None, "b")),
    ]


def test_ranks_and_further_fields_may_be_given() -> None:
    found = bootstrap_items(np.array([[1.0, 0.0]] * 2))
    rows = PeerRank.rows(found, ["a", "b"], [2.0, 1.0], n_items=[2, 3], at_once=[None, 1])
    assert [(row.rank, row.model, row.n_items, row.at_once) for row in rows] == [
        *((1, "b", 3, 1), (2, "a", 2, None)),
    ]


@pytest.mark.parametrize("kind", [LeaderboardRow, StrengthRow, PeerRank])
def test_the_value_has_a_name_of_its_own(kind: type[Standing]) -> None:
    row = object.__new__(kind)
    object.__setattr__(row, "value", 0.75)
    assert getattr(row, kind.NAME) == 0.75
