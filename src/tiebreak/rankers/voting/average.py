"""Average rank."""

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.rankers.consensus import Consensus, consensus_by
from tiebreak.rankers.profile import Profile, as_profile


def average(profile: Profile | ArrayLike) -> Consensus:
    """Order by the mean rank, lower is better.

    Score of j = mean of r_b(j) over the ballots b that rank j.

    Ties: tied candidates share the mean of the places that they take up.
    Partial ballots: a ballot that ranks n candidates gives the ranks 1 … n, and counts for those
    only. Being third of three and third of thirty thus count the same; where ballots differ in
    length, `borda` and `spearman` allow for that.

    Source: Peer review, appendix D.

    Raises:
        RankingError: as `Profile.from_ranks`.
    """
    ballots = as_profile(profile)
    # Every candidate is ranked by somebody, so no column is all NaN.
    return consensus_by(
        "average", np.nanmean(ballots.ranks, axis=0), ascending=True, used=ballots.n_ballots
    )
