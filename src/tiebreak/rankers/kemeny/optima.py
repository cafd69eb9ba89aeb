"""All optimal orders of a profile, out of those of its parts.

A part is a majority cycle or a single candidate. An order is optimal if and only if it is optimal
within every part and breaks no majority between two parts. So it can be read off from the front: a
candidate may come next if it may in its own part, and no one of another part that is still to come
beats it. No choice leads to a dead end.
"""

import math
import time
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from tiebreak.rankers.kemeny.search import Heads
from tiebreak.rankers.pairwise import components
from tiebreak.rankers.profile import IntArray

MAX_SETS = 300_000  # sets that are counted before giving up: about a second


class Part(NamedTuple):
    """Some columns, also as the bits of `full`, and what may begin the ends of optimal orders."""

    columns: tuple[int, ...]
    full: int
    heads: Heads


class Optima:
    """The optimal orders of the parts of one profile."""

    def __init__(self, margin: IntArray, parts: Sequence[Part]) -> None:
        self.margin = margin
        self.parts = parts
        packed = np.packbits(margin > 0, axis=0, bitorder="little")
        stronger = [int.from_bytes(column.tobytes(), "little") for column in packed.T]
        # Who beats a candidate, within its own part left out: there, `heads` has the say.
        self.rivals = {
            column: stronger[column] & ~part.full for part in parts for column in part.columns
        }

    def orders(self, limit: int) -> list[tuple[int, ...]]:
        """The lexicographically smallest optimal orders, at most `limit`, ascending."""
        found: list[tuple[int, ...]] = []
        stack: list[tuple[int, tuple[int, ...]]] = [(_together(self.parts), ())]
        while stack and len(found) < limit:
            remaining, order = stack.pop()
            if not remaining:
                found.append(order)
            for column in reversed(self._next(remaining, self.parts)):
                stack.append((remaining & ~(1 << column), (*order, column)))
        return found

    def count(self, deadline: float = math.inf) -> int | None:
        """Number of optimal orders; None if finding it takes too much time or memory.

        The linear extensions of a partial order are a case of this, and no fast way to count them
        is known that always works.
        """
        return self._count(self.parts, deadline)

    def _count(self, parts: Sequence[Part], deadline: float) -> int | None:
        # Groups one of which beats all of the other multiply. Groups without a majority between
        # them do, and interleave besides. What is neither is counted set by set.
        for sign in (1, 0):
            groups = self._split(parts, sign)
            if len(groups) > 1:
                ways = [self._count(group, deadline) for group in groups]
                known = [number for number in ways if number is not None]
                if len(known) < len(ways):
                    return None
                sizes = [_together(group).bit_count() for group in groups]
                return math.prod(known) * (1 if sign else _interleavings(sizes))
        return self._count_sets(parts, deadline)

    def _split(self, parts: Sequence[Part], sign: Literal[1, 0]) -> list[list[Part]]:
        """Groups one of which beats all of the other (sign 1), or none any of the other (0)."""
        columns = [column for part in parts for column in part.columns]
        margin = self.margin[np.ix_(columns, columns)]
        label = components(margin >= 0 if sign else margin != 0)
        group_of = dict(zip(columns, label.tolist(), strict=True))
        # Parts are strongly connected themselves, so one of all columns tells for all of them.
        groups: dict[int, list[Part]] = {}
        for part in parts:
            groups.setdefault(group_of[part.columns[0]], []).append(part)
        return list(groups.values())

    def _count_sets(self, parts: Sequence[Part], deadline: float) -> int | None:
        ways = {_together(parts): 1}  # remaining columns → beginnings that leave just these
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
        """Who of the remaining columns, all of them in these parts, may come first; ascending."""
        return sorted(
            column
            for part in parts
            for column in part.heads.get(part.full & remaining, ())
            if not self.rivals[column] & remaining
        )


def _together(parts: Sequence[Part]) -> int:
    return sum(part.full for part in parts)


def _interleavings(sizes: Sequence[int]) -> int:
    return math.factorial(sum(sizes)) // math.prod(map(math.factorial, sizes))
