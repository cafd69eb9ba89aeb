"""The engine and the control variate as compiled code: the same integers, several times faster.

Drop-in replacements for `engine.simulate_block` and `control.controlled`, for machines that have
numba. They read the same random words at the same places, so that not one bit of a result depends
on which of the two ran. The first call on a machine compiles; the code is kept on disk.
"""

from functools import cache

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tiebreak.rankers.csd.control import (
    CHANCE_BITS,
    Z_BITS,
    Control,
    removed_by_size,
    share_by_size,
)
from tiebreak.rankers.csd.engine import Layout, States, Words
from tiebreak.rankers.csd.inputs import IntArray

# Contests that are sorted side by side: a row of them fills whole vector registers.
_LANES = 64


def simulate_block(
    words: Words,
    strength: IntArray,
    eliminate: tuple[int, ...],
    orders: IntArray | None = None,
    *,
    trace: bool = False,
) -> States:
    """As `engine.simulate_block`."""
    n_rounds, contests, n_models = words.shape
    layout = Layout.of(n_models, n_rounds)
    states = np.empty((n_rounds if trace else 1, contests, n_models), dtype=layout.state_dtype)
    _play(
        np.ascontiguousarray(words),
        np.ascontiguousarray(strength, dtype=np.int32),
        np.array(eliminate, dtype=np.int64),
        _orders(orders),
        sorting_network(n_models),
        layout.index_bits,
        layout.score_bits,
        states,
    )
    return states


def controlled(
    states: States,
    strength: IntArray,
    eliminate: tuple[int, ...],
    control: Control,
    orders: IntArray | None = None,
) -> IntArray:
    """As `control.controlled`."""
    n_rounds, contests, n_models = states.shape
    removed = np.array(
        [[removed_by_size(t, size) if t else 0 for size in range(n_models + 1)] for t in eliminate],
        dtype=np.int64,
    )
    z = np.empty((contests, n_models), dtype=np.int64)
    _control(
        np.ascontiguousarray(states),
        np.ascontiguousarray(strength),
        np.array(eliminate, dtype=np.int64),
        removed,
        share_by_size(n_models),
        np.ascontiguousarray(control.win),
        np.ascontiguousarray(control.stay),
        _orders(orders),
        Layout.of(n_models, n_rounds).out,
        np.empty(0, dtype=np.uint8 if n_models < 128 else np.uint16),  # holds 2 × models
        z,
    )
    return z


def _orders(orders: IntArray | None) -> IntArray:
    return np.empty((0, 0), dtype=np.int64) if orders is None else np.ascontiguousarray(orders)


@cache
def sorting_network(size: int) -> NDArray[np.int64]:
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


@njit(cache=True)
def _play(  # type: ignore[no-untyped-def]
    words, strength, eliminate, orders, network, index_bits, score_bits, states
):
    n_rounds, contests, n_models = words.shape
    kind = words.dtype.type
    bits = words.itemsize * 8
    shift = kind(bits - 1 - score_bits)
    point = kind(1) << shift
    inactive = kind(1) << kind(bits - 1)
    index_mask = (kind(1) << kind(index_bits)) - kind(1)
    random_mask = (point - kind(1)) & ~index_mask
    keys = np.empty((n_models, _LANES), words.dtype)
    power = np.empty((n_models, _LANES), np.int32)
    opens = np.empty(_LANES, words.dtype)
    for begin in range(0, contests, _LANES):
        lanes = min(_LANES, contests - begin)
        for place in range(n_models):
            for lane in range(lanes):
                keys[place, lane] = place
        for k in range(n_rounds):
            for lane in range(lanes):
                for place in range(n_models):
                    keys[place, lane] ^= words[k, begin + lane, place] & random_mask
            for pair in range(network.shape[0]):
                low, high = keys[network[pair, 0]], keys[network[pair, 1]]
                for lane in range(lanes):
                    first, second = low[lane], high[lane]
                    low[lane] = min(first, second)
                    high[lane] = max(first, second)
            if k > 0:
                most = min(eliminate[k - 1], n_models)
                for lane in range(lanes):
                    lowest = keys[0, lane] >> shift
                    for place in range(most):
                        if keys[place, lane] >> shift == lowest:
                            keys[place, lane] |= inactive
            for place in range(n_models):
                for lane in range(lanes):
                    played = k if orders.size == 0 else orders[begin + lane, k]
                    power[place, lane] = strength[played, keys[place, lane] & index_mask]
            # A point that a key got already cannot mislead: its place is in a match.
            opens[:] = 0
            for place in range(n_models - 1):
                for lane in range(lanes):
                    key, following = keys[place, lane], keys[place + 1, lane]
                    meets = (key >> shift == following >> shift) & (key < inactive)
                    opened = kind(meets) & ~opens[lane]
                    first = kind(power[place, lane] >= power[place + 1, lane])
                    opens[lane] = opened
                    keys[place, lane] = key + point * (opened & first)
                    keys[place + 1, lane] = following + point * (opened & ~first)
            if k == n_rounds - 1 or states.shape[0] > 1:
                kept = k if states.shape[0] > 1 else 0
                for lane in range(lanes):
                    for place in range(n_models):
                        key = keys[place, lane]
                        states[kept, begin + lane, key & index_mask] = key >> shift


