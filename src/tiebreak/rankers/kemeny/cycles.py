"""A majority cycle: a lower bound by linear programming, and a search for orders near it.

An order obeys one or two of the three arcs of a directed cycle i → j → k → i, so a weight y ≥ 0 on
the constraint "at most two" gives a lower bound on the cost of every order (Lagrange). The best
weights are the duals of

    min Σ margin[b, a] x[a, b],   x[a, b] + x[b, a] = 1,   x[i, j] + x[j, k] + x[k, i] ≤ 2,

where x[a, b] = 1 puts a before b (Grötschel, Jünger, Reinelt 1984). Constraints are added when they
are violated. HiGHS works in floating point; its duals are rounded to integers / SCALE, and `Bound`
is exact and valid for any integers. Few candidates usually need no linear program (`packed`). Good
orders come from local search (`improve`), which starts from Copeland's order and makes the best
single move until none helps.

The orders near the bound (`explore`) come from dynamic programming over sets. A state is the set of
candidates placed so far, from the last place upwards; orders with the same set share a state.
Putting v on top of a set S decides that all others outside S come before v. Above the bound this
costs

    Σ regret[w, v] over w outside   +   Σ weight of the cycles u → v → w → u, u in S, w outside:

because of such a cycle only the arc w → u is obeyed. A set whose cost exceeds the gap is dropped;
with a tight bound, few sets remain.
"""

import math
import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiebreak.rankers.errors import UnprovenOrderError
from tiebreak.rankers.profile import IntArray

SCALE = 1 << 20
ROWS_PER_CANDIDATE = 15  # constraints added at most per solution
ROWS_PER_PAIR = 4  # constraints among these that share a pair
TOLERANCE = 1e-6  # above that of HiGHS, 1e-7


@dataclass(frozen=True, eq=False, slots=True)
class Bound:
    """Weights of directed 3-cycles, and the lower bound that they prove on an order's excess.

    `cycles` has shape (T, 3), `weights` (T,), positive integers in units of 1 / SCALE. For every
    order, SCALE · excess = `value` + Σ `regret`[a, b] over "a before b" + the weights of the cycles
    of which it obeys a single arc. All three are ≥ 0, so `value` / SCALE bounds the excess.
    """

    cycles: IntArray
    weights: IntArray
    regret: IntArray
    value: int


def bound_from(margin: IntArray, cycles: IntArray, weights: IntArray) -> Bound:
    """The bound given by weights of 3-cycles, in exact integer arithmetic.

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
    """The best bound from 3-cycles, and an order improved while computing it.

    Args:
        margin: shape (n, n), antisymmetric.
        order: shape (n,), a good order to begin with.
        step: the costs of any two orders differ by a multiple of it.
        deadline: value of `time.monotonic` at which to stop with what there is.
    """
    cycles = np.empty((0, 3), np.int64)
    cost = excess(order, margin)
    best = bound_from(margin, cycles, np.empty(0, np.int64))
    # Without constraints the cheapest x follows the majorities, and ties follow the given order.
    place = np.argsort(order)
    ahead = np.where(margin == 0, place[:, None] < place, margin > 0).astype(np.float64)
    # A bound above cost − step proves the order optimal, because costs are multiples of step apart.
    while best.value <= SCALE * (cost - step) and time.monotonic() < deadline:
        violated = violated_cycles(ahead, np.abs(margin))
        if not len(cycles):
            best = packed(margin, violated)
            if best.value > SCALE * (cost - step):
                break
        rows = np.unique(np.concatenate([cycles, violated]), axis=0)
        if len(rows) == len(cycles):
            break
        cycles = rows
        answer = _solve(margin, cycles, ahead, deadline)
        if answer is None:
            break
        ahead, duals = answer
        weights = np.floor(duals * SCALE).astype(np.int64)
        best = max(best, bound_from(margin, cycles, weights), key=lambda bound: bound.value)
        # Sorting by rounded sums, so that the solver's rounding errors do not decide the order.
        rounded = improve(
            np.lexsort((np.argsort(order), -ahead.sum(axis=1).round(6))), margin, deadline
        )
        if excess(rounded, margin) < cost:
            order, cost = rounded, excess(rounded, margin)
    return best, order


def packed(margin: IntArray, cycles: IntArray) -> Bound:
    """The bound from greedy weights in whole votes: each cycle gets what its majorities have left.

    For few candidates it usually proves the best order without a linear program.
    """
    left = np.maximum(margin, 0).tolist()
    weights = []
    for i, j, k in cycles.tolist():
        weights.append(min(left[i][j], left[j][k], left[k][i]))
        for first, then in ((i, j), (j, k), (k, i)):
            left[first][then] -= weights[-1]
    scaled = SCALE * np.array(weights, dtype=np.int64)
    kept = scaled > 0
    # What is left of a majority is the regret of an order that breaks it.
    return Bound(cycles[kept], scaled[kept], SCALE * np.array(left).T, SCALE * sum(weights))


def violated_cycles(ahead: NDArray[np.float64], strength: IntArray) -> IntArray:
    """Directed 3-cycles of which a fractional order obeys more than two arcs, the worst first.

    Args:
        ahead: x, shape (n, n), ahead[a, b] + ahead[b, a] = 1 off the diagonal.
        strength: |margin|, shape (n, n); of equal violations the strongest cycle comes first.

    Returns:
        Shape (T, 3), the lowest column first; few per pair, to avoid redundant constraints.
    """
    n = len(ahead)
    blocks, sums = [np.empty((0, 3), np.int64)], [np.empty(0)]
    for first in range(n - 2):
        rest = slice(first + 1, n)
        total = ahead[first, rest, None] + ahead[rest, rest] + ahead[None, rest, first]
        np.fill_diagonal(total, 0)
        second, third = np.nonzero(total > 2 + TOLERANCE)
        block = np.full((len(second), 3), first)
        block[:, 1] += second + 1
        block[:, 2] += third + 1
        blocks.append(block)
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
    """Optimal x as a matrix, and the dual of every cycle; None if time ran out.

    There is a variable x[a, b] for every pair a < b that is in some cycle; `ahead`, shape (n, n),
    has x of the other pairs.
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
    # SciPy's stubs do not allow a sparse matrix here.
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
    """Columns by majorities won minus majorities lost, best first; ties by column.

    Args:
        margin: shape (N, N), antisymmetric.
    """
    return np.argsort(-np.sign(margin).sum(axis=1), kind="stable")


