"""Copeland's rule."""

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.rankers.consensus import Consensus, consensus_by
from tiebreak.rankers.pairwise import margins
from tiebreak.rankers.profile import Profile, as_profile


def copeland(profile: Profile | ArrayLike) -> Consensus:
    """Order by pairwise victories minus pairwise defeats, higher is better.

    Score of i = #{j : D_ij > 0} − #{j : D_ij < 0}, in [−(N − 1), N − 1], where D_ij is the number
    of ballots that rank i before j minus the number that rank j before i. A pair with D_ij = 0,
    or that no ballot compares, gives nothing to either.

    Ties and partial ballots: a ballot has no say on a pair that it ties or does not rank in full.

    Source: Peer review, appendix D (Saari and Merlin 1996).

    Raises:
        RankingError: as `Profile.from_ranks`.
    """
    ballots = as_profile(profile)
    net = np.sign(margins(ballots)).sum(axis=1)
    return consensus_by("copeland", net, ascending=False, used=ballots.n_ballots)
