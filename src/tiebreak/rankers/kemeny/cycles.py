"""A lower bound from majority cycles, by linear programming; the result is exact integers.

An order obeys one or two of the three arcs of a directed cycle i → j → k → i, so a weight y ≥ 0 on
"at most two" bounds every order from below (Lagrange). The best weights are the duals of

    min Σ margin[b, a] x[a, b],   x[a, b] + x[b, a] = 1,   x[i, j] + x[j, k] + x[k, i] ≤ 2,

where x[a, b] = 1 puts a before b (Grötschel, Jünger, Reinelt 1984). Rows are added as they turn out
to be violated. HiGHS works in floating point; its duals are rounded to integers / SCALE, and with
whatever integers come out the bound of `Bound` is exact and valid. Few candidates mostly need no
program (`packed`). Good orders come from local search (`improve`): Copeland's order, then the best
single moves until none helps.
"""

import math
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiebreak.rankers.profile import IntArray

SCALE = 1 << 20
ROWS_PER_CANDIDATE = 15
ROWS_PER_PAIR = 4
TOLERANCE = 1e-6  # above that of HiGHS, 1e-7


@dataclass(frozen=True, eq=False, slots=True)
class Bound:
    """Weights of directed 3-cycles, and what they prove about the cost above all minorities.

    `cycles` has shape (T, 3), `weights` (T,), positive integers in units of 1 / SCALE. For every
    order, SCALE · excess = `value` + Σ `regret`[a, b] over "a before b" + the weights of the cycles
    of which it obeys a single arc. All three are ≥ 0, so `value` / SCALE bounds the excess.
    """

    cycles: IntArray
    weights: IntArray
    regret: IntArray
    value: int


def bound_from(margin: IntArray, cycles: IntArray, weights: IntArray) -> Bound:
    """The bound that some weights give: exact integer arithmetic.

    Args:
        margin: shape (n, n), antisymmetric.
        cycles: shape (T, 3).
        weights: shape (T,), ≥ 0, in units of 1 / SCALE.
    """
    cycles, weights = cycles[weights > 0], weights[weights > 0]
    price = SCALE * np.maximum(-margin, 0)
    for first, then in ((0, 1), (1, 2), (2, 0)):
        np.add.at(price, (cycles[:, first], cycles[:, then]), weights)
    cheaper = np.minimum(price, price.T)
    value = int(np.triu(cheaper, 1).sum()) - 2 * int(weights.sum())
    return Bound(cycles, weights, price - cheaper, value)


def cycle_bound(
    margin: IntArray, order: IntArray, step: int = 1, deadline: float = math.inf
) -> tuple[Bound, IntArray]:
    """The best bound from 3-cycles, and an order improved on the way.

    Args:
        margin: shape (n, n), antisymmetric.
        order: shape (n,), a good order to begin with.
        step: the costs of any two orders differ by a multiple of it.
        deadline: value of `time.monotonic` at which to stop with what there is.
    """
    cycles = np.empty((0, 3), np.int64)
    cost = excess(order, margin)
    best = bound_from(margin, cycles, np.empty(0, np.int64))
    # Without any row, the cheapest x are the majorities; ties go as in the given order.
    place = np.argsort(order)
    ahead = np.where(margin == 0, place[:, None] < place, margin > 0).astype(np.float64)
    while best.value <= SCALE * (cost - step) and time.monotonic() < deadline:
        found = violated_cycles(ahead, np.abs(margin))
        rows = np.unique(np.concatenate([cycles, found]), axis=0)
        if len(rows) == len(cycles):
            break
        if not len(cycles):
            best = bound_from(margin, found, SCALE * packed(margin, found))
            if best.value > SCALE * (cost - step):
                break
        cycles = rows
        answer = _solve(margin, cycles, ahead, deadline)
        if answer is None:
            break
        ahead, duals = answer
        weights = np.floor(duals * SCALE).astype(np.int64)
        best = max(best, bound_from(margin, cycles, weights), key=lambda one: one.value)
        rounded = improve(
            np.lexsort((np.argsort(order), -ahead.sum(axis=1).round(6))), margin, deadline
        )
        if excess(rounded, margin) < cost:
            order, cost = rounded, excess(rounded, margin)
    return best, order


