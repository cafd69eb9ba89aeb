"""The same ballots by several methods: what is counted, what cannot be, and what is printed."""

from typing import Any

import numpy as np
import pytest

from tests.report.showing import printed as show
from tests.report.showing import round_trip
from tiebreak.analysis.consensus import Election, elect
from tiebreak.rankers import AGGREGATORS, Profile
from tiebreak.rankers.errors import RankingError
from tiebreak.report.sheets.consensus import election_data, sheet_of
from tiebreak.tables import BallotFile

NAN = np.nan
NOBODY_COMPLETE = Profile.from_ranks(np.array([[1, 2, NAN], [NAN, 1, 2]]), ["a", "b", "c"])


def ballots(profile: Profile, **more: Any) -> BallotFile:
    return BallotFile("e", "f.csv", profile, **more)


def printed(election: Election) -> str:
    return show(sheet_of(election))


def test_a_method_that_cannot_count_leaves_the_others() -> None:
    election = elect(ballots(NOBODY_COMPLETE), ["kendall", "borda"])
    assert list(election.consensuses) == ["borda"]
    assert "complete" in str(election.failed["kendall"])
    assert "kendall: no result" in printed(election)
    data = round_trip(election_data(election))
    assert data["failed"].keys() == {"kendall"}
    assert [one["method"] for one in data["results"]] == ["borda"]
    with pytest.raises(RankingError, match=r"f\.csv: .*complete"):
        elect(ballots(NOBODY_COMPLETE), ["kendall"])


def test_item_by_item() -> None:
    # Item 0 says a, b, c unanimously; items 1 and 2 say b, a, c.
    profile = Profile.from_ranks(np.array([[1, 2, 3]] * 2 + [[2, 1, 3]] * 3))
    items = ("q0", "q0", "q1", "q1", "q2")
    election = elect(ballots(profile, items=items), per_item=True)
    assert election.kemeny is None
    consensus = election.consensuses["kemeny_young"]
    np.testing.assert_allclose(consensus.scores, [5 / 3, 4 / 3, 3])
    np.testing.assert_array_equal(consensus.ranks, [2, 1, 3])
    assert consensus.used == 5
    assert "mean rank over 3 items" in printed(election)


def test_a_time_limit_reaches_kemeny() -> None:
    rng = np.random.default_rng(0)
    hard = Profile.from_ranks(rng.random((11, 60)))
    every = elect(ballots(hard), tuple(AGGREGATORS), time_limit=0.0)
    assert every.kemeny is not None
    assert not every.kemeny.optimal
    text = " ".join(printed(every).split())
    assert "not proven" in text
    assert "stopped at a limit, of 0 s or of memory; --time-limit" in text
    assert set(every.failed) == {"dodgson", "kendall"}
    assert "not proven in time" in str(every.failed["dodgson"])
