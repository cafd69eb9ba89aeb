"""Kemeny–Young for thousands of small questions at once.

The steps are: count the ballots on every pair; cut the candidates of each question wherever all
above the cut beat all below it, which every optimal order respects; order the blocks between the
cuts, all blocks of one size in one dynamic program over subsets. Questions are the last axis of all
arrays, so that each operation runs over all of them.

In the dynamic program bit i of a set S is candidate i. `least[S]` is the smallest cost of an order
of S, relative to the order 0, 1, 2, …: putting i in front of the others of S reverses its pairs
with the j < i of S, and each of these costs its margin, D[j, i]. So

    least[S] = min over i in S of least[S − i] + step[i, the members of S below i],
    step[i, T] = Σ over j in T of D[j, i].

`step` does not depend on the candidates above i. It is therefore as small as `least` (row 2^i + T
holds step[i, T]), and one addition handles a whole range of sets (Held and Karp 1962).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.rankers.consensus import items_table
from tiebreak.rankers.errors import RankingError, UnprovenOrderError
from tiebreak.rankers.profile import FloatArray, IntArray

# Array cells, N × max(N, ballots) × questions, per chunk, so that arrays fit the cache.
CELLS = 2**19
# Sets × elections per table: 16 MB at 16 bits, and rows long enough for NumPy.
SUBSET_CELLS = 2**23
# Larger blocks are solved one at a time by `kemeny_young`.
MAX_CANDIDATES = 14
# Smaller questions are not cut: many small programs take longer than a larger one.
WHOLE = 8
MAX_COUNT = 2**63 - 1  # the largest 64-bit integer

Table = NDArray[np.signedinteger[Any]]


@dataclass(frozen=True, eq=False, slots=True)
class KemenyBatch:
    """One optimal order per question, and whether it is the only one.

    A question in which no candidate is ranked has no order: `ranks` are NaN, `order`, `cost` and
    `n_optima` are -1 (integers know no NaN), `unique` is False.

    Attributes:
        order: shape (Q, N), columns, best first, the lexicographically smallest optimal order.
            Candidates that no ballot of the question ranks are left out; -1 pads the row.
        ranks: shape (Q, N), 1 … n, 1 = best, NaN = absent.
        cost: shape (Q,), pairwise disagreements, the sum of P[b, a] over the pairs with a before b.
        unique: shape (Q,), whether no other order is optimal.
        n_optima: shape (Q,), number of optimal orders, capped at 2^63 − 1; None if not asked for.
            -1 also if counting would need too much memory, which can only happen with a block of
            more than 14 candidates.
    """

    order: IntArray
    ranks: FloatArray
    cost: IntArray
    unique: NDArray[np.bool_]
    n_optima: IntArray | None = None


def kemeny_young_batch(
    profiles: ArrayLike, *, count: bool = False, chunk: int | None = None
) -> KemenyBatch:
    """Exact Kemeny orders of many questions: fewest disagreements, counted as in `kemeny_young`.

    Args:
        profiles: shape (questions Q, ballots, N), lower is better, equal = tied, NaN = not ranked.
            Only the order within a ballot counts; a ballot may be empty.
        count: whether to count the optimal orders too.
        chunk: number of questions per chunk, which affects memory but not results; by default
            chosen so that temporary arrays take a few tens of megabytes.

    Raises:
        RankingError: `profiles` is not three-dimensional, or has no ballots or no candidates; a
            rank is infinite; `chunk` < 1.
        UnprovenOrderError: a question is too hard to solve, possible only with far more than 14
            candidates; `kemeny_young` returns what is known about it.
    """
    table = items_table(profiles)
    n_questions, n_ballots, n = table.shape
    size = max(1, CELLS // (n * max(n, n_ballots))) if chunk is None else chunk
    if size < 1:
        raise RankingError(f"a chunk must hold at least one question, got {chunk}")
    parts = [_solve_chunk(table, at, size, count) for at in range(0, max(n_questions, 1), size)]
    n_optima = [part.n_optima for part in parts if part.n_optima is not None]
    return KemenyBatch(
        np.concatenate([part.order for part in parts]),
        np.concatenate([part.ranks for part in parts]),
        np.concatenate([part.cost for part in parts]),
        np.concatenate([part.unique for part in parts]),
        np.concatenate(n_optima) if count else None,
    )


def _solve_chunk(table: FloatArray, at: int, size: int, count: bool) -> KemenyBatch:
    columns = np.ascontiguousarray(table[at : at + size].transpose(1, 2, 0))
    counts = _preference_counts(columns)
    present: NDArray[np.bool_] = np.logical_or.reduce(~np.isnan(columns), axis=0).T
    n_present = present.sum(axis=1)
    margins = counts - counts.transpose(1, 0, 2)
    blocks = _blocks(margins, present)
    order, unique, n_optima = _order_blocks(blocks, margins, table, at, count)
    place = order.argsort(axis=1)
    defined = n_present > 0
    first = np.flatnonzero(blocks[1] % present.shape[1] == 0)
    total = None
    if count:  # 0 marks a block whose number is not known
        products = np.multiply.reduceat(n_optima, first)
        total = np.minimum(products, MAX_COUNT).astype(np.int64)
        total = np.where(defined & (total > 0), total, -1)
    return KemenyBatch(
        np.where(np.arange(present.shape[1]) < n_present[:, None], order, -1),
        np.where(present, place + 1.0, np.nan),
        np.where(defined, _costs(counts, place.T), -1),
        np.logical_and.reduceat(unique, first) & defined,
        total,
    )


def _preference_counts(columns: FloatArray) -> Table:
    """P[i, j, q], shape (N, N, Q): number of ballots of question q that rank i strictly before j.

    Args:
        columns: ranks, shape (ballots, N, Q).
    """
    dtype = np.min_scalar_type(-len(columns) - 1)
    # NaN compares as False. NumPy adds bytes much faster than Booleans.
    before = ((columns[:, i, None] < columns).view(np.int8) for i in range(columns.shape[1]))
    return np.stack([ballots.sum(axis=0, dtype=dtype) for ballots in before])


Cells = NDArray[np.intp]


def _blocks(margins: Table, present: NDArray[np.bool_]) -> tuple[IntArray, Cells, Cells]:
    """Cut every question wherever all candidates above the cut beat all below it.

    Returns a row of columns per question: the present candidates, block after block, then the
    absent candidates, each a block of its own; and the start and length of each block, as indices
    into the flattened rows. Within a block the columns ascend.

    The sum of wins minus losses over k of n candidates is at most k (n − k), with equality if and
    only if the k beat all others. All candidates above a cut have a higher difference than all
    below, so sorting by it finds every cut (as in Landau's theorem on tournaments, 1953).
    """
    n = present.shape[1]
    n_present = present.sum(axis=1)[:, None]
    lead = np.sign(margins).sum(axis=1, dtype=np.min_scalar_type(-n)).T.astype(np.int64)
    # The sort key combines lead and column in one number; absent candidates come last.
    key = np.sort((n - np.where(present, lead, -n)) * n + np.arange(n), axis=1)
    k = np.arange(1, n + 1)
    ends = np.cumsum(n - key // n, axis=1) == k * (n_present - k)
    ends &= n_present > WHOLE
    ends |= k >= n_present
    number = (np.cumsum(ends, axis=1) - ends) * n
    order = np.sort(number + key % n, axis=1) - number
    last = np.flatnonzero(ends)
    size = np.diff(last, prepend=-1)
    return order, last - size + 1, size


def _order_blocks(
    blocks: tuple[IntArray, Cells, Cells], margins: Table, table: FloatArray, at: int, count: bool
) -> tuple[IntArray, NDArray[np.bool_], NDArray[np.object_]]:
    """Put every block into its optimal order; for each block, say whether it is unique.

    Returns the ordered columns, the uniqueness, and the number of optimal orders of each block
    (Python integers, 0 if not known).
    """
    n = len(margins)
    order, start, sizes = blocks
    unique = np.ones(len(sizes), np.bool_)
    n_optima = np.ones(len(sizes), np.object_)
    for size in np.unique(sizes[sizes > 1]):
        chosen = np.flatnonzero(sizes == size)
        question = start[chosen] // n
        cells = start[chosen] + np.arange(size)[:, None]
        members = order.ravel()[cells]
        if size > MAX_CANDIDATES:
            best, unique[chosen], n_optima[chosen] = _large_blocks(table, members, at + question)
        else:
            within = _within(margins, members, question)
            best, unique[chosen], counts = optimal_orders(within, count=count)
            if counts is not None:
                n_optima[chosen] = counts
        order.ravel()[cells] = np.take_along_axis(members, best, axis=0)
    return order, unique, n_optima


def _within(margins: Table, members: IntArray, question: NDArray[np.intp]) -> Table:
    """Margins among the members of every block, shape (n, n, K)."""
    if len(members) == len(margins):  # all columns, ascending: avoid a slow gather
        return margins[..., question]
    return margins[members[:, None], members, question]


def _large_blocks(
    table: FloatArray, members: IntArray, question: NDArray[np.intp]
) -> tuple[IntArray, list[bool], list[int]]:
    """Orders (n, K), uniqueness, number of optima (0: not known) of blocks too large for sets."""
    from tiebreak.rankers.kemeny.solve import kemeny_young

    results = []
    for columns, row in zip(members.T, question, strict=True):
        result = kemeny_young(table[row][:, columns], max_orders=1)
        if not result.complete:
            raise UnprovenOrderError(
                f"question {row}: no order of the columns {columns.tolist()} could be proven "
                "optimal within the memory that the search may take"
            )
        results.append(result)
    return (
        np.array([result.order for result in results]).T,
        [result.unique is True for result in results],
        [result.n_optima or 0 for result in results],
    )


def _costs(counts: Table, place: NDArray[np.intp]) -> IntArray:
    """Σ P[b, a] over the pairs with a before b; `place`, shape (N, Q), is 0 for the best."""
    cost = np.zeros(counts.shape[-1], np.int64)
    for i in range(len(counts) - 1):
        ahead = place[i] < place[i + 1 :]
        broken = np.where(ahead, counts[i + 1 :, i], counts[i, i + 1 :])
        cost += broken.sum(axis=0, dtype=np.int64)
    return cost


Optima = tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64] | None]


def optimal_orders(margins: Table, *, count: bool = False) -> Optima:
    """Orders with the fewest pairwise disagreements, for every election of a batch.

    Args:
        margins: shape (n, n, K), 1 ≤ n ≤ 14; D[i, j, k] is the number of ballots of election k that
            put i before j minus those that put j before i, so that D[j, i] = -D[i, j].
        count: whether to count the optimal orders too.

    Returns:
        The lexicographically smallest optimal order of each election, candidates best first, shape
        (n, K); whether it is the only one, shape (K,); the number of optimal orders, shape (K,), at
        most 14! < 2^37, None if not counted.
    """
    n, _, n_elections = margins.shape
    width = SUBSET_CELLS >> n
    parts = [
        _optimal_orders(margins[:, :, at : at + width], count)
        for at in range(0, max(n_elections, 1), width)
    ]
    orders, uniques, counts = zip(*parts, strict=True)
    return (
        np.concatenate(orders, axis=1),
        np.concatenate(uniques),
        np.concatenate([part for part in counts if part is not None]) if count else None,
    )


def _optimal_orders(margins: Table, count: bool) -> Optima:
    step = _steps(margins)
    least = _least_costs(step)
    order, unique = _first_optimum(least, step)
    return order, unique, _count(least, step) if count else None


def _steps(margins: Table) -> Table:
    """Row 2^i + T: cost of putting i in front of a set whose members below i are T."""
    n, _, n_elections = margins.shape
    # No order reverses more than all pairs. Computed as a Python integer, because the bound for
    # 8-bit margins does not fit in 8 bits.
    bound = n * (n - 1) // 2 * int(margins.max(initial=0))
    margins = margins.astype(np.min_scalar_type(-bound - 1), copy=False)
    step = np.empty((1 << n, n_elections), margins.dtype)
    for i in range(n):
        cost = step[1 << i : 2 << i]
        cost[0] = 0
        for j in range(i):
            np.add(cost[: 1 << j], margins[j, i], out=cost[1 << j : 2 << j])
    return step


def _least_costs(step: Table) -> Table:
    least = np.empty_like(step)
    least[0] = 0
    spare = np.empty_like(step[: max(1, len(step) // 4)])
    # With i the lowest set bit of m, candidate i is put in front of each of the 2^i sets from m −
    # 2^i to m − 1. Their costs are final by then: candidate i is added to a set S when m is S
    # without the bits below i, so never after m = S.
    for m in range(1, len(step)):
        size = m & -m
        above = least[m : m + size]
        if m == size:
            np.add(least[:m], step[m : m + size], out=above)
        else:
            in_front = np.add(least[m - size : m], step[size : 2 * size], out=spare[:size])
            np.minimum(above, in_front, out=above)
    return least


def _first_optimum(least: Table, step: Table) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Fill places from the best on with the smallest candidate that an optimal order allows."""
    n, n_elections = len(least).bit_length() - 1, least.shape[1]
    election = np.arange(n_elections)
    order = np.empty((n, n_elections), np.int64)
    unique = np.ones(n_elections, np.bool_)
    left = np.full(n_elections, len(least) - 1)
    # The remaining candidates as bits, ascending. `take` is fastest with flat indices.
    bits = np.repeat(1 << np.arange(n)[:, None], n_elections, axis=1)
    for place in range(n):
        cost = least.take(left * n_elections + election)
        behind = least.take((left - bits) * n_elections + election)
        extra = step.take((bits | left & (bits - 1)) * n_elections + election)
        optimal = np.where(behind + extra == cost, bits, 0).sum(axis=0)
        chosen = optimal & -optimal
        unique &= optimal == chosen
        order[place] = np.bitwise_count(chosen - 1)
        left -= chosen
        bits = np.where(bits[:-1] < chosen, bits[:-1], bits[1:])
    return order, unique


def _count(least: Table, step: Table) -> NDArray[np.int64]:
    """Number of orders of all candidates with the least cost; visits sets like `_least_costs`."""
    orders = np.zeros(least.shape, np.int64)
    orders[0] = 1
    for m in range(1, len(step)):
        size = m & -m
        below, above = slice(m - size, m), slice(m, m + size)
        optimal = least[below] + step[size : 2 * size] == least[above]
        orders[above] += np.where(optimal, orders[below], 0)
    full: NDArray[np.int64] = orders[-1].copy()
    return full