def improve(order: IntArray, margin: IntArray, deadline: float = math.inf) -> IntArray:
    """Improve an order by moving one candidate at a time, the best move first.

    Args:
        order: shape (N,), columns, best first.
        margin: shape (N, N), antisymmetric.
        deadline: value of `time.monotonic` at which to stop with what there is.

    Returns:
        An order that no single move improves (unless time ran out), at most as costly as `order`.
    """
    order = order.copy()
    while len(order) > 1 and time.monotonic() < deadline:
        ahead = margin[np.ix_(order, order)]
        # Moving the candidate at place i down to place j loses its margins over i+1 … j; moving it
        # up to j regains those of j … i−1 over it. Running sums give every move at once.
        down = np.cumsum(np.triu(ahead), axis=1)
        up = np.cumsum(np.tril(ahead)[:, ::-1], axis=1)[:, ::-1]
        change = down - up
        here, target = np.unravel_index(np.argmin(change), change.shape)
        if change[here, target] >= 0:
            return order
        moved = order[here]
        order = np.insert(np.delete(order, here), target, moved)
    return order


def excess(order: IntArray, margin: IntArray) -> int:
    """Sum of the majorities that an order breaks, i.e. its cost minus the sum of all minorities."""
    ahead = margin[order[:, None], order]
    return int(np.maximum(np.triu(-ahead), 0).sum())


CHUNK = 1 << 12  # sets extended at a time
MAX_EDGES = 10_000_000  # about 300 MB
WORD = np.dtype("<u8")
FAR = 1 << 62  # cost of an impossible choice

# Set of columns, as the bits of an integer → columns that may come first among them.
Heads = dict[int, tuple[int, ...]]


class _Layer(NamedTuple):
    """All sets of one size, and the edges that lead from them to the next size."""

    sets: NDArray[np.uint64]  # (m, words)
    spent: IntArray  # (m,)
    parent: IntArray  # (edges,) ascending
    child: IntArray
    placed: IntArray
    total: IntArray  # cost of the cheapest way to the child over this edge


