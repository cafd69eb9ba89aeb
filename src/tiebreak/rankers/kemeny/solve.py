"""Exact Kemeny–Young for a single profile.

Every majority cycle is solved separately. A small cycle is solved by dynamic programming over all
of its subsets: the cheapest order of a set has a head, which breaks the majorities of the rest over
it, followed by the cheapest order of the rest (Held and Karp 1962). The cheapest order that ends
with a given set costs the sum of the cheapest order of the set, the cheapest order of the others,
and the majorities of the set over the others.

For larger cycles local search gives a good order, 3-cycles give a lower bound (by linear
programming if many of them overlap), and a search over sets between the two finds every optimal
order. The optimal orders of the profile are combined from those of its parts.

A part is a majority cycle or a single candidate. An order is optimal if and only if it is optimal
within every part and breaks no majority between two parts. It can therefore be built from the
front: a candidate may come next if it may come next in its own part, and no remaining candidate of
another part beats it. No choice leads to a dead end.
"""

import contextlib
import math
import time
from collections.abc import Sequence
from functools import cache
from itertools import pairwise, permutations
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.rankers.errors import RankingError, UnprovenOrderError
from tiebreak.rankers.kemeny.certificate import Certificate, KemenyResult
from tiebreak.rankers.kemeny.cycles import (
    FAR,
    SCALE,
    Bound,
    Heads,
    copeland_order,
    cycle_bound,
    excess,
    explore,
    improve,
    packed,
)
from tiebreak.rankers.profile import (
    FloatArray,
    IntArray,
    Profile,
    as_ballots,
    components,
    majorities,
    preference_counts,
)
from tiebreak.reason import Reason

MAX_SETS = 300_000  # sets visited before counting gives up: about a second

MOST_IN_SETS = 10
"""Cycles of at most this many candidates are solved over all sets; larger ones use a bound."""


class Part(NamedTuple):
    """A majority cycle, or a candidate in no cycle; costs are sums of broken majorities.

    `heads` describes all optimal orders, or, if not `complete`, the single known order.
    """

    columns: tuple[int, ...]
    full: int  # the columns as bits
    heads: Heads
    cost: int = 0
    floor: int = 0  # no order costs less
    complete: bool = True
    bound: Bound = packed(np.zeros((1, 1), np.int64), np.empty((0, 3), np.int64))
    step: int = 1  # the costs of any two orders differ by a multiple of it
    second: int | None = None  # cost of the second best order, if known


