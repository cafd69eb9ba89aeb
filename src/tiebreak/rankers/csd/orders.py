"""Random orders of the rounds, by weight (§5.1.3)."""

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.rankers.csd.inputs import (
    ContestSettingError,
    FloatArray,
    IntArray,
    round_weights,
)


def weighted_rounds(weights: ArrayLike, *, draws: int = 1, seed: int = 0) -> IntArray:
    """Orders of the rounds in which heavier ones tend to come first (§5.1.3).

    Place by place, one of the rounds that are left is drawn with probability proportional to its
    weight: the law of Efraimidis & Spirakis (2006), whose keys u^(1/w) the paper sorts in
    descending order. Powers are not used, because their last bit differs between machines.
    `csd(…, weights=…)` draws a new order for every contest.

    Args:
        weights: shape (K,), above 0; only their ratios count.
        draws: number of orders, at least 1.
        seed: the same seed gives the same orders on every machine.

    Returns:
        Shape (draws, K): row by row a permutation of 0 … K − 1, the round that comes first first.

    Raises:
        RankingError: a weight is not above 0, infinite or NaN, there is none, or `draws` < 1.
    """
    table = np.asarray(weights, dtype=np.float64)
    checked = round_weights(table, table.size)
    if checked is None or draws < 1:
        raise ContestSettingError(f"draws must be at least 1, got {draws}")
    stream = np.random.SFC64(np.random.SeedSequence(seed))
    return weighted_orders(uniforms(stream, draws, checked.size), checked)


def uniforms(stream: np.random.SFC64, rows: int, columns: int) -> FloatArray:
    """Multiples of 2^-32 in [0, 1), the same on every machine."""
    high = stream.random_raw((rows, columns)) >> np.uint64(32)
    return high.astype(np.float64) * 2.0**-32


def weighted_orders(uniform: FloatArray, weights: FloatArray) -> IntArray:
    """One order for each row of `uniform`, shape (rows, K), which has shape (rows, K), too."""
    rows = np.arange(len(uniform))
    share = np.maximum(weights / weights.max(), np.finfo(np.float64).tiny)
    left = np.tile(share, (len(uniform), 1))
    orders = np.empty(uniform.shape, dtype=np.int64)
    for place in range(weights.size):
        reached = np.cumsum(left, axis=1)
        target = uniform[:, place] * reached[:, -1]
        # The first round that reaches beyond the target; one that was drawn adds nothing.
        orders[:, place] = np.sum(reached <= target[:, None], axis=1)
        left[rows, orders[:, place]] = 0.0
    return orders
