"""Do longer answers win? A taste of the judge, or a merit of the answers: figures cannot tell."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiebreak.rankers import Proportion, bootstrap_leaderboard, wilson
from tiebreak.report.words import count, percent
from tiebreak.scorers.ballots import ItemBallots

FloatArray = NDArray[np.float64]

# The share must be off by more than chance and by more than this to be a warning: answers that
# say more are often better, and win more often without any bias.
LENGTH_TOLERANCE = 0.2


@dataclass(frozen=True, slots=True)
class LengthBias:
    """How winning goes with the length of answers, in characters.

    `longer_rate` is the share of the `n_decided` matches between answers of different length, won
    by one side, in which the longer answer won; it has a Wilson interval. `correlation` is
    Spearman's ρ of result (won, tied, lost) and difference in length over the `n_matches` scored
    matches, each seen from both sides, so that who is named first makes no difference: 1 when the
    longer answer always wins, 0 when length does not matter. Its interval resamples items.

    What is undefined is NaN, and `reason` says why there is no correlation. `warning` is None when
    there is nothing to warn of.
    """

    longer_rate: float
    longer_lower: float
    longer_upper: float
    n_decided: int
    correlation: float
    correlation_lower: float
    correlation_upper: float
    n_matches: int
    reason: str | None
    warning: str | None


def length_bias(
    items: Iterable[ItemBallots], *, level: float = 0.95, draws: int = 2000, seed: int = 0
) -> LengthBias:
    """Measure over all scored matches between answers of known length.

    A warning is given when the share of longer (or shorter) winners is above 70%, and both
    intervals, the one over matches and the one over items, say that this is no chance.
    """
    items = tuple(items)
    item, result, difference = _matches(items)
    decided = (result != 0) & (difference != 0)
    longer = wilson(
        int(np.sum(result[decided] * difference[decided] > 0)), int(np.sum(decided)), level=level
    )
    reason = _undefined(items, result, difference)
    rho = (math.nan, math.nan, math.nan)
    if reason is None:
        rho = _correlation(item, result, difference, level=level, draws=draws, seed=seed)
    return LengthBias(
        longer_rate=longer.rate,
        longer_lower=longer.lower,
        longer_upper=longer.upper,
        n_decided=longer.n,
        correlation=rho[0],
        correlation_lower=rho[1],
        correlation_upper=rho[2],
        n_matches=len(result),
        reason=reason,
        warning=_warning(longer, *rho[1:]),
    )


def _matches(items: Iterable[ItemBallots]) -> tuple[NDArray[np.int64], FloatArray, FloatArray]:
    """Scored matches: number of the item, result (1, 0, -1) and difference in length for `high`."""
    rows = [
        (
            item.item_id,
            2 * match.result - 1,
            item.lengths[match.high] - item.lengths[match.low],
        )
        for item in items
        for match in item.matches
        if match.result is not None and {match.high, match.low} <= item.lengths.keys()
    ]
    # Numbered as their names sort, so that the order of items in a log changes no draw.
    _, number = np.unique([name for name, *_ in rows], return_inverse=True)
    table = np.array([own for _, *own in rows], dtype=np.float64).reshape(len(rows), 2)
    return number, table[:, 0], table[:, 1]


def _undefined(
    items: Iterable[ItemBallots], result: FloatArray, difference: FloatArray
) -> str | None:
    """Why there is no correlation, or None when there is one."""
    if not len(result):
        played = any(match.result is not None for item in items for match in item.matches)
        return "the log does not say how long the answers are" if played else "no scored match"
    if not result.any():
        return "all matches are tied"
    return None if difference.any() else "answers that met are equally long"


def _correlation(
    item: NDArray[np.int64],
    result: FloatArray,
    difference: FloatArray,
    *,
    level: float,
    draws: int,
    seed: int,
) -> tuple[float, float, float]:
    """Spearman's ρ over both sides of each match, and its bounds over items.

    Seen from both sides, results and ranks of differences are symmetric about 0, and Pearson's
    formula becomes Σxy / √(Σx² Σy²): sums over items, so a draw of items costs next to nothing.
    """
    from scipy.stats import rankdata

    both = rankdata(np.concatenate([difference, -difference]))
    place = both[: len(difference)] - both.mean()
    products = np.stack([result * place, result**2, place**2], axis=1)
    per_item = np.zeros((int(item.max()) + 1, 3))
    np.add.at(per_item, item, products)

    def rho(counts: FloatArray) -> FloatArray:
        together, own, other = np.hsplit(counts @ per_item, 3)
        norm = np.sqrt(own * other)
        return np.divide(together, norm, out=np.full_like(norm, np.nan), where=norm > 0)

    found = bootstrap_leaderboard(rho, len(per_item), level=level, draws=draws, seed=seed)
    return float(found.score[0]), float(found.lower[0]), float(found.upper[0])


def _warning(longer: Proportion, rho_lower: float, rho_upper: float) -> str | None:
    if not longer.excludes(0.5) or abs(longer.rate - 0.5) <= LENGTH_TOLERANCE:
        return None
    kind, share, by_items = ("longer", longer.rate, rho_lower > 0)
    if longer.rate < 0.5:
        kind, share, by_items = ("shorter", 1 - longer.rate, rho_upper < 0)
    if not by_items:
        return None
    matches = count(longer.n, "decided match", "decided matches")
    return (
        f"The {kind} answer won {percent(share)} of {matches}. "
        f"{kind.capitalize()} answers may be better; or this judge goes by length: read some of "
        "the matches before you trust the ranking"
    )
