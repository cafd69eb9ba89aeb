"""Schedule of matches when not all pairs meet on every item, and which side is shown first.

The rounds are those of a round robin by the circle method: in every round each model meets one
other (with an odd number one sits out), and over all rounds each pair meets once. The order of
models on the circle is drawn by lot.

    item 0    round 0, 1, 2, …         k rounds per item are the first k of its line, so more rounds
    item 1    round 1, 2, 3, …         keep those already played; over the items every round, and so
    …                                  every pair, comes equally often (to within one)

The schedule never depends on results. If the number of items changes, only the last items of a
benchmark, fewer than twice the number of rounds, play other rounds or other orders of presentation,
and even these keep their first round, which was paid for.
"""

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from random import Random
from typing import Final

Pair = tuple[str, str]

SAMPLED_ROUNDS: Final = 5
"""One of this many items has a match of its first round asked in both orders: 20 of 100 items,
enough to distinguish a judge that discriminates well between answers from a coin."""


@dataclass(frozen=True)
class Schedule:
    """The matches of some models over the items of one benchmark, determined by a seed."""

    models: tuple[str, ...]
    n_items: int
    seed: str

    @cached_property
    def rounds(self) -> tuple[tuple[Pair, ...], ...]:
        """The rounds of the circle method: N − 1, or N if N is odd; pairs are sorted by name."""
        circle = sorted(self.models)
        Random(f"{self.seed}\x1fcircle").shuffle(circle)
        return tuple(
            tuple(tuple(sorted((circle[a], circle[b]))) for a, b in pairs)  # type: ignore[misc]
            for pairs in circle_method(len(circle))
        )

    def of(self, item: int) -> tuple[tuple[Pair, ...], ...]:
        """All rounds in the order in which an item plays them."""
        return tuple(self.rounds[number] for number in line(item, self.n_items, len(self.rounds)))

    def against(self, model: str, item: int) -> tuple[Pair, ...]:
        """The matches of one model against all others, in the order in which an item asks them.

        For any number of matches per item, over the items it meets all others equally often, to
        within one.
        """
        opponents = sorted({*self.models} - {model})
        Random(f"{self.seed}\x1f{model}").shuffle(opponents)
        n = len(opponents)
        # Sides alternate over items, so with an even number each pair would always have the same
        # sides.
        moved = 0 if n % 2 else item // n
        met = (opponents[(place + moved) % n] for place in line(item, self.n_items, n))
        return tuple((min(model, opponent), max(model, opponent)) for opponent in met)

    def first(self, item: int) -> dict[Pair, str]:
        """The model shown first on an item, for every sorted pair of names.

        Over the items each pair is shown in both orders equally often, to within one, whatever the
        number of rounds; the order on the first item is drawn by lot for each pair.
        """
        turned = turns(item, self.n_items, len(self.rounds))
        return {
            pair: pair[turned[number] ^ self._lots[pair]]
            for number, pairs in enumerate(self.rounds)
            for pair in pairs
        }

    def sampled(self, item: int) -> int:
        """Position in an item's line, from 0, of the round that a match is sampled from, if played.

        Each of the first n rounds is drawn once by n items in a row; n ≤ `SAMPLED_ROUNDS`.
        """
        n = min(len(self.rounds), SAMPLED_ROUNDS)
        block, place = divmod(item, n)
        return Random(f"{self.seed}\x1fsample\x1f{block}").sample(range(n), n)[place]

    @cached_property
    def _lots(self) -> dict[Pair, int]:
        # From the pair alone, so that another model in the pool does not change other pairs' sides.
        texts = {pair: "\x1f".join((self.seed, *pair)) for pairs in self.rounds for pair in pairs}
        return {pair: hashlib.sha256(t.encode()).digest()[0] & 1 for pair, t in texts.items()}


schedule = lru_cache(maxsize=32)(Schedule)
"""Cached, so that all items of a benchmark share one schedule."""


def n_rounds(n_models: int) -> int:
    """Number of rounds until each pair has met: N − 1, or N if N is odd."""
    return n_models - 1 + n_models % 2


def circle_method(n: int) -> list[list[tuple[int, int]]]:
    """Rounds of a round robin of n players: one is fixed, the others rotate by one place."""
    *moving, fixed = range(n + n % 2)
    rounds = []
    for turn in range(len(moving)):
        ring = [*moving[turn:], *moving[:turn]]
        pairs = [(ring[0], fixed)]
        pairs += [(ring[i], ring[-i]) for i in range(1, len(ring) // 2 + 1)]
        # With an odd number the last player is a dummy, whose opponent has a bye.
        rounds.append([pair for pair in pairs if max(pair) < n])
    return rounds


def line(item: int, n_items: int, n_rounds: int) -> list[int]:
    """The order in which an item plays the rounds: for each k the first k are balanced.

    Blocks of `n_rounds` items play a cyclic Latin square. The m remaining items continue one
    sequence 0, 1, 2, … column by column, so that the first k columns contain k · m consecutive
    numbers; if m and the number of rounds have a common divisor g, the sequence returns to its
    start g times, and is shifted by one each time.
    """
    left_over = n_items % n_rounds
    row = item - (n_items - left_over)
    if row < 0:
        return [(item + column) % n_rounds for column in range(n_rounds)]
    again = n_rounds // math.gcd(left_over, n_rounds)
    return [(column * left_over + row + column // again) % n_rounds for column in range(n_rounds)]


@lru_cache(maxsize=1024)
def turns(item: int, n_items: int, n_rounds: int) -> tuple[int, ...]:
    """For each round 0 or 1: whether its pairs swap sides on an item.

    Sides alternate over the items. For the last items, fewer than twice the rounds, they alternate
    column by column, and in the first column over the items.
    """
    rest = n_items % (2 * n_rounds)
    start = n_items - rest
    if item < start:
        return (item % 2,) * n_rounds
    turned = [0] * n_rounds
    seen = [number % 2 for number in range(n_rounds)]
    lines = [line(start + row, n_items, n_rounds) for row in range(rest)]
    for column in range(n_rounds):
        for row in range(rest):
            number = lines[row][column]
            if start + row == item:
                turned[number] = seen[number] % 2
            seen[number] += 1
    return tuple(turned)
