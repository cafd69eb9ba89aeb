"""Voting rules that merge many rankings into one.

Positional rules are average rank, Borda, Spearman and instant-runoff voting (IRV); rules based on
pairwise comparisons are Copeland, Dodgson, Kendall and Kemeny–Young.

Each rule takes a profile and returns a `Consensus`; its docstring gives the formula, the treatment
of ties within a ballot and of partial ballots, and the source. "Not ranked" is no information: a
ballot counts only for the candidates that it ranks. Rules take a `Profile`, or ranks of shape
(ballots, N), lower is better, NaN = not ranked, and raise `RankingError` as `Profile.from_ranks`.
"""

import time
from collections import Counter
from math import inf, lcm
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.rankers.consensus import Consensus, consensus_by
from tiebreak.rankers.errors import RankingError, UnprovenOrderError
from tiebreak.rankers.profile import (
    FloatArray,
    IntArray,
    Profile,
    as_profile,
    margins,
    within_ballots,
)


def average(profile: Profile | ArrayLike) -> Consensus:
    """Order by the mean rank, lower is better.

    Score of j = mean of r_b(j) over the ballots b that rank j.

    Ties: tied candidates share the mean of the places that they take up.
    Partial ballots: a ballot that ranks n candidates gives them the ranks 1 … n, and counts only
    for them. Third of three and third of thirty thus count the same; `borda` and `spearman` adjust
    for different lengths of ballots.

    Source: Peer review, appendix D.
    """
    ballots = as_profile(profile)
    # A profile ranks every candidate at least once, so no column is all NaN.
    return consensus_by(
        "average", np.nanmean(ballots.ranks, axis=0), ascending=True, used=ballots.n_ballots
    )


Unranked = Literal["ignore", "last"]


def borda(profile: Profile | ArrayLike, *, unranked: Unranked = "ignore") -> Consensus:
    """Order by the Borda count, higher is better.

    A ballot gives a candidate one point for each candidate that it ranks below it. On M complete
    ballots over N candidates the score is the classical sum of N − r_b(j).

    Ties: half a point for each tied candidate.
    Partial ballots, by `unranked`:
        "ignore": only the candidates that a ballot ranks are compared. The score is the share of
            possible points that j won, scaled to complete ballots: (points of j) / (comparisons of
            j) · M(N − 1). Ballots with strong and with weak opponents have the same weight, and the
            ballots' lengths do not matter. (Two groups of ballots can give the same order and their
            union another, because shares do not add up as sums do.)
        "last": candidates that a ballot does not rank are tied for last place, as suits ballots
            that name the best candidates only. The score is a plain sum.

    Source: Peer review, appendix D (Saari 1985). Borda counts for ties and for partial ballots:
    Terzopoulou and Endriss, "The Borda class", J. Math. Econ. 92 (2021).

    Raises:
        RankingError: `unranked` is "ignore", and no ballot compares some candidate with another;
            `unranked` is neither "ignore" nor "last".
    """
    if unranked not in get_args(Unranked):
        raise RankingError(f"unranked must be 'ignore' or 'last', got {unranked!r}")
    ballots = as_profile(profile)
    ranks = ballots.ranks if unranked == "ignore" else _last(ballots.ranks)
    ranked = ~np.isnan(ranks)
    opponents = np.sum(ranked, axis=1, keepdims=True) - 1.0
    points = np.nansum(1 + opponents - ranks, axis=0)
    compared = np.sum(np.where(ranked, opponents, 0), axis=0)
    return consensus_by(
        "borda", _scaled(points, compared, ballots), ascending=False, used=ballots.n_ballots
    )


def _last(ranks: FloatArray) -> FloatArray:
    """The ballots with their unranked candidates tied in the last place."""
    return within_ballots(np.where(np.isnan(ranks), ranks.shape[1] + 1, ranks))


def _scaled(points: FloatArray, compared: FloatArray, ballots: Profile) -> NDArray[np.float64]:
    if ballots.n_candidates == 1:
        return points
    alone = np.flatnonzero(compared == 0)
    if alone.size:
        names = ", ".join(repr(ballots.names[column]) for column in alone)
        raise RankingError(f"no ballot ranks {names} beside another candidate")
    # Multiply before dividing: the products are exact, so equal shares give equal scores.
    return points * (ballots.n_ballots * (ballots.n_candidates - 1)) / compared


