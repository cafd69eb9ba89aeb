"""Do longer answers win? A taste of the judge, or a merit of the answers: figures cannot tell."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiebreak.rankers import Proportion, bootstrap_leaderboard, wilson
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.words import count, percent

FloatArray = NDArray[np.float64]

# The share must be off by more than this to be a warning: answers that say more are often better,
# and win more often without any bias.
LENGTH_TOLERANCE = 0.2
# And it must be no chance: whatever level is shown, at this one, and with items enough for an
# interval over items to cover what it claims.
SURE = 0.99
SURE_MIN_ITEMS = 10


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


def length_bias(items: Iterable[ItemBallots], *, how: Resampling = Resampling()) -> LengthBias:
    """Measure over all scored matches between answers of known length.

    A warning is given when the share of longer (or shorter) winners is above 70%, there are ten
    items, and a 99% interval over matches and one over items both say that this is no chance.
    """
    items = tuple(items)
    played = _matches(items)
    won = played.result * np.sign(played.difference)
    n_longer, n_decided = int(np.sum(won > 0)), int(np.sum(won != 0))
    longer = wilson(n_longer, n_decided, level=how.level)
    reason = _undefined(items, played)
    rho = _Interval(math.nan, math.nan, math.nan)
    warning = None
    if reason is None:
        rho = _correlation(played, how=how)
        enough = len(np.unique(played.item)) >= SURE_MIN_ITEMS
        if enough and abs(longer.rate - 0.5) > LENGTH_TOLERANCE:
            sure = _correlation(played, how=replace(how, level=SURE))
            warning = _warning(wilson(n_longer, n_decided, level=SURE), sure)
    return LengthBias(
        longer_rate=longer.rate,
        longer_lower=longer.lower,
        longer_upper=longer.upper,
        n_decided=longer.n,
        correlation=rho.value,
        correlation_lower=rho.lower,
        correlation_upper=rho.upper,
        n_matches=len(played.result),
        reason=reason,
        warning=warning,
    )


class _Played(NamedTuple):
    """Scored matches, columns of one length: item, result (1, 0, -1) and longer by, for `high`."""

    item: NDArray[np.int64]
    result: FloatArray
    difference: FloatArray


class _Interval(NamedTuple):
    value: float
    lower: float
    upper: float


def _matches(items: Iterable[ItemBallots]) -> _Played:
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
    return _Played(number, table[:, 0], table[:, 1])


def _undefined(items: Iterable[ItemBallots], played: _Played) -> str | None:
    """Why there is no correlation, or None when there is one."""
    if not len(played.item):
        scored = any(match.result is not None for item in items for match in item.matches)
        return "the log does not say how long the answers are" if scored else "no scored match"
    if not played.result.any():
        return "all matches are tied"
    return None if played.difference.any() else "answers that met are equally long"


def _correlation(played: _Played, *, how: Resampling) -> _Interval:
    """Spearman's ρ over both sides of each match, and its bounds over items.

    Seen from both sides, results and ranks of differences are symmetric about 0, and Pearson's
    formula becomes Σxy / √(Σx² Σy²): sums over items, so a draw of items costs next to nothing.
    """
    from scipy.stats import rankdata

    item, result, difference = played
    both = rankdata(np.concatenate([difference, -difference]))
    place = both[: len(difference)] - both.mean()
    products = np.stack([result * place, result**2, place**2], axis=1)
    per_item = np.zeros((int(item.max()) + 1, 3))
    np.add.at(per_item, item, products)

    def rho(counts: FloatArray) -> FloatArray:
        together, own, other = np.hsplit(counts @ per_item, 3)
        norm = np.sqrt(own * other)
        return np.divide(together, norm, out=np.full_like(norm, np.nan), where=norm > 0)

    found = bootstrap_leaderboard(rho, len(per_item), how=how)
    return _Interval(float(found.score[0]), float(found.lower[0]), float(found.upper[0]))


def _warning(longer: Proportion, rho: _Interval) -> str | None:
    kind, share, by_items = "longer", longer.rate, rho.lower > 0
    if longer.rate < 0.5:
        kind, share, by_items = "shorter", 1 - longer.rate, rho.upper < 0
    if not (by_items and longer.excludes(0.5)):
        return None
    matches = count(longer.n, "decided match", "decided matches")
    return (
        f"The {kind} answer won {percent(share)} of {matches}. "
        f"{kind.capitalize()} answers may be better; or this judge goes by length: read some of "
        "the matches before you trust the ranking"
    )
