"""The single-elimination bracket: seeding, byes and pairings (SEAL, §2.1).

Standard seeding: the best seed meets the last, and the two best can meet only in the final. If N is
no power of two, the best seeds have byes in the first round. Any N ≥ 2 needs N - 1 matches.
"""

from collections.abc import Sequence
from typing import NamedTuple


class Pairing(NamedTuple):
    """Two candidates that meet in a slot of a round; `high` is the better seed."""

    round: int
    slot: int
    high: str
    low: str


class Bye(NamedTuple):
    """A candidate that advances from its slot of a round without a match."""

    round: int
    slot: int
    high: str


def rounds(n: int) -> int:
    """Number of rounds for n candidates: ⌈log2 n⌉, 0 for one candidate."""
    return (n - 1).bit_length()


def seed_positions(size: int) -> list[int]:
    """Seeds (0 = best) in bracket order for a power of two, e.g. 8 → [0, 7, 3, 4, 1, 6, 2, 5]."""
    order = [0]
    while len(order) < size:
        last = 2 * len(order) - 1
        order = [seed for high in order for seed in (high, last - high)]
    return order


def first_round(seeds: Sequence[str]) -> list[Pairing | Bye]:
    """Pairings of the first round; `seeds` lists candidates, best first.

    Raises:
        ValueError: a candidate is listed twice, or there are fewer than two.
    """
    n = len(seeds)
    if n < 2 or len(set(seeds)) != n:
        raise ValueError("a bracket needs at least two candidates, each listed once")
    positions = seed_positions(2 ** rounds(n))
    entrants = [seeds[p] if p < n else None for p in positions]
    return next_round(1, entrants, seeds)


def next_round(
    number: int, entrants: Sequence[str | None], seeds: Sequence[str]
) -> list[Pairing | Bye]:
    """Pairings of a round; `entrants` are the previous winners by slot, None for an empty slot."""
    rank = {candidate: position for position, candidate in enumerate(seeds)}
    pairings: list[Pairing | Bye] = []
    for slot, pair in enumerate(zip(entrants[::2], entrants[1::2], strict=True)):
        high, *low = sorted((x for x in pair if x is not None), key=rank.__getitem__)
        pairings.append(Pairing(number, slot, high, low[0]) if low else Bye(number, slot, high))
    return pairings


def round_name(number: int, total: int) -> str:
    """Name of a round of a bracket: Final, Semi-final, or its number."""
    return {0: "Final", 1: "Semi-final"}.get(total - number, f"Round {number}")
