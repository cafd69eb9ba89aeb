"""Whether people who voted agree with each other."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.analysis.judge.figures import pair_votes
from tiebreak.rankers.intervals import Estimate
from tiebreak.rankers.kappa import kappa_estimate
from tiebreak.rankers.panel import krippendorff_alpha
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.reason import Reason
from tiebreak.scorers.ballots import ItemBallots


@dataclass(frozen=True, slots=True)
class Raters:
    """The people behind a board; what the votes of each show is in its jury.

    `seconds` are the medians that a vote took each of them, by name, NaN where unknown. Agreement
    is over the `n_shared` pairs of answers that several compared, or gave stars: `alpha` is
    Krippendorff's (better, even, worse; interval metric), `kappa` Cohen's, of two of a pair's
    raters drawn at random. Both are undefined where there is no such pair.
    """

    seconds: Mapping[str, float]
    n_shared: int
    alpha: Estimate
    kappa: Estimate


def raters_of(
    items: Sequence[ItemBallots], seconds: Mapping[str, float], *, how: Resampling = Resampling()
) -> Raters:
    """The raters, named in `seconds`, of some items that people voted on."""
    shared = [
        (item.cluster or item.item_id, votes)
        for item in items
        for votes in pair_votes(item)
        if len(votes) > 1
    ]
    if not shared:
        none = Estimate(math.nan, math.nan, math.nan, 0, Reason("no_pair_of_two_raters"))
        return Raters(seconds, 0, none, none)
    votes = np.array([[of_pair.get(name, math.nan) for name in seconds] for _, of_pair in shared])
    alpha, kappa = agreement_of(votes, np.array([unit for unit, _ in shared]), how=how)
    return Raters(seconds, len(shared), alpha, kappa)


def agreement_of(
    votes: FloatArray, items: NDArray[Any], *, how: Resampling = Resampling()
) -> tuple[Estimate, Estimate]:
    """α and κ of votes, shape (pairs, raters): 1, 0, −1, NaN for none; two a pair at least."""
    counts = np.stack([np.sum(votes == vote, axis=1) for vote in (-1, 0, 1)], axis=1)
    twice = counts[:, :, None] * (counts[:, None, :] - np.eye(3))
    # Which answer of a pair is called the first must not matter.
    tables = (twice + twice[:, ::-1, ::-1]) / twice.sum(axis=(1, 2), keepdims=True)
    alpha = krippendorff_alpha(np.stack([-votes, votes], axis=2), items=items, how=how)
    return alpha, kappa_estimate(tables / 2, items=items, level=how.level)