class Optima:
    """The optimal orders of the parts of one profile."""

    def __init__(self, margin: IntArray, parts: Sequence[Part]) -> None:
        self.margin = margin
        self.parts = parts
        bits = np.packbits(margin.T > 0, axis=1, bitorder="little")
        rows, width = bits.tobytes(), bits.shape[1]
        stronger = [
            int.from_bytes(rows[at : at + width], "little") for at in range(0, len(rows), width)
        ]
        # The candidates of other parts that beat a candidate; within its own part `heads` decides.
        self.rivals = {
            column: stronger[column] & ~part.full for part in parts for column in part.columns
        }

    def orders(self, limit: int) -> list[tuple[int, ...]]:
        """At most `limit` optimal orders, the lexicographically smallest ones, ascending."""
        following: dict[int, list[int]] = {}
        orders: list[tuple[int, ...]] = []
        stack: list[tuple[int, tuple[int, ...]]] = [(_together(self.parts), ())]
        while stack and len(orders) < limit:
            remaining, order = stack.pop()
            if not remaining:
                orders.append(order)
            if remaining not in following:
                following[remaining] = self._next(remaining, self.parts)[::-1]
            for column in following[remaining]:
                stack.append((remaining & ~(1 << column), (*order, column)))
        return orders

    def count(self, deadline: float = math.inf) -> int | None:
        """Number of optimal orders; None if finding it takes too much time or memory.

        Counting the linear extensions of a partial order is a special case, and no algorithm is
        known that is fast for every instance.
        """
        return self._count(self.parts, deadline)

    def _count(self, parts: Sequence[Part], deadline: float) -> int | None:
        # If of any two groups one beats all of the other, their counts multiply. Without majorities
        # between groups, they also interleave freely. Otherwise count set by set.
        for sign in (1, 0):
            groups = self._split(parts, sign)
            if len(groups) > 1:
                ways = [self._count(group, deadline) for group in groups]
                known = [number for number in ways if number is not None]
                if len(known) < len(ways):
                    return None
                sizes = [_together(group).bit_count() for group in groups]
                orders = math.factorial(sum(sizes)) // math.prod(map(math.factorial, sizes))
                return math.prod(known) * (1 if sign else orders)
        return self._count_sets(parts, deadline)

    def _split(self, parts: Sequence[Part], sign: Literal[1, 0]) -> list[list[Part]]:
        """Groups: of any two one beats all of the other (sign 1), or no majority exists (0)."""
        columns = [column for part in parts for column in part.columns]
        margin = self.margin[np.ix_(columns, columns)]
        label = components(margin >= 0 if sign else margin != 0)
        group_of = dict(zip(columns, label.tolist(), strict=True))
        # A part is strongly connected, so its first column determines its group.
        groups: dict[int, list[Part]] = {}
        for part in parts:
            groups.setdefault(group_of[part.columns[0]], []).append(part)
        return list(groups.values())

    def _count_sets(self, parts: Sequence[Part], deadline: float) -> int | None:
        ways = {_together(parts): 1}  # remaining columns → number of beginnings that leave them
        seen = 0
        for _ in range(_together(parts).bit_count()):
            longer: dict[int, int] = {}
            for remaining, beginnings in ways.items():
                for column in self._next(remaining, parts):
                    rest = remaining & ~(1 << column)
                    longer[rest] = longer.get(rest, 0) + beginnings
            ways = longer
            seen += len(ways)
            if seen > MAX_SETS or time.monotonic() > deadline:
                return None
        return ways[0]

    def _next(self, remaining: int, parts: Sequence[Part]) -> list[int]:
        """Columns of `remaining`, all within `parts`, that may come next; ascending."""
        heads: list[int] = []
        for part in parts:
            for column in part.heads.get(part.full & remaining, ()):
                if not self.rivals[column] & remaining:
                    heads.append(column)
        heads.sort()
        return heads


def _together(parts: Sequence[Part]) -> int:
    return sum(part.full for part in parts)


MOST_CANDIDATES = 2_000
"""With more candidates it takes minutes until the time limit is first checked."""


def kemeny_young(
    profile: Profile | ArrayLike, *, time_limit: float | None = None, max_orders: int = 100
) -> KemenyResult:
    """An order with the fewest pairwise disagreements with the ballots (Kemeny 1959).

    A ballot disagrees with "a before b" if it ranks b strictly before a; a ballot that ties the
    pair or does not rank both does not disagree. The order has no ties, and is the
    lexicographically smallest optimal order in columns (see `KemenyResult.order`).

    Finding it is NP-hard. Fifty candidates with uniformly random ballots, or two hundred with
    similar ballots, take a fraction of a second; more may never end without a `time_limit`.

    Args:
        profile: a Profile, or ranks of shape (ballots, N), lower is better, NaN = not ranked.
        time_limit: seconds after which to return the best order found so far and a lower bound of
            the cost. It is checked between steps, so it can be exceeded slightly. None: no limit.
        max_orders: maximum number of optimal orders to list, ≥ 1.

    Raises:
        RankingError: as `Profile.from_ranks`; a negative time limit, `max_orders` below 1; more
            than `MOST_CANDIDATES`.
    """
    if max_orders < 1 or (time_limit is not None and not time_limit >= 0):
        raise RankingError(f"max_orders must be ≥ 1 and time_limit ≥ 0: {max_orders}, {time_limit}")
    deadline = _deadline(time_limit)
    ballots = as_ballots(profile)
    ballots.require_at_most(MOST_CANDIDATES, "Kemeny–Young orders")
    counts = preference_counts(ballots)
    margin = counts - counts.T
    condorcet_winner, cycles = majorities(margin)
    # Small cycles first, so that a time limit leaves as few as possible unsolved.
    solved = [_solve_cycle(margin, cycle, deadline) for cycle in sorted(cycles, key=len)]
    alone = set(range(len(margin))).difference(*cycles)
    single = [Part((column,), 1 << column, _chain((column,))) for column in sorted(alone)]
    optima = Optima(margin, [*solved, *single])
    orders = optima.orders(max_orders)
    order = orders[0]
    base = int(np.minimum(counts, counts.T).sum()) // 2
    cost = base + sum(cycle.cost for cycle in solved)
    lower_bound = cost - sum(cycle.cost - cycle.floor for cycle in solved)
    optimal = lower_bound == cost
    free = tuple((a, b) for a, b in pairwise(order) if margin[a, b] == 0)
    unique = _unique(solved, bool(free)) if optimal else None
    complete = all(cycle.complete for cycle in solved)
    n_optima = 1 if unique else None
    if unique is False and complete:
        n_optima = len(orders) if len(orders) < max_orders else optima.count(deadline)
    method = Reason("no_majority_cycle")
    if solved:
        method = Reason("search_of_cycles" if complete else "stopped_search")
    return KemenyResult(
        order=order,
        cost=cost,
        lower_bound=lower_bound,
        optimal=optimal,
        complete=complete,
        unique=unique,
        n_optima=n_optima,
        method=method,
        certificate=_certificate(solved, base),
        orders=tuple(orders) if optimal else (),
        interchangeable=free,
        condorcet_winner=condorcet_winner,
        cycles=cycles,
        margin=_second_best(solved, order, margin, unique, deadline),
        names=ballots.names,
    )


