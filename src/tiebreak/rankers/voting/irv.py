"""Instant-runoff voting, carried on to a complete ranking."""

from math import lcm
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.rankers.consensus import Consensus, consensus_by
from tiebreak.rankers.errors import UnknownMethodError
from tiebreak.rankers.pairwise import IntArray, margins
from tiebreak.rankers.profile import FloatArray, Profile, as_profile

Ties = Literal["borda", "together"]


def irv(profile: Profile | ArrayLike, *, ties: Ties = "borda") -> Consensus:
    """Order by elimination: in each round the candidate with the fewest first places goes out.

    The score is the round in which a candidate goes out, higher is better; the last one standing
    is first. Rounds go on after somebody has a majority of the first places, which does not
    change the winner.

    Ties within a ballot: candidates that share the top of a ballot, among those still in, share
    its vote equally. Votes are counted exactly, in whole numbers.
    Partial ballots: a ballot none of whose candidates is still in has no vote any more.
    Ties for the fewest first places, by `ties`:
        "borda": of those, the one with the lowest sum of pairwise margins against all that are
            still in goes out (on complete ballots: the lowest Borda count). Those that are equal
            in this too go out together.
        "together": all of those go out together.
    Candidates that go out together are tied in the result.

    Source: Peer review, appendix D (Brandt 2009).

    Raises:
        UnknownMethodError: `ties` is neither "borda" nor "together".
        RankingError: as `Profile.from_ranks`.
    """
    if ties not in get_args(Ties):
        raise UnknownMethodError(f"ties must be 'borda' or 'together', got {ties!r}")
    ballots = as_profile(profile)
    margin = margins(ballots)
    rounds = np.zeros(ballots.n_candidates, dtype=np.int64)
    standing = np.arange(ballots.n_candidates)
    number = 0
    while standing.size:
        number += 1
        votes = _first_places(ballots.ranks[:, standing])
        out = standing[votes == votes.min()]
        if ties == "borda":
            out = _weakest(out, margin[np.ix_(out, standing)])
        rounds[out] = number
        standing = np.setdiff1d(standing, out)
    return consensus_by("irv", rounds, ascending=False, used=ballots.n_ballots)


def _first_places(ranks: FloatArray) -> NDArray[np.object_]:
    """First places of each candidate, shape (n,), times a number that makes all of them whole."""
    live = ranks[~np.isnan(ranks).all(axis=1)]
    top = live == np.nanmin(live, axis=1, keepdims=True)
    sharing: list[int] = top.sum(axis=1).tolist()
    whole = lcm(*sharing)
    # Python's whole numbers: the least common multiple of many sizes can exceed 64 bits.
    vote = np.array([whole // size for size in sharing], dtype=object)
    return np.array([sum(vote[column]) for column in top.T], dtype=object)


def _weakest(candidates: IntArray, margin: IntArray) -> IntArray:
    """Those of the candidates whose margins, shape (candidates, standing), have the lowest sum."""
    totals = margin.sum(axis=1)
    weakest: IntArray = candidates[totals == totals.min()]
    return weakest
