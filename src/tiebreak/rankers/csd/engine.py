"""The contest as a sort: a block of contests at a time, in plain NumPy.

A model in a contest is one unsigned integer, its key, with the fields (highest bit first)

    inactive | score | random | index

One round is one sort of each contest's keys. It puts the groups of equal score side by side, each
in a random order, the eliminated models last. So the first T of the lowest group are a uniform
draw for the elimination that is still due from the round before, and neighbours in what is left of
a group are a random pairing in which the last of an odd group has the bye. The order within a pair
is a fair coin: where strengths are equal the first one wins, and ties need no draw of their own.

Random fields that collide are ordered by index. So that this favours nobody, each block numbers
the models by a permutation of its own (`draw_block`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.rankers.csd.inputs import FloatArray, IntArray
from tiebreak.rankers.csd.orders import uniforms, weighted_orders

Words = NDArray[np.unsignedinteger[Any]]
States = NDArray[np.unsignedinteger[Any]]

# Contests that are simulated together. Part of what a seed means: other blocks, other numbers.
# 1,000 keeps the keys of 30 models (120 kB) in the cache of one core.
BLOCK = 1000
# With fewer random bits than this the keys have 64 bits instead of 32.
_RANDOM_BITS = 20


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the fields of a key are, for M models and K rounds."""

    bits: int
    index_bits: int
    score_bits: int

    @classmethod
    def of(cls, n_models: int, n_rounds: int) -> "Layout":
        """The narrowest layout that has enough random bits."""
        index_bits = (n_models - 1).bit_length()
        score_bits = n_rounds.bit_length()
        free = 32 - 1 - score_bits - index_bits
        return cls(32 if free >= _RANDOM_BITS else 64, index_bits, score_bits)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of a key and of a random word, the same bytes on every machine."""
        return np.dtype(f"<u{self.bits // 8}")

    @property
    def shift(self) -> int:
        """Lowest bit of the score."""
        return self.bits - 1 - self.score_bits

    @property
    def out(self) -> int:
        """State (score and flag) of an eliminated model, beside its score."""
        return 1 << self.score_bits

    @property
    def state_dtype(self) -> np.dtype[Any]:
        """Type that holds score and flag."""
        return np.dtype(np.uint8 if self.score_bits < 8 else np.uint16)


@dataclass(frozen=True, slots=True)
class Draw:
    """All random numbers of one block.

    `numbering`, shape (M,): the model that each index stands for. `words`, shape (K, contests, M).
    `orders`, shape (contests, K): the round that is played in each place; None = as given.
    """

    numbering: IntArray
    words: Words
    orders: IntArray | None


def draw_block(
    key: tuple[int, ...],
    seed: int,
    contests: int,
    n_models: int,
    n_rounds: int,
    weights: FloatArray | None = None,
) -> Draw:
    """Random numbers of the block `key`, from a stream of its own.

    Raw words of a named bit generator, read as little-endian: the same on every machine and for
    every version of NumPy. A block that is cut short has the first contests of the whole block.
    """
    stream = np.random.SFC64(np.random.SeedSequence(seed, spawn_key=key))
    numbering = np.argsort(stream.random_raw(n_models), kind="stable")
    dtype = Layout.of(n_models, n_rounds).dtype
    shape = (n_rounds, BLOCK, n_models)
    size = -(-n_rounds * BLOCK * n_models * dtype.itemsize // 8)
    words = stream.random_raw(size).astype("<u8", copy=False).view(dtype)
    words = words[: n_rounds * BLOCK * n_models].reshape(shape)[:, :contests]
    orders = None
    if weights is not None:
        orders = weighted_orders(uniforms(stream, BLOCK, n_rounds)[:contests], weights)
    return Draw(numbering, words, orders)


def simulate_block(
    words: Words,
    strength: IntArray,
    eliminate: tuple[int, ...],
    orders: IntArray | None = None,
    *,
    trace: bool = False,
) -> States:
    """Play contests.

    Args:
        words: shape (K, contests, M), random.
        strength: shape (K, M), dense ranks of the models in each round, equal = tied.
        eliminate: T_k of each round.
        orders: shape (contests, K), the round that each contest plays in each place.
        trace: whether the states after every round are wanted or only those after the last.

    Returns:
        Shape (K, contests, M), or (1, contests, M): the score after the round, plus `Layout.out`
        when the model was eliminated before the round.
    """
    n_rounds, contests, n_models = words.shape
    layout = Layout.of(n_models, n_rounds)
    kind, shift = layout.dtype.type, layout.dtype.type(layout.shift)
    index_mask = kind((1 << layout.index_bits) - 1)
    random_mask = kind((1 << layout.shift) - (1 << layout.index_bits))
    keys = np.empty((contests, n_models), dtype=layout.dtype)
    keys[:] = np.arange(n_models, dtype=layout.dtype)
    flat = keys.reshape(-1)
    row_start = np.repeat(np.arange(contests) * n_models, n_models)
    table = strength.astype(np.uint8 if n_models <= 256 else np.uint16)
    states = np.empty((n_rounds if trace else 1, contests, n_models), dtype=layout.state_dtype)
    for k in range(n_rounds):
        keys ^= words[k] & random_mask  # random words on old random bits are new random bits
        keys.sort(axis=1)
        if k:
            _eliminate(keys, eliminate[k - 1], layout)
        state = (flat >> shift).astype(layout.state_dtype)
        index = (flat & index_mask).astype(np.int64)
        if orders is None:
            power = table[k].take(index)
        else:
            power = table.take(np.repeat(orders[:, k] * n_models, n_models) + index)
        won = _winners(state, power, n_models, layout.out)
        flat += won * kind(1 << layout.shift)
        if trace or k == n_rounds - 1:
            states[k if trace else 0].reshape(-1)[row_start + index] = state + won
    return states


def _eliminate(keys: Words, most: int, layout: Layout) -> None:
    """Mark the first `most` members of each contest's lowest group, or all of it, as inactive."""
    shift = keys.dtype.type(layout.shift)
    inactive = keys.dtype.type(1 << (layout.bits - 1))
    lowest = keys[:, 0] >> shift
    for place in range(min(most, keys.shape[1])):
        member = (keys[:, place] >> shift) == lowest
        keys[:, place] |= member * inactive


def _winners(
    state: States, power: NDArray[np.unsignedinteger[Any]], n_models: int, out: int
) -> NDArray[np.bool_]:
    """Who of the sorted models wins, all contests in one flat array."""
    meets = np.zeros(state.size, dtype=np.bool_)  # is in one group with the next
    np.equal(state[:-1], state[1:], out=meets[:-1])
    meets &= state < out
    meets[n_models - 1 :: n_models] = False
    opens = _every_other(meets, n_models)
    stronger = np.zeros(state.size, dtype=np.bool_)
    np.greater_equal(power[:-1], power[1:], out=stronger[:-1])
    won = opens & stronger
    won[1:] |= (opens & ~stronger)[:-1]
    return won


def _every_other(meets: NDArray[np.bool_], longest: int) -> NDArray[np.bool_]:
    """The first, third, fifth, … of every run of True: the places that open a match.

    opens[j] = meets[j] and not opens[j − 1], by doubling the distance that is looked back.
    """
    opens, run = meets.copy(), meets.copy()  # run: True at this and all places in the distance
    distance = 1
    while distance < longest:
        opens[distance:] ^= opens[:-distance] & run[distance:]
        run[distance:] &= run[:-distance]
        distance *= 2
    return opens