# Expected ranks are rounded to multiples of 1 / _UNIT, so that integer costs are exact.
_UNIT = 2**20
MOST_CANDIDATES = 2_000
"""Largest number of candidates for `spearman` and `irv`: 20 seconds."""


def spearman(profile: Profile | ArrayLike) -> Consensus:
    """The order with the smallest sum of squared rank deviations from the ballots.

    argmin over orders π of Σ_b Σ_j (π(j) − r'_b(j))², over the candidates j that ballot b ranks:
    an assignment of candidates to places, solved exactly. On complete strict ballots this is the
    largest total Spearman correlation.

    The paper equates the two and does not define ties, partial ballots, and several best orders:

    Ties: tied candidates share the mean of the places that they take up. The squared deviations are
    not weighted; the order with the largest total correlation can differ, because a correlation
    weights each ballot by its ties.
    Partial ballots: rank r among n is read as r' = r(N + 1)/(n + 1), its expected rank among all N
    if the other candidates are inserted at random; up to a constant, the sum is then the expected
    sum over the ways to complete the ballot. On complete ballots r' = r.
    Several best orders: candidates that swap places between best orders are tied, together with the
    candidates in between; all best orders agree on the rest. The score is the mean place of the
    tied group, lower is better.

    Source: Peer review, appendix D. Assignment: Dwork, Kumar, Naor and Sivakumar, "Rank aggregation
    methods for the web" (2001), who use |·| instead of the square and r/n instead of r'/N.

    Raises:
        RankingError: more than `MOST_CANDIDATES`.
    """
    from scipy.optimize import linear_sum_assignment

    ballots = as_profile(profile)
    ballots.require_at_most(MOST_CANDIDATES, "an assignment is made of")
    cost = _costs(ballots)
    place = linear_sum_assignment(cost)[1]
    return consensus_by("spearman", _undecided(cost, place), ascending=True, used=ballots.n_ballots)


def _costs(ballots: Profile) -> IntArray:
    """Cost of candidate j in place p, shape (N, N), in 1 / `_UNIT`, without terms independent of p.

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
    """Mean place of each candidate's tied group; `place` (from 0) is one optimal assignment.

    A candidate can take another's place in some optimum if the move is part of a cycle of moves
    with total cost 0; `chain` holds the costs of the cheapest chains of moves (Floyd–Warshall).
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
    # Places p − 1 and p are in one group if some candidate can take a place on either side.
    joined = np.any((lowest < places[:, None]) & (places[:, None] <= highest), axis=1)
    group = np.cumsum(~joined) - 1
    means = np.bincount(group, weights=places + 1) / np.bincount(group)
    mean_places: FloatArray = means[group[place]]
    return mean_places


Ties = Literal["borda", "together"]


def irv(profile: Profile | ArrayLike, *, ties: Ties = "borda") -> Consensus:
    """Order by elimination: in each round the candidate with the fewest first places is eliminated.

    The score is the round in which a candidate is eliminated, higher is better; the last remaining
    candidate is first. Rounds continue after a candidate has a majority of the first places, which
    does not change the winner.

    The paper does not say who gets the vote of a ballot that ties its first candidates or has none
    left, nor who is eliminated if several have the fewest first places. With few ballots this
    matters: of six random ballots on six candidates 77% have such a tie in the first round.

    Ties within a ballot: remaining candidates that are tied at the top of a ballot share its vote
    equally. Votes are counted exactly, in whole numbers.
    Partial ballots: a ballot whose candidates are all eliminated has no vote.
    Ties for the fewest first places, by `ties`:
        "borda": of these, the candidate with the lowest sum of pairwise margins against all
            remaining candidates is eliminated (on complete ballots: the lowest Borda count).
            Candidates that tie in this too are eliminated together.
        "together": all of these are eliminated together.
    Candidates eliminated together are tied in the result.

    Source: Peer review, appendix D (Brandt 2009).

    Raises:
        RankingError: `ties` is neither "borda" nor "together"; more than `MOST_CANDIDATES`.
    """
    if ties not in get_args(Ties):
        raise RankingError(f"ties must be 'borda' or 'together', got {ties!r}")
    ballots = as_profile(profile)
    ballots.require_at_most(MOST_CANDIDATES, "elimination goes through")
    margin = margins(ballots)
    rounds = np.zeros(ballots.n_candidates, dtype=np.int64)
    standing = np.arange(ballots.n_candidates)
    number = 0
    while standing.size:
        number += 1
        votes = _first_places(ballots.ranks[:, standing])
        out = standing[votes == votes.min()]
        if ties == "borda":
            totals = margin[np.ix_(out, standing)].sum(axis=1)
            out = out[totals == totals.min()]
        rounds[out] = number
        standing = np.setdiff1d(standing, out)
    return consensus_by("irv", rounds, ascending=False, used=ballots.n_ballots)


