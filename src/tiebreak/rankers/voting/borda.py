"""Borda count."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.rankers.consensus import Consensus, consensus_by
from tiebreak.rankers.errors import NeverComparedError, UnknownMethodError
from tiebreak.rankers.profile import FloatArray, Profile, as_profile, within_ballots

Unranked = Literal["ignore", "last"]


def borda(profile: Profile | ArrayLike, *, unranked: Unranked = "ignore") -> Consensus:
    """Order by the Borda count, higher is better.

    A ballot gives a candidate one point for each candidate that it ranks below it. On M complete
    ballots over N candidates the score is the classical sum of N − r_b(j).

    Ties: half a point for each tied candidate.
    Partial ballots, by `unranked`:
        "ignore": only the candidates that a ballot ranks are compared. The score is the share of
            possible points that j won, scaled to complete ballots:
            (points of j) / (comparisons of j) · M(N − 1). Ballots over strong and over weak
            opponents weigh the same, and the ballots' lengths do not matter. (Two groups of
            ballots may agree and their union differ: shares do not add up as sums do.)
        "last": candidates that a ballot leaves out are tied after the last one that it ranks, as
            for ballots that say "these are the best". The score is a plain sum.

    Source: Peer review, appendix D (Saari 1985). Borda counts for ties and for partial ballots:
    Terzopoulou and Endriss, "The Borda class", J. Math. Econ. 92 (2021).

    Raises:
        NeverComparedError: `unranked` is "ignore", and no ballot ranks a candidate beside another.
        UnknownMethodError: `unranked` is neither "ignore" nor "last".
        RankingError: as `Profile.from_ranks`.
    """
    if unranked not in get_args(Unranked):
        raise UnknownMethodError(f"unranked must be 'ignore' or 'last', got {unranked!r}")
    ballots = as_profile(profile)
    ranks = ballots.ranks if unranked == "ignore" else _last(ballots.ranks)
    ranked = ~np.isnan(ranks)
    others = np.sum(ranked, axis=1, keepdims=True) - 1.0
    points = np.nansum(1 + others - ranks, axis=0)
    compared = np.sum(np.where(ranked, others, 0), axis=0)
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
        raise NeverComparedError(f"no ballot ranks {names} beside another candidate")
    # Multiplied first: the products are exact, so equal shares give equal scores.
    return points * (ballots.n_ballots * (ballots.n_candidates - 1)) / compared
