"""Contests simulated as shuffles of places, a block of contests at a time, in plain NumPy.

Models occupy places, and which places meet is known beforehand (`schedule`). A round shuffles the
models of each group over its places, looks up which of two neighbours wins, and exchanges them if
it is the second. The order within a pair is random, so with equal strengths the first wins, and
ties need no extra draw.

A shuffle sorts 32-bit keys, a random word of 16 bits above the number of the model, with a network
of minima and maxima for all contests at once. Equal words are ordered by the number of the model.
So that this favours no model, each block numbers the models by its own random permutation
(`draw_block`), which makes a collision a fair coin too.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiebreak.rankers.contests.rounds import uniforms, weighted_orders
from tiebreak.rankers.profile import FloatArray, IntArray

Words = NDArray[np.uint16]
Keys = NDArray[np.uint32]
States = NDArray[np.unsignedinteger[Any]]
Places = NDArray[np.uint16]

# Contests simulated together, enough to make NumPy's cost per call small. With another value the
# same seed gives other numbers.
BLOCK = 8000
# Contests whose words are adjacent in memory, a divisor of BLOCK: the keys of 30 models × 160
# contests fit into the fastest cache, and compiled code reads words in the order of memory.
CHUNK = 160
# A key is a random word above the number of a model.
WORD_SHIFT = np.uint32(16)
MODEL_MASK = np.uint32(0xFFFF)


class Round(NamedTuple):
    """A round of every contest; all numbers except in `score` are places.

    `active`, shape (A,): the places that get a random word. `shuffle`, shape (n, 2): the places to
    compare and exchange, in this order, to sort every group by its words. `matches`, shape (n, 2):
    the first and the second of each pair. `score`, shape (M,): score after the round, plus
    `out_flag` at the places of models that were eliminated before it.
    """

    active: IntArray
    shuffle: IntArray
    matches: IntArray
    score: IntArray


@cache
def schedule(n_models: int, eliminate: tuple[int, ...]) -> tuple[Round, ...]:
    """The rounds of M models, of which T_k are eliminated after round k."""
    out = out_flag(len(eliminate))
    score = np.zeros(n_models, dtype=np.int64)
    rounds = []
    for due in (0, *eliminate[:-1]):
        groups = [np.flatnonzero(score == value) for value in np.unique(score[score < out])]
        active = np.flatnonzero(score < out)
        shuffle = [group[sorting_network(len(group))] for group in groups]
        if groups:
            score[groups[0][:due]] += out
            groups[0] = groups[0][due:]
        matches = [group[: len(group) // 2 * 2].reshape(-1, 2) for group in groups]
        for match in matches:
            score[match[:, 0]] += 1
        rounds.append(Round(active, _rows(shuffle), _rows(matches), score.copy()))
    return tuple(rounds)


def _rows(pairs: list[IntArray]) -> IntArray:
    return np.concatenate([np.empty((0, 2), dtype=np.int64), *pairs])


def out_flag(n_rounds: int) -> int:
    """Number added to the score of an eliminated model: a bit above all scores."""
    return 1 << n_rounds.bit_length()


@cache
def sorting_network(size: int) -> IntArray:
    """Batcher's odd-even merge sort: pairs of places to compare and exchange, shape (pairs, 2)."""
    pairs: list[tuple[int, int]] = []
    half = 1
    while half < size:
        step = half
        while step:
            for start in range(step % half, size - step, 2 * step):
                for low in range(start, min(start + step, size - step)):
                    if low // (2 * half) == (low + step) // (2 * half):
                        pairs.append((low, low + step))
            step //= 2
        half *= 2
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


class Draw(NamedTuple):
    """All random numbers of one block.

    `numbering`, shape (M,): the model of each index. `words`, shape (chunks, Σ A, CHUNK): a row for
    each active place of each round. `orders`, shape (chunks * CHUNK, K): the k-th round that each
    contest plays; None = in the given order.
    """

    numbering: IntArray
    words: Words
    orders: IntArray | None