def packed(margin: IntArray, cycles: IntArray) -> IntArray:
    """Weights for `bound_from`, in whole votes: cycle by cycle what its majorities have left.

    Among few candidates they mostly prove the best order, without a linear program.
    """
    left = np.maximum(margin, 0).tolist()
    weights = []
    for i, j, k in cycles.tolist():
        weights.append(min(left[i][j], left[j][k], left[k][i]))
        for first, then in ((i, j), (j, k), (k, i)):
            left[first][then] -= weights[-1]
    return np.array(weights, dtype=np.int64)


def violated_cycles(ahead: NDArray[np.float64], strength: IntArray) -> IntArray:
    """Directed cycles that a fractional order obeys more than twice, the worst first.

    Args:
        ahead: x, shape (n, n), ahead[a, b] + ahead[b, a] = 1 off the diagonal.
        strength: |margin|, shape (n, n); of equal violations, the one of the strongest cycle.

    Returns:
        Shape (T, 3), the least column first; few for each pair, lest the rows say the same.
    """
    n = len(ahead)
    blocks, sums = [np.empty((0, 3), np.int64)], [np.empty(0)]
    for first in range(n - 2):
        rest = slice(first + 1, n)
        total = ahead[first, rest, None] + ahead[rest, rest] + ahead[None, rest, first]
        np.fill_diagonal(total, 0)
        second, third = np.nonzero(total > 2 + TOLERANCE)
        blocks.append(np.stack([np.full_like(second, first), second, third], axis=1))
        blocks[-1][:, 1:] += first + 1
        sums.append(total[second, third])
    cycles, violation = np.concatenate(blocks), np.concatenate(sums)
    weakest = strength[cycles, np.roll(cycles, -1, axis=1)].min(axis=1)
    cycles = cycles[np.lexsort((-weakest, -violation))]
    used = [[0] * n for _ in range(n)]
    chosen: list[int] = []
    for index, (i, j, k) in enumerate(np.sort(cycles, axis=1).tolist()):
        if max(used[i][j], used[j][k], used[i][k]) < ROWS_PER_PAIR:
            used[i][j] += 1
            used[j][k] += 1
            used[i][k] += 1
            chosen.append(index)
            if len(chosen) == ROWS_PER_CANDIDATE * n:
                break
    return cycles[chosen]


def _solve(
    margin: IntArray, cycles: IntArray, ahead: NDArray[np.float64], deadline: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Best x, as a matrix, and the dual of every cycle; None when the time is up.

    There is one variable x[a, b] for every pair a < b that is in some cycle; `ahead`, shape (n, n),
    holds x of the other pairs.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    n = len(margin)
    tail, head = cycles, np.roll(cycles, -1, axis=1)
    sign = np.where(tail < head, 1.0, -1.0)  # x[tail, head] = 1 − x[head, tail]
    code = np.minimum(tail, head) * n + np.maximum(tail, head)
    pairs, column = np.unique(code, return_inverse=True)
    first, second = np.divmod(pairs, n)
    ends = np.arange(0, 3 * len(tail) + 1, 3)
    left = deadline - time.monotonic()
    # The stubs know no sparse matrix here.
    answer = linprog(  # type: ignore[call-overload]
        # a before b costs max(0, −m) and b before a costs max(0, m): the difference is −m.
        -margin[first, second],
        A_ub=csr_array((sign.ravel(), column.ravel(), ends), shape=(len(tail), len(pairs))),
        b_ub=2.0 - np.sum(tail > head, axis=1),
        bounds=(0, 1),
        method="highs",
        options={"time_limit": max(left, 0.0)} if math.isfinite(left) else {},
    )
    if not answer.success:
        return None
    ahead = ahead.copy()
    ahead[first, second] = answer.x
    ahead[second, first] = 1 - answer.x
    return ahead, np.maximum(-answer.ineqlin.marginals, 0)


def copeland_order(margin: IntArray) -> IntArray:
    """Columns by majorities won minus majorities lost, best first; equals by column.

    Args:
        margin: shape (N, N), antisymmetric.
    """
    return np.argsort(-np.sign(margin).sum(axis=1), kind="stable")


def improve(order: IntArray, margin: IntArray, deadline: float = math.inf) -> IntArray:
    """Takes out one candidate and inserts it elsewhere, the best such move first.

    Args:
        order: shape (N,), columns, best first.
        margin: shape (N, N), antisymmetric.
        deadline: value of `time.monotonic` at which to stop with what there is.

    Returns:
        An order that no such move makes cheaper, at most as costly as the given one.
    """
    order = order.copy()
    while len(order) > 1 and time.monotonic() < deadline:
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
