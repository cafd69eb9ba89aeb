"""Ranks of tied groups and of scores; normalized Borda scores and their spread (SEAL, §2.3)."""

from collections.abc import Collection, Hashable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.rankers.errors import RankingError

# Means of the same fractions summed in another order differ in the last bits. Values that are equal
# to this many decimals count as equal; the rest is rounding error.
DECIMALS = 12

Name = TypeVar("Name", bound=Hashable)


def mean_ranks(groups: Sequence[Collection[Name]]) -> dict[Name, float]:
    """Mean rank of every name in a ranking given as groups of tied names.

    Args:
        groups: groups of names, best group first; the members of one group are tied.

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
        tiebreaker: shape (N,), compared if scores are equal, higher is better; NaN ranks below
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
    score = first.round(DECIMALS)
    extra = np.where(np.isnan(second), -np.inf, second.round(DECIMALS))
    # Comparisons with a NaN score are False, so absent models do not count for anyone's rank.
    level = score == score[:, None]
    above = (score > score[:, None]) | (level & (extra > extra[:, None]))
    return np.where(np.isnan(score), np.nan, 1.0 + above.sum(axis=1))


def normalized_borda(ranks: ArrayLike) -> NDArray[np.float64]:
    """Share of an item's other candidates that each candidate is ranked above (SEAL, §2.3).

    (n − rank) / (n − 1), where n counts the candidates that are present in the item: 1 for the
    best, 0 for the last, ½ where all are tied. The n scores of an item add up to n / 2.

    Args:
        ranks: shape (items, N), mean ranks, 1 = best, NaN = absent.

    Returns:
        Shape (items, N), in [0, 1]; NaN if the rank is NaN or the item has no other candidate.

    Raises:
        RankingError: `ranks` is not two-dimensional; a row does not hold mean ranks from 1 to n,
            which add up to n(n + 1) / 2 ("1, 2, 2, 4" does not).
    """
    table = np.asarray(ranks, dtype=np.float64)
    if table.ndim != 2:
        raise RankingError(f"ranks must have shape (items, models), got {table.shape}")
    present = np.sum(~np.isnan(table), axis=1, keepdims=True).astype(np.float64)
    outside = np.any((table < 1) | (table > present), axis=1)
    expected = present[:, 0] * (present[:, 0] + 1) / 2
    uneven = ~np.isclose(np.nansum(table, axis=1), expected, rtol=0, atol=1e-6)
    if np.any(outside | uneven):
        row = int(np.flatnonzero(outside | uneven)[0])
        raise RankingError(
            f"row {row} holds {table[row].tolist()}: these are not mean ranks from 1 to "
            f"{int(present[row, 0])} (tied candidates share the mean of their ranks)"
        )
    opponents = np.where(present > 1, present - 1, np.nan)
    scores: NDArray[np.float64] = (present - table) / opponents
    return scores


def spread(means: ArrayLike) -> float:
    """Mean absolute difference between the scores of two models, over all pairs.

    "The average score separation across all candidates" (SEAL, table 1): how far apart a metric
    puts the models. It says nothing about whether their order is right.

    Args:
        means: shape (N,), one score per model; NaN is left out.

    Returns:
        A number ≥ 0; NaN when fewer than two scores are defined.

    Raises:
        RankingError: `means` is not one-dimensional.
    """
    values = np.asarray(means, dtype=np.float64)
    if values.ndim != 1:
        raise RankingError(f"means must have shape (models,), got {values.shape}")
    values = values[~np.isnan(values)]
    if values.size < 2:
        return float("nan")
    first, second = np.triu_indices(values.size, k=1)
    return float(np.mean(np.abs(values[first] - values[second])))
