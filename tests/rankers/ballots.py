"""Random ballots as arrays of ranks, shape (ballots, N)."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def uniform(rng: np.random.Generator, n_ballots: int, n: int) -> FloatArray:
    """Every order is equally likely."""
    return (rng.random((n_ballots, n)).argsort(axis=1).argsort(axis=1) + 1).astype(np.float64)


def mallows(rng: np.random.Generator, n_ballots: int, n: int, phi: float) -> FloatArray:
    """Orders with probability ∝ φ^(Kendall distance to 0, 1, …), by repeated insertion."""
    ranks = np.empty((n_ballots, n))
    for ballot in ranks:
        order: list[int] = []
        for column in range(n):
            # Inserting j places above the end costs j inversions.
            weights = phi ** np.arange(column + 1)
            order.insert(column - int(rng.choice(column + 1, p=weights / weights.sum())), column)
        ballot[order] = np.arange(1, n + 1)
    return ranks


def partial(ranks: FloatArray, rng: np.random.Generator, share: float = 0.3) -> FloatArray:
    """The same ballots with some candidates not ranked; the first ballot stays complete."""
    holes = rng.random(ranks.shape) < share
    holes[0] = False
    return np.where(holes, np.nan, ranks)


def tied(ranks: FloatArray, levels: int) -> FloatArray:
    """The same ballots with neighbouring candidates tied, so that at most `levels` ranks remain."""
    groups: FloatArray = np.ceil(ranks * levels / ranks.shape[1])
    return groups


def panel(
    seed: int, rows: int, reviewers: int, n: int, *, holes: float = 0, levels: int | None = None
) -> FloatArray:
    """Ballots of some rows, each around an order of its own, partial, tied, or missing.

    Shape (rows, reviewers, n).
    """
    rng = np.random.default_rng(seed)
    ballots = []
    for _ in range(rows):
        ranks = mallows(rng, reviewers, n, 0.6)[:, rng.permutation(n)]
        ranks = tied(ranks, levels) if levels else ranks
        ballots.append(np.where(rng.random(ranks.shape) < holes, np.nan, ranks))
    return np.stack(ballots)
