"""Every order within a given distance of a lower bound, by dynamic programming over sets.

A state is the set of candidates that are placed, from the last place upwards; orders that agree on
the set share it. Putting v on top of a set S decides that all others outside come before v.
Above the bound (see `cycles.Bound`), that costs

    Σ regret[w, v] over w outside   +   Σ weight of the cycles u → v → w → u, u in S, w outside:

only its arc w → u is obeyed then. A set whose costs exceed the gap is dropped; with a close bound,
few are left.
"""

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiebreak.rankers.errors import UnprovenOrderError
from tiebreak.rankers.kemeny.cycles import Bound
from tiebreak.rankers.profile import IntArray

CHUNK = 1 << 12  # sets that are extended at a time
MAX_EDGES = 10_000_000  # about 300 MB
WORD = np.dtype("<u8")
FAR = 1 << 62  # cost of what cannot be

# Set of columns, as the bits of an integer → who may come first among them.
Heads = dict[int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Explored:
    """The cheapest orders within the gap.

    `best` is their cost and `second` that of the cheapest order that costs more, None if there is
    none within the gap: both above the bound, in its units. `heads` tells, for every set that ends
    a cheapest order, who may come first in it.
    """

    best: int
    second: int | None
    heads: Heads


class _Layer(NamedTuple):
    """All sets of one size, and the edges that lead from them to the next size."""

    sets: NDArray[np.uint64]  # (m, words)
    spent: IntArray  # (m,)
    parent: IntArray  # (edges,) ascending
    child: IntArray
    placed: IntArray
    total: IntArray  # spent on the way to the child over this edge


def explore(bound: Bound, gap: int, columns: IntArray, deadline: float) -> Explored | None:
    """The cheapest orders, if any costs at most `gap` above the bound.

    Args:
        bound: over n candidates.
        gap: ≥ 0, in the units of the bound.
        columns: shape (n,), ascending: what the n candidates are called in the answer.
        deadline: value of `time.monotonic` at which to give up.

    Raises:
        UnprovenOrderError: at the deadline, or when more than `MAX_EDGES` edges must be kept.
    """
    n = len(columns)
    costs = _Costs(bound, gap)
    layers: list[_Layer] = []
    edges = 0
    sets, spent = np.zeros((1, -(-n // 64)), WORD), np.zeros(1, np.int64)
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
        grown = sets[parent]
        grown[np.arange(len(grown)), placed >> 6] |= np.left_shift(
            WORD.type(1), (placed & 63).astype(WORD)
        )
        merged, child = _merge(grown)
        layers.append(_Layer(sets, spent, parent, child, placed, total))
        sets, spent = merged, np.full(len(merged), FAR)
        np.minimum.at(spent, child, total)
    return _read(layers, int(spent[0]), gap, columns)


class _Costs:
    """What it costs to put a candidate on top of a set, vectorised over sets."""

    def __init__(self, bound: Bound, gap: int) -> None:
        self.gap = gap
        self.n = len(bound.regret)
        # A regret above the gap bars as well as a greater one, and small sums are exact floats.
        clipped = np.minimum(bound.regret, gap + 1)
        exact = self.n * (gap + 1) < 1 << 53
        self.regret = clipped.astype(np.float64 if exact else np.int64)
        turns = [np.roll(bound.cycles, -shift, axis=1) for shift in range(3)]
        below, own, above = np.concatenate(turns).T
        by_own = np.argsort(own, kind="stable")
        sizes = np.bincount(own, minlength=self.n)
        row = own[by_own]
        slot = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        # One row of cycles per candidate; the rest of a row is empty: u = w, weight 0.
        self.below, self.above, self.weight = np.zeros((3, self.n, int(sizes.max())), np.int64)
        self.below[row, slot] = below[by_own]
        self.above[row, slot] = above[by_own]
        self.weight[row, slot] = np.minimum(np.tile(bound.weights, 3)[by_own], gap + 1)

    def extend(
        self, sets: NDArray[np.uint64], spent: IntArray, start: int
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Edges within the gap: parent (counted from `start`), who is placed, spent in total."""
        inside = np.unpackbits(sets.view(np.uint8), axis=1, bitorder="little", count=self.n)
        outside = (inside == 0).astype(self.regret.dtype)
        regret = (outside @ self.regret).astype(np.int64)
        total = regret + spent[:, None]
        parent, placed = np.nonzero((total <= self.gap) & (inside == 0))
        rows = parent[:, None]
        owed = inside[rows, self.below[placed]] > inside[rows, self.above[placed]]
        spending = total[parent, placed] + np.sum(owed * self.weight[placed], axis=1)
        keep = spending <= self.gap
        return parent[keep] + start, placed[keep], spending[keep]


def _merge(sets: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], IntArray]:
    """The different rows, and for every row which of them it is."""
    order = np.lexsort(sets.T)
    ranked = sets[order]
    new = np.ones(len(sets), np.bool_)
    new[1:] = np.any(ranked[1:] != ranked[:-1], axis=1)
    which = np.empty(len(sets), np.int64)
    which[order] = np.cumsum(new) - 1
    return ranked[new], which


def _read(layers: list[_Layer], best: int, gap: int, columns: IntArray) -> Explored:
    """Walks back from the full set over the edges of the cheapest orders."""
    rest = np.zeros(1, np.int64)  # cheapest way from a set to the full set
    second = None
    heads: Heads = {}
    for layer in reversed(layers):
        through = layer.total + rest[layer.child]
        # Beyond the gap, some orders are found by chance, and not the cheapest ones.
        costlier = through[(through > best) & (through <= gap)]
        if costlier.size:
            least = int(costlier.min())
            second = least if second is None else min(second, least)
        rest = np.full(len(layer.sets), FAR)
        np.minimum.at(rest, layer.parent, through)
        rest -= layer.spent
        cheapest = np.flatnonzero(through == best)
        masks = _masks(layer.sets, np.unique(layer.parent[cheapest]), columns)
        for parent, placed in zip(
            layer.parent[cheapest].tolist(), columns[layer.placed[cheapest]].tolist(), strict=True
        ):
            child = masks[parent] | 1 << placed
            heads[child] = (*heads.get(child, ()), placed)
    return Explored(best, second, heads)


def _masks(sets: NDArray[np.uint64], chosen: IntArray, columns: IntArray) -> dict[int, int]:
    """Some of the sets, as the bits of integers over `columns`."""
    inside = np.unpackbits(
        sets[chosen].view(np.uint8), axis=1, bitorder="little", count=len(columns)
    )
    wide = np.zeros((len(chosen), int(columns[-1]) + 1), np.uint8)
    wide[:, columns] = inside
    packed = np.packbits(wide, axis=1, bitorder="little")
    return {
        which: int.from_bytes(row.tobytes(), "little")
        for which, row in zip(chosen.tolist(), packed, strict=True)
    }
