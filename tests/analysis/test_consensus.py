"""The same ballots by several methods: what is counted, what cannot be, and what is printed."""

import json
from typing import Any

import numpy as np
import pytest

from tests.report.showing import printed as show
from tests.report.showing import round_trip
from tiebreak.analysis.consensus import Election, elect
from tiebreak.rankers import AGGREGATORS, Profile, kemeny_young
from tiebreak.rankers.errors import RankingError
from tiebreak.report.sheets.consensus import election_data, sheet_of
from tiebreak.tables import BallotFile

NAN = np.nan
# Two against two on a and b; the fifth ranks nobody else and puts b first.
PARTIAL = Profile.from_ranks(
    np.array([[1, 2, 3], [1, 2, 3], [2, 1, 3], [2, 1, 3], [2, 1, NAN]]), ["a", "b", "c"]
)
NOBODY_COMPLETE = Profile.from_ranks(np.array([[1, 2, NAN], [NAN, 1, 2]]), ["a", "b", "c"])


def ballots(profile: Profile, **more: Any) -> BallotFile:
    return BallotFile("e", "f.csv", profile, **more)


def printed(election: Election) -> str:
    return show(sheet_of(election))


def test_every_method_side_by_side() -> None:
    election = elect(ballots(PARTIAL, notes=("one was left out",)), tuple(AGGREGATORS))
    assert tuple(election.consensuses) == tuple(AGGREGATORS)
    assert election.kemeny is not None
    assert election.kemeny.order == kemeny_young(PARTIAL).order == (1, 0, 2)
    # Kendall drops the ballot that decides.
    assert election.consensuses["kendall"].dropped == 1
    text = printed(election)
    assert "Kem   Avg   Bor   Cop   Dod   IRV   Ken   Spm" in text
    assert "kendall: 4 ballots counted, 1 dropped" in text
    assert "Note: one was left out" in text
    for name in "abc":
        assert f"\n{name}  " in text


def test_one_method_with_scores() -> None:
    text = printed(elect(ballots(PARTIAL), ["average"]))
    assert "average: 5 ballots counted; a lower score is better" in text
    assert "1.400" in text  # b: (2 + 2 + 1 + 1 + 1) / 5


def test_a_method_that_cannot_count_leaves_the_others() -> None:
    election = elect(ballots(NOBODY_COMPLETE), ["kendall", "borda"])
    assert list(election.consensuses) == ["borda"]
    assert "complete" in str(election.failed["kendall"])
    assert "kendall: no result" in printed(election)
    data = round_trip(election_data(election))
    assert data["failed"].keys() == {"kendall"}
    assert [one["method"] for one in data["results"]] == ["borda"]


def test_without_any_result_it_is_an_error_that_names_the_file() -> None:
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
    election = elect(ballots(hard), ["kemeny_young"], time_limit=0.0)
    assert election.kemeny is not None
    assert not election.kemeny.optimal
    assert "not proven" in printed(election)
    assert "stopped at a limit, of 0 s or of memory; --time-limit" in " ".join(
        printed(election).split()
    )
    every = elect(ballots(hard), tuple(AGGREGATORS), time_limit=0.0)
    assert set(every.failed) == {"dodgson", "kendall"}
    assert "not proven in time" in str(every.failed["dodgson"])


def test_as_data() -> None:
    data = election_data(elect(ballots(PARTIAL), ["kemeny_young", "borda"]))
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["candidates"] == ["a", "b", "c"]
    kemeny, borda = data["results"]
    assert kemeny["kemeny"]["order"] == ["b", "a", "c"]
    assert borda["kemeny"] is None
