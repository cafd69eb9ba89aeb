"""Exact Kemeny orders of many small elections at once: dynamic programming over subsets.

Bit i of a set S stands for candidate i. `least[S]` is the smallest cost of an order of S, where a
cost is counted from the order 0, 1, 2, …: putting i in front of the others of S turns round its
pairs with the j < i of S, and each of these costs its margin, D[j, i]. So

    least[S] = min over i in S of least[S − i] + step[i, the members of S below i],
    step[i, T] = Σ over j in T of D[j, i].

`step` knows nothing of the candidates above i. That keeps it as small as `least` (row 2^i + T holds
step[i, T]), and lets one addition treat a whole range of sets. The elections are the last axis, so
that each operation runs over all of them. The recurrence is that of Held and Karp (1962).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_CANDIDATES = 14
# Sets × elections that are held at a time: 16 MB per table at 16 bits, and long enough rows.
CELLS = 2**23

Table = NDArray[np.signedinteger[Any]]


@dataclass(frozen=True, eq=False, slots=True)
class SubsetOptima:
    """Optimal orders of K elections of n candidates.

    `order`, shape (n, K): candidates, best first; of all optimal orders the lexicographically
    smallest. `unique`, shape (K,): whether there is no other. `n_optima`, shape (K,): how many
    optimal orders there are, at most 14! < 2^37; None if they were not counted.
    """

    order: NDArray[np.int64]
    unique: NDArray[np.bool_]
    n_optima: NDArray[np.int64] | None


def optimal_orders(margins: Table, *, count: bool = False) -> SubsetOptima:
    """Orders with the fewest pairwise disagreements, for every election of a batch.

    Args:
        margins: shape (n, n, K), 1 ≤ n ≤ 14; D[i, j, k] is how many more ballots of election k put
            i before j than j before i, so that D[j, i] = -D[i, j].
        count: whether to count the optimal orders too.

    Raises:
        ValueError: the shape is another.
    """
    if margins.ndim != 3 or not 1 <= len(margins) == margins.shape[1] <= MAX_CANDIDATES:
        raise ValueError(
            f"margins must have shape (n, n, elections), 1 ≤ n ≤ {MAX_CANDIDATES}, "
            f"got {margins.shape}"
        )
    n, _, n_elections = margins.shape
    width = CELLS >> n
    parts = [
        _optimal_orders(margins[:, :, at : at + width], count)
        for at in range(0, max(n_elections, 1), width)
    ]
    counts = [part.n_optima for part in parts if part.n_optima is not None]
    return SubsetOptima(
        np.concatenate([part.order for part in parts], axis=1),
        np.concatenate([part.unique for part in parts]),
        np.concatenate(counts) if counts else None,
    )


def _optimal_orders(margins: Table, count: bool) -> SubsetOptima:
    step = _steps(margins)
    least = _least_costs(step)
    order, unique = _first_optimum(least, step)
    return SubsetOptima(order, unique, _count(least, step) if count else None)


def _steps(margins: Table) -> Table:
    """Row 2^i + T: cost of putting i in front of a set whose members below i are T."""
    n, _, n_elections = margins.shape
    margins = margins.astype(_narrowest(margins), copy=False)
    step = np.empty((1 << n, n_elections), margins.dtype)
    for i in range(n):
        own = step[1 << i : 2 << i]
        own[0] = 0
        for j in range(i):
            np.add(own[: 1 << j], margins[j, i], out=own[1 << j : 2 << j])
    return step


def _narrowest(margins: Table) -> np.dtype[Any]:
    """The smallest integers that hold any cost: no order turns round more than all pairs."""
    n = len(margins)
    # A Python integer: the bound of 8-bit margins does not fit in 8 bits.
    bound = n * (n - 1) // 2 * int(margins.max(initial=0))
    return np.min_scalar_type(-bound - 1)


def _least_costs(step: Table) -> Table:
    least = np.empty_like(step)
    least[0] = 0
    spare = np.empty_like(step[: max(1, len(step) // 4)])
    # The lowest bit of m, i, goes in front of the 2^i sets just below m. These are final by then: a
    # set S gets its candidate i when m is S without the bits below i, so never after m = S.
    for m in range(1, len(step)):
        size = m & -m
        above = least[m : m + size]
        if m == size:
            np.add(least[:m], step[m : m + size], out=above)
        else:
            found = np.add(least[m - size : m], step[size : 2 * size], out=spare[:size])
            np.minimum(above, found, out=above)
    return least


def _first_optimum(least: Table, step: Table) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """From the best place on: the smallest candidate that an optimal order can put there."""
    n, n_elections = len(least).bit_length() - 1, least.shape[1]
    election = np.arange(n_elections)
    order = np.empty((n, n_elections), np.int64)
    unique = np.ones(n_elections, np.bool_)
    left = np.full(n_elections, len(least) - 1)
    # The candidates that are still left, as bits, ascending. Flat indexes are the fastest to take.
    bits = np.repeat(1 << np.arange(n)[:, None], n_elections, axis=1)
    for place in range(n):
        cost = least.take(left * n_elections + election)
        behind = least.take((left - bits) * n_elections + election)
        own = step.take((bits | left & (bits - 1)) * n_elections + election)
        optimal = np.where(behind + own == cost, bits, 0).sum(axis=0)
        chosen = optimal & -optimal
        unique &= optimal == chosen
        order[place] = np.bitwise_count(chosen - 1)
        left -= chosen
        bits = np.where(bits[:-1] < chosen, bits[:-1], bits[1:])
    return order, unique


def _count(least: Table, step: Table) -> NDArray[np.int64]:
    """How many orders of all candidates reach the least cost; visits the sets as above."""
    orders = np.zeros(least.shape, np.int64)
    orders[0] = 1
    for m in range(1, len(step)):
        size = m & -m
        below, above = slice(m - size, m), slice(m, m + size)
        optimal = least[below] + step[size : 2 * size] == least[above]
        orders[above] += np.where(optimal, orders[below], 0)
    full: NDArray[np.int64] = orders[-1].copy()
    return full
