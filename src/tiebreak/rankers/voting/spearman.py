"""Spearman aggregation, by the assignment problem."""

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.rankers.consensus import Consensus, consensus_by
from tiebreak.rankers.pairwise import IntArray
from tiebreak.rankers.profile import FloatArray, Profile, as_profile

# Mean ranks are rounded to this fraction, so that all sums are whole numbers and exact.
_UNIT = 2**20


def spearman(profile: Profile | ArrayLike) -> Consensus:
    """The order with the smallest sum of squared rank deviations from the ballots.

    argmin over orders π of Σ_b Σ_j (π(j) − r'_b(j))², over the candidates j that ballot b ranks:
    an assignment of candidates to places, solved exactly. On complete strict ballots this is the
    largest total Spearman correlation.

    Ties: tied candidates share the mean of the places that they take up.
    Partial ballots: rank r among n is read as r' = r(N + 1)/(n + 1), its expected rank among all N
    if the other candidates fall anywhere with equal chance; so the sum is, but for a constant, the
    expected sum over the ways to complete the ballot. On complete ballots r' = r.
    Several best orders: candidates that change places between them are tied, together with those
    that stand in between; all best orders agree on the rest. The score is the mean of the places
    that a tied group takes up, lower is better.

    Source: Peer review, appendix D. Assignment: Dwork, Kumar, Naor and Sivakumar, "Rank
    aggregation methods for the web" (2001), who take |·| for the square and r/n for r'/N.

    Raises:
        RankingError: as `Profile.from_ranks`.
    """
    from scipy.optimize import linear_sum_assignment

    ballots = as_profile(profile)
    cost = _costs(ballots)
    place = linear_sum_assignment(cost)[1]
    return consensus_by("spearman", _undecided(cost, place), ascending=True, used=ballots.n_ballots)


def _costs(ballots: Profile) -> IntArray:
    """Cost of candidate j in place p, shape (N, N), in units, less the part that p leaves alone.

    Σ_b (p − r')² = n_j p² − 2 p Σ_b r' + Σ_b r'², over the n_j ballots that rank j.
    """
    ranked = ~np.isnan(ballots.ranks)
    lengths = ranked.sum(axis=1, keepdims=True)
    expected = ballots.ranks * (ballots.n_candidates + 1) / (lengths + 1)
    total = np.rint(np.nansum(expected, axis=0) * _UNIT).astype(np.int64)
    count = ranked.sum(axis=0).astype(np.int64) * _UNIT
    places = np.arange(1, ballots.n_candidates + 1, dtype=np.int64)
    costs: IntArray = count[:, None] * places**2 - 2 * total[:, None] * places
    return costs


def _undecided(cost: IntArray, place: IntArray) -> FloatArray:
    """Mean place of each candidate's tied group, where `place` (from 0) is one optimum.

    A candidate can take another's place in some optimum if that move closes a cycle of moves of
    total cost 0; `chain` holds the cheapest chains of moves (Floyd–Warshall).
    """
    n = len(place)
    move = cost[:, place] - cost[np.arange(n), place][:, None]
    chain = move
    for via in range(n):
        chain = np.minimum(chain, chain[:, via, None] + chain[via])
    possible = move + chain.T == 0
    lowest = np.where(possible, place, n).min(axis=1)
    highest = np.where(possible, place, -1).max(axis=1)
    places = np.arange(n)
    # Place p continues the group of p − 1 if some candidate can stand on both sides of the border.
    joined = np.any((lowest < places[:, None]) & (places[:, None] <= highest), axis=1)
    group = np.cumsum(~joined) - 1
    means = np.bincount(group, weights=places + 1) / np.bincount(group)
    own: FloatArray = means[group[place]]
    return own
