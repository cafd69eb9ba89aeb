"""Ranks of tied groups and of scores."""

import math
from collections.abc import Collection, Hashable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Means of the same fractions, summed in another order, differ in the last bits. Differences below
# this many decimals are rounding, not evidence.
DECIMALS = 12

Name = TypeVar("Name", bound=Hashable)


def mean_ranks(groups: Sequence[Collection[Name]]) -> dict[Name, float]:
    """Ranks of a ranking that is given as groups of tied names, best group first.

    Args:
        groups: ordered groups; the members of one group are tied.

    Returns:
        The rank of every name, 1 = best; tied names share the mean of the ranks that they take up:
        `[["a"], ["b", "c"]]` gives a 1, b 2.5, c 2.5.

    Raises:
        ValueError: a name occurs twice.
    """
    ranks: dict[Name, float] = {}
    ahead = 0
    for group in groups:
        for name in group:
            if name in ranks:
                raise ValueError(f"{name!r} occurs twice in the ranking")
            ranks[name] = ahead + (len(group) + 1) / 2
        ahead += len(group)
    return ranks


def competition_ranks(
    scores: ArrayLike, tiebreaker: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Ranks as a league table prints them: "1, 2, 2, 4".

    Args:
        scores: shape (N,), higher is better, NaN = not ranked.
        tiebreaker: shape (N,), compared where scores are equal, higher is better; NaN comes after
            every number and equals NaN.

    Returns:
        Shape (N,): whole numbers from 1 to N; NaN where the score is NaN. Differences below 1e-12
        count as equal.

    Raises:
        ValueError: the arrays are not one-dimensional or differ in length.
    """
    first = np.asarray(scores, dtype=np.float64)
    second = np.zeros_like(first) if tiebreaker is None else np.asarray(tiebreaker, np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(f"expected two arrays of one length, got {first.shape}, {second.shape}")
    keys = [
        (float(score), -math.inf if math.isnan(extra) else float(extra))
        for score, extra in zip(first.round(DECIMALS), second.round(DECIMALS), strict=True)
    ]
    # A NaN score is greater than nothing and nothing is greater than it, so it never counts.
    return np.array(
        [
            math.nan if math.isnan(own[0]) else 1.0 + sum(_above(key, own) for key in keys)
            for own in keys
        ],
        dtype=np.float64,
    )


def _above(key: tuple[float, float], own: tuple[float, float]) -> bool:
    return key[0] > own[0] or (key[0] == own[0] and key[1] > own[1])
