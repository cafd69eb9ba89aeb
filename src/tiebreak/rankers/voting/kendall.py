"""Kendall aggregation: Kemeny–Young on the complete ballots alone."""

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.rankers.consensus import Consensus, consensus_by
from tiebreak.rankers.errors import EmptyProfileError, UnprovenOrderError
from tiebreak.rankers.profile import Profile, as_profile


def kendall(profile: Profile | ArrayLike, *, time_limit: float | None = None) -> Consensus:
    """The order with the smallest total Kendall distance to the complete ballots.

    argmin over orders π of Σ_b K(π, r_b), where K counts the pairs that the two put the opposite
    way round. The score is the place in the order, 1 … N. Of several best orders, the one that
    `kemeny_young` documents.

    Ties: a pair that a ballot ties adds nothing, whichever way round the order puts it.
    Partial ballots: left out, and counted in `dropped`. That is the whole difference from
    Kemeny–Young, which also uses what partial ballots say about the pairs that they rank.

    Source: Peer review, appendix D (Kendall 1948).

    Args:
        profile: a Profile, or ranks of shape (ballots, N), lower is better, NaN = not ranked.
        time_limit: seconds after which to give up.

    Raises:
        EmptyProfileError: no ballot is complete.
        UnprovenOrderError: no order could be proven to be the best.
        RankingError: as `Profile.from_ranks`.
    """
    ballots = as_profile(profile)
    complete = ~np.isnan(ballots.ranks).any(axis=1)
    if not complete.any():
        raise EmptyProfileError(
            f"none of the {ballots.n_ballots} ballots ranks all {ballots.n_candidates} candidates, "
            "and Kendall aggregation reads complete ballots only; Kemeny–Young reads partial ones"
        )
    return kemeny_consensus(
        Profile(ballots.ranks[complete], ballots.names),
        "kendall",
        dropped=int(np.sum(~complete)),
        time_limit=time_limit,
    )


def kemeny_consensus(
    ballots: Profile, method: str, *, dropped: int = 0, time_limit: float | None = None
) -> Consensus:
    """Kemeny–Young as a consensus: no ties, the score is the place, 1 … N.

    Raises:
        UnprovenOrderError: the order could not be proven to be optimal.
    """
    from tiebreak.rankers.kemeny.solve import kemeny_young

    result = kemeny_young(ballots, time_limit=time_limit, max_orders=1)
    if not result.optimal:
        raise UnprovenOrderError(
            f"no order was proven to be optimal: {result.method}; `kemeny_young` returns the best "
            f"one found, which is within {result.gap} disagreements of the optimum"
        )
    return consensus_by(
        method, result.ranks, ascending=True, used=ballots.n_ballots, dropped=dropped
    )