def _first_places(ranks: FloatArray) -> NDArray[np.object_]:
    """First places of each candidate, shape (n,), scaled so that all are whole numbers."""
    live = ranks[~np.isnan(ranks).all(axis=1)]
    top = live == np.nanmin(live, axis=1, keepdims=True)
    sharing: list[int] = top.sum(axis=1).tolist()
    unit = lcm(*sharing)
    # Python integers, because the least common multiple of many sizes can exceed 64 bits.
    vote = np.array([unit // size for size in sharing], dtype=object)
    return np.array([sum(vote[column]) for column in top.T], dtype=object)


def copeland(profile: Profile | ArrayLike) -> Consensus:
    """Order by pairwise victories minus pairwise defeats, higher is better.

    Score of i = #{j : D_ij > 0} − #{j : D_ij < 0}, in [−(N − 1), N − 1], where D_ij is the number
    of ballots that rank i before j minus the number that rank j before i. A pair with D_ij = 0, or
    that no ballot compares, counts for neither.

    Ties and partial ballots: a ballot does not count for pairs that it ties or does not rank.

    Source: Peer review, appendix D (Saari and Merlin 1996).
    """
    ballots = as_profile(profile)
    net = np.sign(margins(ballots)).sum(axis=1)
    return consensus_by("copeland", net, ascending=False, used=ballots.n_ballots)


# The gains of lifting a candidate past some groups of a ballot: in total margin (twice the number
# of swaps), and in the margin against each opponent that it does not beat yet.
Lift = tuple[int, tuple[int, ...]]


def dodgson(profile: Profile | ArrayLike, *, time_limit: float | None = None) -> Consensus:
    """Order by the number of swaps that make a candidate the Condorcet winner, lower is better.

    Score of c = the smallest number of swaps of neighbours in the ballots after which c beats every
    other candidate. It is enough to move c up, so the score is the optimum of an integer program
    over pairs (kind of ballot, how far c is lifted in it).

    The paper does not define "beats" if ballots split evenly, tie candidates or leave some out, nor
    who is first among equals:

    Beats: more ballots rank c before the other than after it. An even split is no victory: with two
    opposite ballots on two candidates each candidate needs a swap.
    Equal scores: tied in the result.
    Ties: c passes a tied group as a whole, at one swap for each member. Moving c out of a tie
    upwards costs half a swap for each tied candidate, as in the distance of Kemeny and Snell
    (1962), in which ballots that break the tie either way are one swap apart. No new ties are made.
    Partial ballots: c only passes candidates that the ballot ranks, and a ballot that does not rank
    c stays as it is. If no ballot ranks both c and some other candidate, c can never beat it: the
    score of c is inf, and c is last, tied with all other such candidates.

    Source: Peer review, appendix D (Brandt 2009). Integer program: Bartholdi, Tovey and Trick,
    "Voting schemes for which it can be difficult to tell who won the election" (1989).

    The search ends after `time_limit` seconds; without one, hard integer programs may never end.

    Raises:
        RankingError: as `Profile.from_ranks`.
        UnprovenOrderError: a score could not be proven.
    """
    deadline = inf if time_limit is None else time.monotonic() + time_limit
    ballots = as_profile(profile)
    ranked = ~np.isnan(ballots.ranks)
    compared = np.all(ranked.T.astype(np.int64) @ ranked, axis=1)
    margin = margins(ballots)
    scores = [
        _swaps(ballots, column, margin[column], deadline) if possible else inf
        for column, possible in enumerate(compared)
    ]
    return consensus_by("dodgson", np.array(scores), ascending=True, used=ballots.n_ballots)


def _swaps(ballots: Profile, column: int, margin: IntArray, deadline: float) -> float:
    """Smallest number of swaps in the ballots after which all margins of `column` are above 0."""
    from scipy.optimize import LinearConstraint, milp

    rivals = np.flatnonzero(margin <= 0)
    rivals = rivals[rivals != column]
    if not rivals.size:
        return 0.0
    kinds = Counter(_lifts(ballot, column, rivals) for ballot in ballots.ranks)
    lifts = [lift for kind in kinds for lift in kind]
    kind_of = np.repeat(np.arange(len(kinds)), [len(kind) for kind in kinds])
    cost = np.array([total for total, _ in lifts])
    gains = np.array([gain for _, gain in lifts]).T
    needs = 1 - margin[rivals]
    result = milp(
        cost,
        integrality=np.ones(len(cost), dtype=np.int64),
        constraints=[
            # Each ballot gets at most one lift, and all rivals must be beaten.
            LinearConstraint(kind_of == np.arange(len(kinds))[:, None], ub=list(kinds.values())),
            LinearConstraint(gains, lb=needs),
        ],
        options={"mip_rel_gap": 0, "time_limit": max(deadline - time.monotonic(), 0)},
    )
    if result.x is None or not result.success:
        why = " in time (time_limit)" if result.status == 1 else f": {result.message}"
        raise UnprovenOrderError(
            f"the fewest swaps that let {ballots.names[column]!r} win were not proven{why}"
        )
    times = np.rint(result.x)
    # A swap changes the margin by 2, a broken tie by 1.
    return float(cost @ times) / 2


def _lifts(ballot: FloatArray, column: int, rivals: IntArray) -> tuple[Lift, ...]:
    """Lifts of `column` in a ballot that improve a margin against rivals, smallest first."""
    # NaN compares as False: a ballot that does not rank `column` has no lift.
    rank = ballot[column]
    tied = ballot == rank
    tied[column] = False
    lifts: list[Lift] = []
    before: tuple[int, ...] = (0,) * len(rivals)
    for top in np.unique(ballot[ballot <= rank])[::-1]:
        gain = tied + 2 * ((top <= ballot) & (ballot < rank))
        against = tuple(gain[rivals].tolist())
        if against != before:
            lifts.append((int(gain.sum()), against))
            before = against
    return tuple(lifts)


def kendall(profile: Profile | ArrayLike, *, time_limit: float | None = None) -> Consensus:
    """The order with the smallest total Kendall distance to the complete ballots.

    argmin over orders π of Σ_b K(π, r_b), where K counts the pairs that the two order oppositely.
    The score is the place in the order, 1 … N.

    The paper assumes complete, strict ballots, for which the order also has the largest total τ
    (its table 4); it does not define ties, nor which of several best orders is chosen:

    Ties: a pair that a ballot ties adds nothing in either order. The order with the largest total
    τ-b can differ, because τ-b weights each ballot by its ties. Several best orders: the choice
    documented in `kemeny_young`. `aggregate_items` chooses by Borda count, or averages two.
    Partial ballots: left out, and counted in `dropped`. This is the only difference from
    Kemeny–Young, which also uses the pairs that partial ballots rank.

    Source: Peer review, appendix D (Kendall 1948).

    After `time_limit` seconds it gives up.

    Raises:
        RankingError: no ballot is complete; as `Profile.from_ranks`.
        UnprovenOrderError: no order could be proven to be the best.
    """
    ballots = as_profile(profile)
    complete = ~np.isnan(ballots.ranks).any(axis=1)
    if not complete.any():
        raise RankingError(
            f"none of the {ballots.n_ballots} ballots ranks all {ballots.n_candidates} candidates, "
            "and Kendall aggregation reads complete ballots only; Kemeny–Young reads partial ones"
        )
    kept = Profile(ballots.ranks[complete], ballots.names)
    return _optimal(kept, "kendall", int(np.sum(~complete)), time_limit)


def kemeny(profile: Profile | ArrayLike, *, time_limit: float | None = None) -> Consensus:
    """The Kemeny–Young order as a `Consensus`; scores are the places 1 … N (see `kemeny_young`).

    `time_limit` and `UnprovenOrderError` are those of `kendall`.
    """
    return _optimal(as_profile(profile), "kemeny_young", 0, time_limit)


def _optimal(ballots: Profile, method: str, dropped: int, time_limit: float | None) -> Consensus:
    from tiebreak.rankers.kemeny.solve import kemeny_young

    result = kemeny_young(ballots, time_limit=time_limit, max_orders=1)
    if not result.optimal:
        raise UnprovenOrderError(
            f"no order was proven to be optimal: {result.method}; kemeny_young returns the "
            f"best one found, which is within {result.gap} disagreements of the optimum"
        )
    return consensus_by(
        method, result.ranks, ascending=True, used=ballots.n_ballots, dropped=dropped
    )
