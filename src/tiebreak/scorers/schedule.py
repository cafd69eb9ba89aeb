"""Who meets whom on which item when not all pairs do, and who is shown first.

The rounds are those of a round robin by the circle method: in every round each model meets one
other (with an odd number one sits out), and in all of them each pair meets once. Models are put on
the circle in an order drawn by lot.

    item 0    round 0, 1, 2, …         k rounds an item are the first k of its line, so more rounds
    item 1    round 1, 2, 3, …         keep those that were played; over the items every round, and
    …                                  so every pair, comes equally often for every k, but for one

Nothing here depends on a result. With another number of items only the last ones of a benchmark,
fewer than twice the rounds, play other rounds, or in the other order, and not in their first round:
that was paid, and more items keep it.
"""

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from random import Random
from typing import Final

Pair = tuple[str, str]

SAMPLED_ROUNDS: Final = 5
"""Of every so many items one has a match of its first round asked in both orders: of 100 items 20,
from which a judge that tells answers apart well can be told from a coin."""


@dataclass(frozen=True)
class Schedule:
    """The meetings of some models over the items of one benchmark, by a seed."""

    models: tuple[str, ...]
    n_items: int
    seed: str

    @cached_property
    def rounds(self) -> tuple[tuple[Pair, ...], ...]:
        """The rounds of the circle method: N − 1 of them, N where N is odd; pairs by name."""
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

        Over the items it meets all others equally often, but for one, for every number of matches
        an item.
        """
        opponents = sorted({*self.models} - {model})
        Random(f"{self.seed}\x1f{model}").shuffle(opponents)
        n = len(opponents)
        # Items take turns in who is shown first, so with an even number a pair would meet on every
        # other turn only.
        moved = 0 if n % 2 else item // n
        met = (opponents[(place + moved) % n] for place in line(item, self.n_items, n))
        return tuple((min(model, opponent), max(model, opponent)) for opponent in met)

    def first(self, item: int) -> dict[Pair, str]:
        """Who is shown first on an item, for every pair by name.

        Over the items each pair is shown in both orders equally often, but for one, however many
        rounds are played; which item begins with which is drawn by lot for the pair.
        """
        turned = turns(item, self.n_items, len(self.rounds))
        return {
            pair: pair[turned[number] ^ self._lots[pair]]
            for number, pairs in enumerate(self.rounds)
            for pair in pairs
        }

    def sampled(self, item: int) -> int:
        """The round in an item's line, from 0, of which a match is sampled, if the item plays it.

        Of the first `SAMPLED_ROUNDS`, or of all, lots give each to one of as many items in a row.
        """
        n = min(len(self.rounds), SAMPLED_ROUNDS)
        block, place = divmod(item, n)
        return Random(f"{self.seed}\x1fsample\x1f{block}").sample(range(n), n)[place]

    @cached_property
    def _lots(self) -> dict[Pair, int]:
        # Of the pair alone: another model in the pool leaves what the others were asked.
        texts = {pair: "\x1f".join((self.seed, *pair)) for pairs in self.rounds for pair in pairs}
        return {pair: hashlib.sha256(t.encode()).digest()[0] & 1 for pair, t in texts.items()}


schedule = lru_cache(maxsize=32)(Schedule)
"""The same schedule once for all items of a benchmark."""


def n_rounds(n_models: int) -> int:
    """How many rounds it takes until each pair has met: N − 1, N where N is odd."""
    return n_models - 1 + n_models % 2


def circle_method(n: int) -> list[list[tuple[int, int]]]:
    """Rounds of a round robin of n players: one stays, the others move on by one place."""
    *moving, fixed = range(n + n % 2)
    rounds = []
    for turn in range(len(moving)):
        ring = [*moving[turn:], *moving[:turn]]
        pairs = [(ring[0], fixed)]
        pairs += [(ring[i], ring[-i]) for i in range(1, len(ring) // 2 + 1)]
        # With an odd number the last player is a bye.
        rounds.append([pair for pair in pairs if max(pair) < n])
    return rounds


def line(item: int, n_items: int, n_rounds: int) -> list[int]:
    """The order in which an item plays the rounds: for each k the first k are balanced.

    Blocks of `n_rounds` items play a cyclic Latin square. The m items that are left over go on in
    one sequence 0, 1, 2, … from column to column, so that the first k columns hold k · m numbers in
    a row; where m and the number of rounds have a divisor g in common, the sequence comes to the
    same start g times, and moves on by one there.
    """
    left_over = n_items % n_rounds
    row = item - (n_items - left_over)
    if row < 0:
        return [(item + column) % n_rounds for column in range(n_rounds)]
    again = n_rounds // math.gcd(left_over, n_rounds)
    return [(column * left_over + row + column // again) % n_rounds for column in range(n_rounds)]


@lru_cache(maxsize=1024)
def turns(item: int, n_items: int, n_rounds: int) -> tuple[int, ...]:
    """For each round 0 or 1: whether its pairs are turned round on an item.

    Items take turns. The last ones, fewer than twice the rounds, take turns from column to column,
    and in the first one as items do.
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
