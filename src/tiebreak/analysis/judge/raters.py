"""Agreement of people who voted with each other."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.analysis.judge.figures import pair_votes
from tiebreak.rankers.intervals import Estimate
from tiebreak.rankers.kappa import kappa_estimate
from tiebreak.rankers.panel import krippendorff_alpha, rating_alpha
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.reason import Reason
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.tables.human import MOST_STARS


@dataclass(frozen=True, slots=True)
class Raters:
    """The people behind a board; the checks of each person's votes are in the board's `jury`.

    `seconds` has the median time of a vote by each person's name, NaN if unknown. Agreement is over
    the `n_shared` pairs of answers that several compared (better, even, worse), or answers to which
    several gave stars: `alpha` is Krippendorff's (interval metric), `kappa` Cohen's, of two raters
    drawn at random. Both are undefined if no pair or answer was judged by several.
    """

    seconds: Mapping[str, float]
    n_shared: int
    alpha: Estimate
    kappa: Estimate


def raters_of(
    items: Sequence[ItemBallots], seconds: Mapping[str, float], *, how: Resampling = Resampling()
) -> Raters:
    """The raters, named in `seconds`, of items to which people gave votes or stars."""
    by_stars = any(item.placed_by == "stars" for item in items)
    shared = [
        (item.cluster or item.item_id, votes)
        for item in items
        for votes in (_stars(item) if by_stars else pair_votes(item))
        if len(votes) > 1
    ]
    if not shared:
        none = Estimate(math.nan, math.nan, math.nan, 0, Reason("no_pair_of_two_raters"))
        return Raters(seconds, 0, none, none)
    votes = np.array([[of_pair.get(name, math.nan) for name in seconds] for _, of_pair in shared])
    units = np.array([unit for unit, _ in shared])
    alpha, kappa = agreement_of(votes, units, stars=by_stars, how=how)
    return Raters(seconds, len(shared), alpha, kappa)


def _stars(item: ItemBallots) -> Iterator[dict[str, float]]:
    for points in item.scores:
        yield {
            part.judge: float(part.stars)
            for part in points.parts or (points,)
            if part.stars is not None
        }


def agreement_of(
    votes: FloatArray, items: NDArray[Any], *, stars: bool, how: Resampling = Resampling()
) -> tuple[Estimate, Estimate]:
    """α and κ of votes, shape (pairs or answers, raters), with at least two votes in each row.

    A vote is 1, 0 or −1, or 0 to 3 with `stars`; a missing vote is NaN.
    """
    tables = _tables(votes, range(MOST_STARS + 1) if stars else (-1, 0, 1))
    if stars:
        alpha = rating_alpha(votes, items=items, how=how)
    else:
        # Count both orientations, so that the order of a pair's answers does not matter.
        tables = (tables + tables[:, ::-1, ::-1]) / 2
        alpha = krippendorff_alpha(np.stack([-votes, votes], axis=2), items=items, how=how)
    return alpha, kappa_estimate(tables, items=items, level=how.level)


def _tables(labels: FloatArray, scale: Sequence[int]) -> FloatArray:
    """Per row, the share of each two labels by two raters drawn at random, shape (rows, K, K)."""
    counts = np.stack([np.sum(labels == label, axis=1) for label in scale], axis=1)
    twice = counts[:, :, None] * (counts[:, None, :] - np.eye(len(scale)))
    tables: FloatArray = twice / twice.sum(axis=(1, 2), keepdims=True)
    return tables