def explore(
    bound: Bound, gap: int, columns: IntArray, deadline: float
) -> tuple[Heads, int | None] | None:
    """Find all cheapest orders, or None if every order costs more than `gap` above the bound.

    Args:
        bound: over n candidates.
        gap: ≥ 0, in the units of the bound.
        columns: shape (n,), ascending: the columns of the n candidates in the profile.
        deadline: value of `time.monotonic` at which to give up.

    Returns:
        For every set that ends a cheapest order, the columns that may come first in it; and the
        cost above the bound of the next cheapest order, or None if no other is within the gap.

    Raises:
        UnprovenOrderError: at the deadline, or when more than `MAX_EDGES` edges must be kept.
    """
    n = len(columns)
    costs = _Costs(bound, gap)
    layers: list[_Layer] = []
    edges = 0
    sets, spent = np.zeros_like(costs.bits[:1]), np.zeros(1, np.int64)
    for _ in range(n):
        parts = []
        for at in range(0, len(sets), CHUNK):
            chunk = slice(at, at + CHUNK)
            parts.append(costs.extend(sets[chunk], spent[chunk], at))
            edges += len(parts[-1][0])
            if edges > MAX_EDGES or time.monotonic() > deadline:
                raise UnprovenOrderError("the search used up its time or its memory")
        parent, placed, total = (np.concatenate(column) for column in zip(*parts, strict=True))
        if not len(parent):
            return None
        merged, child = _merge(sets[parent] | costs.bits[placed])
        layers.append(_Layer(sets, spent, parent, child, placed, total))
        sets, spent = merged, np.full(len(merged), FAR)
        np.minimum.at(spent, child, total)
    return _read(layers, int(spent[0]), gap, columns)


class _Costs:
    """Costs of putting each candidate on top of a set, vectorised over sets."""

    def __init__(self, bound: Bound, gap: int) -> None:
        self.gap = gap
        self.n = len(bound.regret)
        words = np.eye(self.n, 64 * -(-self.n // 64), dtype=np.uint8)
        self.bits = np.packbits(words, axis=1, bitorder="little").view(WORD)
        # Clipping loses nothing, because any regret above the gap rules a candidate out; and small
        # sums are exact in floating point, where a matrix product is faster.
        clipped = np.minimum(bound.regret, gap + 1)
        exact = self.n * (gap + 1) < 1 << 53
        self.regret = clipped.astype(np.float64 if exact else np.int64)
        turns = [np.roll(bound.cycles, -shift, axis=1) for shift in range(3)]
        below, column, above = np.concatenate(turns).T
        by_own = np.argsort(column, kind="stable")
        sizes = np.bincount(column, minlength=self.n)
        row = column[by_own]
        slot = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        # One row of cycles per candidate, padded with empty ones: u = w, weight 0.
        self.below, self.above, self.weight = np.zeros((3, self.n, int(sizes.max())), np.int64)
        self.below[row, slot] = below[by_own]
        self.above[row, slot] = above[by_own]
        self.weight[row, slot] = np.minimum(np.tile(bound.weights, 3)[by_own], gap + 1)

    def extend(
        self, sets: NDArray[np.uint64], spent: IntArray, start: int
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Edges within the gap: parent (counted from `start`), placed candidate, cost so far."""
        inside = np.unpackbits(sets.view(np.uint8), axis=1, bitorder="little", count=self.n)
        outside = inside == 0
        regret = (outside.astype(self.regret.dtype) @ self.regret).astype(np.int64)
        total = regret + spent[:, None]
        parent, placed = np.nonzero((total <= self.gap) & outside)
        rows = parent[:, None]
        owed = inside[rows, self.below[placed]] > inside[rows, self.above[placed]]
        spending = total[parent, placed] + np.sum(owed * self.weight[placed], axis=1)
        keep = spending <= self.gap
        return parent[keep] + start, placed[keep], spending[keep]


def _merge(sets: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], IntArray]:
    """The distinct rows, and the index of each row's value among them."""
    order = np.lexsort(sets.T)
    ranked = sets[order]
    new = np.ones(len(sets), np.bool_)
    new[1:] = np.any(ranked[1:] != ranked[:-1], axis=1)
    number = np.empty(len(sets), np.int64)
    number[order] = np.cumsum(new) - 1
    return ranked[new], number


def _read(layers: list[_Layer], best: int, gap: int, columns: IntArray) -> tuple[Heads, int | None]:
    """Walk back from the full set over the edges of the cheapest orders."""
    rest = np.zeros(1, np.int64)  # least cost from a set to the full set
    second = None
    heads: Heads = {}
    masks = {0: sum(1 << column for column in columns.tolist())}
    for layer in reversed(layers):
        through = layer.total + rest[layer.child]
        # Orders beyond the gap are only partly explored, so the cheapest of them may be missing.
        costlier = through[(through > best) & (through <= gap)]
        if costlier.size:
            least = int(costlier.min())
            second = least if second is None else min(second, least)
        rest = np.full(len(layer.sets), FAR)
        np.minimum.at(rest, layer.parent, through)
        rest -= layer.spent
        cheapest = np.flatnonzero(through == best)
        ends = layer.parent[cheapest], layer.child[cheapest], columns[layer.placed[cheapest]]
        larger, masks = masks, {}
        for parent, child, placed in np.array(ends).T.tolist():
            mask = larger[child]
            masks[parent] = mask - (1 << placed)
            heads[mask] = (*heads.get(mask, ()), placed)
    return heads, second
