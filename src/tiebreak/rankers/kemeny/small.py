"""One majority cycle of few candidates: every optimal order, by dynamic programming over all sets.

The cheapest order of a set has a head, which breaks the majorities of the rest over it, and after
it the cheapest order of the rest (Held and Karp 1962). Of the orders that end with a set, the
cheapest costs what the cheapest order of the set, the cheapest order of the others, and the
majorities of the set over the others add up to.
"""

from functools import cache
from itertools import pairwise, permutations

import numpy as np

from tiebreak.rankers.kemeny.cycles import FAR, Heads
from tiebreak.rankers.profile import FloatArray, IntArray

MOST_IN_SETS = 10
"""Of so few candidates all sets are looked at; of more, only those that a bound leaves."""


@cache
def _sets(n: int) -> tuple[FloatArray, FloatArray, IntArray, list[slice]]:
    """The sets of n candidates by size, so that counting from the end gives what each leaves out.

    Of shape (2^n, n): whether each candidate is inside, 1 or 0, and whether outside; and the number
    of the set without it. Then which sets have 2, … n members.
    """
    bits = np.arange(1 << n)
    bits = bits[np.argsort(np.bitwise_count(bits), kind="stable")]
    member = bits[:, None] >> np.arange(n) & 1
    rest = np.argsort(bits)[bits[:, None] - (member << np.arange(n))]
    ends = np.cumsum(np.bincount(member.sum(axis=1))).tolist()
    inside = member.astype(np.float64)
    return inside, 1 - inside, rest, [slice(*both) for both in pairwise(ends[1:])]


def all_optima(margin: IntArray, columns: IntArray) -> tuple[Heads, int, int]:
    """The optimal orders of at most `MOST_IN_SETS` candidates.

    Args:
        margin: shape (n, n), antisymmetric.
        columns: shape (n,), ascending: what the n candidates are called in the answer.

    Returns:
        For every set that ends an optimal order, who may come first in it; the sum of majorities
        that such an order breaks; and that sum for the best order that ends with any other set: if
        the optimal order is unique, for the second best.
    """
    inside, outside, rest, sizes = _sets(len(columns))
    # Shape (2^n, n): the majorities of a set over a candidate, and what the set's cheapest order
    # costs that the candidate heads. These are whole numbers, exact below 2^53.
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
    """All directed 3-cycles, the least column first, and their three cells of a matrix (n, n)."""
    turns = [turn for turn in permutations(range(n), 3) if turn[0] == min(turn)]
    cycles = np.array(turns, np.int64).reshape(-1, 3)
    return cycles, (n * cycles + np.roll(cycles, -1, axis=1)).T.copy()


def majority_triangles(margin: IntArray) -> IntArray:
    """Directed 3-cycles of majorities, the strongest first, shape (T, 3), the least column first.

    Args:
        margin: shape (n, n), antisymmetric, of few candidates: it looks at all n³ / 3 cycles.
    """
    cycles, cells = _triangles(len(margin))
    weakest = np.minimum.reduce(margin.take(cells))
    order = (-weakest).argsort(kind="stable")
    strongest: IntArray = cycles[order[: np.count_nonzero(weakest > 0)]]
    return strongest
