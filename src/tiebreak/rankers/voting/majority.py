"""Rules that count majorities between pairs: Copeland, Dodgson, Kendall and Kemeny–Young."""

import time
from collections import Counter
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.rankers.consensus import Consensus, consensus_by
from tiebreak.rankers.errors import RankingError, UnprovenOrderError
from tiebreak.rankers.pairwise import margins
from tiebreak.rankers.profile import FloatArray, IntArray, Profile, as_profile


def copeland(profile: Profile | ArrayLike) -> Consensus:
    """Order by pairwise victories minus pairwise defeats, higher is better.

    Score of i = #{j : D_ij > 0} − #{j : D_ij < 0}, in [−(N − 1), N − 1], where D_ij is the number
    of ballots that rank i before j minus the number that rank j before i. A pair with D_ij = 0,
    or that no ballot compares, gives nothing to either.

    Ties and partial ballots: a ballot has no say on a pair that it ties or does not rank in full.

    Source: Peer review, appendix D (Saari and Merlin 1996).
    """
    ballots = as_profile(profile)
    net = np.sign(margins(ballots)).sum(axis=1)
    return consensus_by("copeland", net, ascending=False, used=ballots.n_ballots)


# What lifting a candidate past one more group of a ballot has gained so far: the total margin, and
# the margin against each opponent that it does not beat yet.
Lift = tuple[int, tuple[int, ...]]


def dodgson(profile: Profile | ArrayLike, *, time_limit: float | None = None) -> Consensus:
    """Order by the number of swaps that make a candidate the Condorcet winner, lower is better.

    Score of c = the smallest number of swaps of neighbours in the ballots after which c beats
    every other candidate. It is enough to move c up, so the score is an integer program over (kind
    of ballot, how far c is lifted in it).

    The paper leaves open what beats means where ballots split evenly, tie candidates or leave some
    out, and who is first among equals:

    Beats: more ballots rank c before the other than after it. An even split is no victory: with two
    opposite ballots of two candidates each takes a swap.
    Equal scores: tied in the result.
    Ties: c passes a tied group as a whole, at one swap for each member. To leave a tie upwards
    costs half a swap for each tied candidate, as in the distance of Kemeny and Snell (1962): two
    ballots that break the tie either way would cost one swap. No new ties are made.
    Partial ballots: c only passes candidates that the ballot ranks, and a ballot that does not
    rank c stays as it is. If no ballot ranks c beside some other candidate, c can never beat it:
    its score is inf, and it is last, tied with all others of this kind.

    Source: Peer review, appendix D (Brandt 2009). Integer program: Bartholdi, Tovey and Trick,
    "Voting schemes for which it can be difficult to tell who won the election" (1989).

    After `time_limit` seconds it gives up; hard integer programs may take for ever.

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
    """Fewest swaps in the ballots that bring all margins of `column` above 0."""
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
            # Each ballot is lifted once, and the rivals are beaten.
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
    # A swap moves the margin by 2, a broken tie by 1.
    return float(cost @ times) / 2


def _lifts(ballot: FloatArray, column: int, rivals: IntArray) -> tuple[Lift, ...]:
    """The lifts of `column` in a ballot that gain something against rivals, smallest first."""
    # NaN compares as False: a ballot that does not rank `column` has no lift.
    own = ballot[column]
    tied = ballot == own
    tied[column] = False
    lifts: list[Lift] = []
    before: tuple[int, ...] = (0,) * len(rivals)
    for top in np.unique(ballot[ballot <= own])[::-1]:
        gain = tied + 2 * ((top <= ballot) & (ballot < own))
        against = tuple(gain[rivals].tolist())
        if against != before:
            lifts.append((int(gain.sum()), against))
            before = against
    return tuple(lifts)


def kendall(profile: Profile | ArrayLike, *, time_limit: float | None = None) -> Consensus:
    """The order with the smallest total Kendall distance to the complete ballots.

    argmin over orders π of Σ_b K(π, r_b), where K counts the pairs that the two put the opposite
    way round. The score is the place in the order, 1 … N.

    The paper takes ballots for complete and strict. There the order also has the largest total τ
    (its table 4); it leaves open ties, and which of several best orders counts:

    Ties: a pair that a ballot ties adds nothing, whichever way round the order puts it. This is the
    distance; the largest total τ-b can be another order, as it weighs each ballot by its ties.
    Several best orders: the one that `kemeny_young` documents. `aggregate_items` takes the one that
    Borda's count says, or the mean of two.
    Partial ballots: left out, and counted in `dropped`. That is the whole difference from
    Kemeny–Young, which also uses what partial ballots say about the pairs that they rank.

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
    """Kemeny–Young as a consensus: no ties, the score is the place, 1 … N (see `kemeny_young`).

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
