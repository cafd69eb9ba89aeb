import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.stats import rankdata

from tiebreak.rankers.consensus import consensus_by
from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.profile import (
    Profile,
    as_ballots,
    as_profile,
    components,
    margins,
    preference_counts,
)

NAN, INF = math.nan, math.inf


cells = st.one_of(st.integers(1, 4).map(float), st.just(NAN))


@pytest.mark.slow
@settings(deadline=None)
@given(arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 5)), elements=cells))
def test_ranks_are_those_of_scipy(table: NDArray[np.float64]) -> None:
    profile = Profile.from_ranks(np.vstack([table, np.arange(1.0, table.shape[1] + 1)]))
    ballots = [ballot for ballot in table if not np.isnan(ballot).all()]
    assert profile.n_ballots == len(ballots) + 1
    for kept, ballot in zip(profile.ranks, ballots, strict=False):
        np.testing.assert_array_equal(kept, rankdata(ballot, nan_policy="omit"))


def test_every_constructor_gives_the_same_profile() -> None:
    names = ["a", "b", "c"]
    profiles = [
        Profile.from_ranks(np.array([[1, 2, 3], [2, 1, NAN], [1, 1, 3]]), names),
        Profile.from_scores(np.array([[9, 5, 1], [0.1, 0.2, NAN], [3, 3, 0]]), names),
        Profile.from_orderings([["a", "b", "c"], ["b", "a"], [{"a", "b"}, "c"]]),
    ]
    for profile in profiles:
        assert profile.names == ("a", "b", "c")
        np.testing.assert_array_equal(profile.ranks, [[1, 2, 3], [2, 1, NAN], [1.5, 1.5, 3]])
        assert not profile.ranks.flags.writeable


def test_a_match_is_a_ballot_over_two() -> None:
    profile = Profile.from_pairwise([("a", "b", 1), ("b", "c", 0), ("a", "c", 0.5)])
    assert profile.names == ("a", "b", "c")
    np.testing.assert_array_equal(profile.ranks, [[1, 2, NAN], [NAN, 2, 1], [1.5, NAN, 1.5]])


def test_a_ballot_that_ranks_nobody_is_left_out() -> None:
    assert Profile.from_ranks(np.array([[NAN, NAN], [2, 1]])).n_ballots == 1


def test_a_profile_passes_through() -> None:
    profile = Profile.from_ranks([[1, 2]])
    assert as_profile(profile) is profile
    assert as_ballots(profile) is profile
    assert as_profile([[2, 1]]).names == ("0", "1")


def test_ballots_keep_their_ranks_and_are_checked_as_a_profile() -> None:
    table = [[3.0, 7.0, np.nan], [np.nan] * 3, [2.0, 2.0, 9.0]]
    ballots = as_ballots(table)
    np.testing.assert_array_equal(ballots.ranks, [table[0], table[2]])
    assert ballots.names == ("0", "1", "2")
    with pytest.raises(RankingError, match="no ballot ranks '1'"):
        as_ballots([[1.0, np.nan]])


@pytest.mark.slow
@settings(deadline=None)
@given(arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 4)), elements=cells))
def test_pairwise_counts_by_going_through_the_ballots(table: NDArray[np.float64]) -> None:
    profile = Profile.from_ranks(np.vstack([table, np.arange(1.0, table.shape[1] + 1)]))
    n = profile.n_candidates
    expected = [
        [sum(bool(ballot[i] < ballot[j]) for ballot in profile.ranks) for j in range(n)]
        for i in range(n)
    ]
    np.testing.assert_array_equal(preference_counts(profile), expected)
    np.testing.assert_array_equal(margins(profile), np.subtract(expected, np.transpose(expected)))


@pytest.mark.parametrize("n", [1, 2, 3, 9, 33])
def test_components_are_those_of_scipy(n: int) -> None:
    rng = np.random.default_rng(n)
    ring = np.roll(np.eye(n, dtype=np.bool_), 1, axis=1)  # the longest way round
    for edges in (ring, *(rng.random((n, n)) < share / n for share in (0.0, 0.7, 1.0, 1.5, 3.0))):
        _, label = connected_components(edges, directed=True, connection="strong")
        expected = [label.tolist().index(own) for own in label.tolist()]
        assert components(edges).tolist() == expected


def test_equal_scores_are_ties() -> None:
    third = consensus_by("x", np.array([1 / 3, 0.1 + 0.2, 0.3, 1.0]), ascending=False, used=1)
    np.testing.assert_array_equal(
        third.ranks, [2, 3.5, 3.5, 1]
    )  # 0.1 + 0.2 is 0.3 but for rounding
    assert third.groups == ((3,), (0,), (1, 2))
    np.testing.assert_array_equal(
        consensus_by("x", np.array([2.0, 1.0]), ascending=True, used=1).ranks, [2, 1]
    )