@njit(cache=True)
def _control(  # type: ignore[no-untyped-def]
    states, strength, eliminate, removed, share, win, stay, orders, out, count, z
):
    n_rounds, contests, n_models = states.shape
    gone = n_rounds + 1
    before = np.empty((n_models, _LANES), states.dtype)
    after = np.empty((n_models, _LANES), states.dtype)
    size = np.empty(gone + 1, np.int64)
    beaten = np.empty((n_models, _LANES), count.dtype)
    power = np.empty((n_models, _LANES), count.dtype)
    for begin in range(0, contests, _LANES):
        lanes = min(_LANES, contests - begin)
        before[:] = 0
        for lane in range(lanes):
            for model in range(n_models):
                score = states[n_rounds - 1, begin + lane, model] & (out - 1)
                z[begin + lane, model] = np.int64(score) << Z_BITS
        for k in range(n_rounds):
            for lane in range(lanes):
                for model in range(n_models):
                    after[model, lane] = min(states[k, begin + lane, model], gone)
            if k > 0 and eliminate[k - 1] > 0:
                _take_out_luck_of_staying(
                    before, after, removed[k - 1], stay[k - 1], gone, z[begin : begin + lanes]
                )
            size[:] = 0
            for model in range(n_models):
                size[before[model, 0]] += 1
            for model in range(n_models):
                for lane in range(lanes):
                    played = k if orders.size == 0 else orders[begin + lane, k]
                    power[model, lane] = strength[played, model]
            _count_beaten(before, power, beaten, lanes)
            for lane in range(lanes):
                for model in range(n_models):
                    score = before[model, lane]
                    if score < gone:
                        won = np.int64(after[model, lane]) - np.int64(score)
                        others = np.int64(beaten[model, lane]) - 1  # itself is not stronger
                        chance = others * share[size[score]]
                        luck = (won << CHANCE_BITS) - chance
                        z[begin + lane, model] -= luck * win[k, model, score]
            before[:] = after


@njit(cache=True)
def _take_out_luck_of_staying(  # type: ignore[no-untyped-def]
    before, after, removed, stay, gone, z
):
    """Equation 2 for the lowest groups; marks who was eliminated as gone."""
    lanes, n_models = z.shape
    lowest, size = gone, 0
    for model in range(n_models):
        score = np.int64(before[model, 0])
        if score < lowest:
            lowest, size = score, 0
        size += score == lowest
    if lowest == gone:
        return
    for lane in range(lanes):
        for model in range(n_models):
            if before[model, lane] == lowest:
                eliminated = after[model, lane] == gone
                luck = removed[size] - (np.int64(eliminated) << CHANCE_BITS)
                z[lane, model] -= luck * stay[model, lowest]
                if eliminated:
                    before[model, lane] = gone


@njit(cache=True)
def _count_beaten(before, power, beaten, lanes):  # type: ignore[no-untyped-def]
    """For each model, the weaker + those not stronger of its group, itself included."""
    beaten[:] = 0
    for model in range(power.shape[0]):
        for other in range(power.shape[0]):
            for lane in range(lanes):
                same = before[model, lane] == before[other, lane]
                beaten[model, lane] += same & (power[model, lane] > power[other, lane])
                beaten[model, lane] += same & (power[model, lane] >= power[other, lane])