def draw_block(
    key: tuple[int, ...],
    seed: int,
    contests: int,
    n_models: int,
    eliminate: tuple[int, ...],
    weights: FloatArray | None = None,
) -> Draw:
    """Random numbers of the block `key`, from its own stream.

    Raw words of a fixed bit generator, read as little-endian, are the same on every machine and for
    every version of NumPy. A shorter block has the first chunks of a full block.
    """
    stream = np.random.SFC64(np.random.SeedSequence(seed, spawn_key=key))
    numbering = np.argsort(stream.random_raw(n_models), kind="stable")
    chunks = -(-contests // CHUNK)
    orders = None
    if weights is not None:
        drawn = uniforms(stream, BLOCK, len(eliminate))
        orders = weighted_orders(drawn[: chunks * CHUNK], weights)
    rows = sum(len(round_.active) for round_ in schedule(n_models, eliminate))
    raw = stream.random_raw(chunks * rows * CHUNK // 4).astype("<u8", copy=False)
    words = raw.view("<u2").reshape(chunks, rows, CHUNK)
    return Draw(numbering, words, orders)


def second_wins(strength: IntArray) -> NDArray[np.bool_]:
    """Whether the second of two models is stronger, shape (K, M * M); `strength` is (K, M)."""
    wins: NDArray[np.bool_] = strength[:, :, None] < strength[:, None, :]
    return wins.reshape(len(strength), -1)


def simulate_block(
    words: Words,
    strength: IntArray,
    eliminate: tuple[int, ...],
    orders: IntArray | None = None,
    *,
    trace: bool = False,
) -> Places:
    """Simulate a block of contests.

    Args:
        words: shape (chunks, Σ A, CHUNK), random words, a row for each active place of each round.
        strength: shape (K, M), dense ranks of the models in each round, equal = tied.
        eliminate: T_k of each round.
        orders: shape (contests, K), the k-th round that each contest plays; None = in order.
        trace: whether to return all rounds instead of only the last.

    Returns:
        Shape (K, M, contests), or (1, M, contests): the model at each place after each round.
    """
    n_rounds, n_models = len(eliminate), strength.shape[1]
    contests = words.shape[0] * CHUNK
    wins, used = second_wins(strength), 0
    rows = [np.full(contests, model, dtype=np.uint32) for model in range(n_models)]
    places = np.empty((n_rounds if trace else 1, n_models, contests), dtype=np.uint16)
    for k, round_ in enumerate(schedule(n_models, eliminate)):
        _shuffle(rows, round_, words[:, used : used + len(round_.active)])
        used += len(round_.active)
        first, second = (_models(rows, places) for places in round_.matches.T)
        pair = first * np.uint32(n_models)
        pair += second
        exchanged = wins[k].take(pair) if orders is None else wins[orders[:, k], pair]
        # Exchange without branches: XOR with their difference swaps both, XOR with 0 does not.
        difference = np.bitwise_xor(first, second, out=first)
        difference *= exchanged
        for (place_a, place_b), row in zip(round_.matches.tolist(), difference, strict=True):
            rows[place_a] ^= row
            rows[place_b] ^= row
        if trace or k == n_rounds - 1:
            places[k if trace else 0] = _models(rows, np.arange(n_models))
    return places


def states_of(places: Places, score: IntArray) -> States:
    """Scores of the models, from the models at the places.

    Args:
        places: shape (rounds, M, contests), as from `simulate_block`.
        score: shape (rounds, M), `Round.score` of these rounds.

    Returns:
        Shape (rounds, contests, M): the score after the round, plus `out_flag` when the model was
        eliminated before the round.
    """
    n_rounds, n_models, contests = places.shape
    dtype = np.uint8 if score.max(initial=0) < 256 else np.uint16
    states = np.empty((n_rounds, contests * n_models), dtype=dtype)
    start = np.arange(contests) * n_models
    for state, models, points in zip(states, places, score, strict=True):
        state[models + start] = points[:, None]
    return states.reshape(n_rounds, contests, n_models)


def plain_sums(places: Places, score: IntArray, *, unit: int) -> IntArray:
    """Sums of the models' scores over every `unit` contests, shape (units, M).

    `places`, shape (M, contests), are those after the last round; `score`, shape (M,), is theirs.
    """
    scores = states_of(places[None], score[None])[0].astype(np.int64)
    return np.add.reduceat(scores, range(0, len(scores), unit), axis=0)


def _shuffle(rows: list[Keys], plan: Round, words: Words) -> None:
    """Shuffle the models of each group; a row of `rows` is one place in all contests."""
    fresh = np.empty((words.shape[1], words.shape[0], CHUNK), dtype=np.uint32)
    np.left_shift(words.transpose(1, 0, 2), WORD_SHIFT, out=fresh)
    for place, word in zip(plan.active.tolist(), fresh, strict=True):
        rows[place] ^= word.reshape(-1)  # XOR of the old word and a new random word is random
    sort_rows(rows, plan.shuffle)


def sort_rows(rows: list[NDArray[Any]], network: IntArray) -> None:
    """Sort rows in place, contest by contest and ascending, with a sorting network."""
    spare = np.empty_like(rows[0])
    for low, high in network.tolist():
        a, b = rows[low], rows[high]
        rows[low] = np.minimum(a, b, out=spare)
        rows[high] = np.maximum(a, b, out=b)
        spare = a


def _models(rows: list[Keys], places: IntArray) -> Keys:
    """The models at some places, shape (places, contests)."""
    keys = np.empty((len(places), len(rows[0])), dtype=np.uint32)
    for key, place in zip(keys, places.tolist(), strict=True):
        np.bitwise_and(rows[place], MODEL_MASK, out=key)
    return keys
