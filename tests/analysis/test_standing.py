"""One row of a ranking: filled from a bootstrap, and sorted best first."""

import numpy as np
import pytest

from tiebreak.analysis.leaderboard import LeaderboardRow
from tiebreak.analysis.peers.ranking import PeerRank
from tiebreak.analysis.standing import Standing, best_first
from tiebreak.analysis.strengths import StrengthRow
from tiebreak.rankers import bootstrap_items, competition_ranks


def test_a_standing_is_the_column_of_a_bootstrap() -> None:
    table = np.array([[1.0, 0.5, 0.0, np.nan], [1.0, 0.0, 0.5, np.nan], [0.5, 1.0, 0.0, 0.25]])
    found = bootstrap_items(table)
    ranks = competition_ranks(found.score)
    rows = [Standing.of(found, n, "abcd"[n], rank) for n, rank in enumerate(ranks)]
    first = rows[0]
    assert (first.rank, first.model) == (1, "a")
    assert first.value == pytest.approx(2.5 / 3)
    assert (first.lower, first.upper) == (found.lower[0], found.upper[0])
    assert (first.rank_lower, first.rank_upper) == (found.rank_lower[0], found.rank_upper[0])
    assert first.prob_first == found.prob_first[0]
    alone = rows[3]  # present in one item: a value, but no interval
    assert (alone.value, alone.rank_lower, alone.rank_upper) == (0.25, None, None)
    assert np.isnan([alone.lower, alone.upper, alone.prob_first]).all()


def test_models_without_a_rank_come_last() -> None:
    rows = [Standing(rank, name, 0, 0, 0, 0, 0, 0) for rank, name in ((None, "a"), (2, "c"))]
    rows += [Standing(2, "b", 0, 0, 0, 0, 0, 0), Standing(None, "A", 0, 0, 0, 0, 0, 0)]
    assert [row.model for row in sorted(rows, key=best_first)] == ["b", "c", "A", "a"]


@pytest.mark.parametrize("kind", [LeaderboardRow, StrengthRow, PeerRank])
def test_the_value_has_a_name_of_its_own(kind: type[Standing]) -> None:
    row = object.__new__(kind)
    object.__setattr__(row, "value", 0.75)
    assert getattr(row, kind.NAME) == 0.75