def _deadline(time_limit: float | None) -> float:
    if time_limit is None:
        return math.inf
    # Load SciPy first, because that takes a second in a new process and is not search time.
    import scipy.optimize  # noqa: F401

    return time.monotonic() + time_limit


def _solve_cycle(margin: IntArray, cycle: tuple[int, ...], deadline: float) -> Part:
    columns = np.array(cycle)
    within = margin[columns[:, None], columns]
    if len(cycle) <= MOST_IN_SETS:
        heads, cost, second = all_optima(within, columns)
        bound = packed(within, majority_triangles(within))
        return Part(cycle, max(heads), heads, cost, cost, True, bound, second=second)
    step = int(np.gcd.reduce(within, axis=None))
    order = improve(copeland_order(within), within, deadline)
    bound, order = cycle_bound(within, order, step, deadline)
    cost = excess(order, within)
    floor = cost - step * ((SCALE * cost - bound.value) // (SCALE * step))
    heads, complete = _chain(columns[order].tolist()), False
    # Raise the gap by one step at a time: the first gap with an order has only optimal ones.
    with contextlib.suppress(UnprovenOrderError):
        while (explored := explore(bound, SCALE * floor - bound.value, columns, deadline)) is None:
            floor += step
        cost, heads, complete = floor, explored[0], True
    return Part(cycle, max(heads), heads, cost, floor, complete, bound, step)


@cache
def _sets(n: int) -> tuple[FloatArray, FloatArray, IntArray, list[slice]]:
    """All sets of n candidates by size; entry −1 − k is the complement of entry k.

    Returns three tables of shape (2^n, n): 1 if the candidate is inside the set, else 0; 1 if it is
    outside; and the index of the set without it. Then the slices of sets with 2, … n members.
    """
    bits = np.arange(1 << n)
    bits = bits[np.argsort(np.bitwise_count(bits), kind="stable")]
    member = bits[:, None] >> np.arange(n) & 1
    rest = np.argsort(bits)[bits[:, None] - (member << np.arange(n))]
    ends = np.cumsum(np.bincount(member.sum(axis=1))).tolist()
    inside = member.astype(np.float64)
    return inside, 1 - inside, rest, [slice(*both) for both in pairwise(ends[1:])]


def all_optima(margin: IntArray, columns: IntArray) -> tuple[Heads, int, int]:
    """All optimal orders of at most `MOST_IN_SETS` candidates.

    Args:
        margin: shape (n, n), antisymmetric.
        columns: shape (n,), ascending: the columns of the n candidates in the profile.

    Returns:
        For every set that ends an optimal order, the columns that may come first in it; the sum of
        majorities that an optimal order breaks; and that sum for the best order that ends with any
        other set, which is the second best order if the optimal one is unique.
    """
    inside, outside, rest, sizes = _sets(len(columns))
    # Shape (2^n, n): the majorities of a set over a candidate, and the cost of the set's cheapest
    # order headed by the candidate. These are whole numbers, exact below 2^53.
    broken = inside @ np.maximum(margin, 0)
    through = broken + FAR * outside
    least = np.zeros(len(broken))
    for sets in sizes:
        ways = through[sets]
        ways += least.take(rest[sets])
        np.minimum.reduce(ways, axis=1, out=least[sets])
    ending = least + least[::-1] + np.vecdot(broken, outside)
    optimal = ending == least[-1]
    second = np.minimum.reduce(ending, where=~optimal, initial=FAR)
    subset, head = np.nonzero((through == least[:, None]) & optimal[:, None])
    masks = {0: 0}
    heads: Heads = {}
    for number, left, column in np.array([subset, rest[subset, head], columns[head]]).T.tolist():
        mask = masks[number] = masks[left] | 1 << column
        heads[mask] = (*heads.get(mask, ()), column)
    return heads, int(least[-1]), int(second)


@cache
def _triangles(n: int) -> tuple[IntArray, IntArray]:
    """All directed 3-cycles, lowest column first, and their arcs as flat indices into (n, n)."""
    turns = [turn for turn in permutations(range(n), 3) if turn[0] == min(turn)]
    cycles = np.array(turns, np.int64).reshape(-1, 3)
    return cycles, (n * cycles + np.roll(cycles, -1, axis=1)).T.copy()


def majority_triangles(margin: IntArray) -> IntArray:
    """Directed 3-cycles of majorities, the strongest first, shape (T, 3), lowest column first.

    Args:
        margin: shape (n, n), antisymmetric, with small n: all n³ / 3 cycles are examined.
    """
    cycles, cells = _triangles(len(margin))
    weakest = np.minimum.reduce(margin.take(cells))
    order = (-weakest).argsort(kind="stable")
    strongest: IntArray = cycles[order[: np.count_nonzero(weakest > 0)]]
    return strongest


def _chain(order: Sequence[int]) -> Heads:
    heads: Heads = {}
    remaining = 0
    for column in reversed(order):
        remaining |= 1 << column
        heads[remaining] = (column,)
    return heads


def _unique(solved: Sequence[Part], free: bool) -> bool | None:
    """Whether there is one optimal order, None if not known; `free`: neighbours can be swapped.

    If every cycle has a single optimal order, the optimal orders of all candidates are the linear
    extensions of a partial order; if there are several, each has neighbours to swap.
    """
    if free or any(len(first) > 1 for cycle in solved for first in cycle.heads.values()):
        return False
    return True if all(cycle.complete for cycle in solved) else None


def _second_best(
    solved: Sequence[Part],
    order: Sequence[int],
    margin: IntArray,
    unique: bool | None,
    deadline: float,
) -> int | None:
    """Cost of the best different order minus the optimal cost; None if not known.

    Any different order reverses some neighbours of the unique optimum. If they are in different
    parts, this costs at least their margin, and swapping them costs no more. If they are in the
    same part, the order is not optimal within it, and a search decides whether one is cheaper than
    a swap.
    """
    if unique is None or len(order) == 1:
        return None
    least = min(int(margin[a, b]) for a, b in pairwise(order)) if unique else 0
    for cycle in solved:
        if cycle.second is not None:
            least = min(least, cycle.second - cycle.cost)
        elif least > cycle.step:
            gap = SCALE * (cycle.cost + least - 1) - cycle.bound.value
            try:
                explored = explore(cycle.bound, gap, np.array(cycle.columns), deadline)
            except UnprovenOrderError:
                return None
            if explored is not None and explored[1] is not None:
                least = (explored[1] + cycle.bound.value) // SCALE - cycle.cost
    return least


def _certificate(solved: Sequence[Part], base: int) -> Certificate:
    weights: dict[tuple[int, int, int], int] = {}
    for cycle in solved:
        rows = np.array(cycle.columns)[cycle.bound.cycles].tolist()
        weights |= zip(map(tuple, rows), cycle.bound.weights.tolist(), strict=True)
    return Certificate(weights, SCALE, SCALE * base + sum(cycle.bound.value for cycle in solved))
