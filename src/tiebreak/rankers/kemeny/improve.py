"""A good order, fast: Copeland's, then the best single moves until none helps."""

import numpy as np

from tiebreak.rankers.pairwise import IntArray


def copeland_order(margin: IntArray) -> IntArray:
    """Columns by majorities won minus majorities lost, best first; equals by column.

    Args:
        margin: shape (N, N), antisymmetric.
    """
    return np.argsort(-np.sign(margin).sum(axis=1), kind="stable")


def improve(order: IntArray, margin: IntArray) -> IntArray:
    """Takes out one candidate and inserts it elsewhere, the best such move first.

    Args:
        order: shape (N,), columns, best first.
        margin: shape (N, N), antisymmetric.

    Returns:
        An order that no such move makes cheaper, at most as costly as the given one.
    """
    order = order.copy()
    while len(order) > 1:
        ahead = margin[np.ix_(order, order)]
        # Moving the candidate at place i down to place j breaks its margins over i+1 … j; moving
        # it up to j mends those of j … i−1 over it. Running sums give every move at once.
        down = np.cumsum(np.triu(ahead), axis=1)
        up = np.cumsum(np.tril(ahead)[:, ::-1], axis=1)[:, ::-1]
        change = down - up
        here, there = np.unravel_index(np.argmin(change), change.shape)
        if change[here, there] >= 0:
            return order
        moved = order[here]
        order = np.insert(np.delete(order, here), there, moved)
    return order


def excess(order: IntArray, margin: IntArray) -> int:
    """Sum of the majorities that an order breaks: its cost above the sum of all minorities."""
    broken = np.triu(-margin[np.ix_(order, order)], 1)
    return int(broken[broken > 0].sum())
