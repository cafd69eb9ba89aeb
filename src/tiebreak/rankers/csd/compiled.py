"""The engine and the control variate as compiled code: the same integers, several times faster.

Drop-in replacements for `engine.simulate_block` and `control.controlled`, for machines that have
numba. They read the same random words at the same places, so that not one bit of a result depends
on which of the two ran. The first call on a machine compiles; the code is kept on disk.
"""

import numpy as np
from numba import njit

from tiebreak.rankers.csd.control import (
    CHANCE_BITS,
    Z_BITS,
    Control,
    removed_by_size,
    share_by_size,
)
from tiebreak.rankers.csd.engine import (
    CHUNK,
    MODEL_MASK,
    WORD_SHIFT,
    States,
    Words,
    empty_states,
    second_wins,
)
from tiebreak.rankers.csd.inputs import IntArray
from tiebreak.rankers.csd.schedule import schedule


def simulate_block(
    words: Words,
    strength: IntArray,
    eliminate: tuple[int, ...],
    orders: IntArray | None = None,
    *,
    trace: bool = False,
) -> States:
    """As `engine.simulate_block`."""
    n_models = strength.shape[1]
    plan = schedule(n_models, eliminate)
    states = empty_states(plan, n_models, len(words) * CHUNK, trace)
    _play(
        words,
        second_wins(strength),
        _orders(orders),
        *_flat([each.active for each in plan.rounds]),
        *_flat([each.shuffle for each in plan.rounds]),
        *_flat([each.matches for each in plan.rounds]),
        np.array([each.score for each in plan.rounds]),
        states,
    )
    return states


def _flat(parts: list[IntArray]) -> tuple[IntArray, IntArray]:
    """The parts one after another, and where each of them starts and the last one ends."""
    return np.concatenate(parts), np.cumsum([0, *map(len, parts)])


def controlled(
    states: States,
    strength: IntArray,
    eliminate: tuple[int, ...],
    control: Control,
    orders: IntArray | None = None,
) -> IntArray:
    """As `control.controlled`."""
    _, contests, n_models = states.shape
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
        schedule(n_models, eliminate).out,
        np.empty(0, dtype=np.uint8 if n_models < 128 else np.uint16),  # holds 2 × models
        z,
    )
    return z


def _orders(orders: IntArray | None) -> IntArray:
    return np.empty((0, 0), dtype=np.int64) if orders is None else np.ascontiguousarray(orders)


@njit(cache=True)
def _play(  # type: ignore[no-untyped-def]
    words,
    wins,
    orders,
    active,
    active_from,
    shuffle,
    shuffle_from,
    matches,
    matches_from,
    score,
    states,
):
    n_rounds, n_models = score.shape
    keys = np.empty((n_models, CHUNK), np.uint32)
    cell = np.empty(CHUNK, np.uint32)
    for chunk in range(words.shape[0]):
        begin = chunk * CHUNK
        for place in range(n_models):
            keys[place] = place
        for k in range(n_rounds):
            for row in range(active_from[k], active_from[k + 1]):
                key = keys[active[row]]
                for lane in range(CHUNK):
                    key[lane] ^= np.uint32(words[chunk, row, lane]) << WORD_SHIFT
            for pair in range(shuffle_from[k], shuffle_from[k + 1]):
                low, high = keys[shuffle[pair, 0]], keys[shuffle[pair, 1]]
                for lane in range(CHUNK):
                    one, other = low[lane], high[lane]
                    low[lane] = min(one, other)
                    high[lane] = max(one, other)
            for match in range(matches_from[k], matches_from[k + 1]):
                first, second = keys[matches[match, 0]], keys[matches[match, 1]]
                for lane in range(CHUNK):  # three loops: the first and the last are vectorized
                    one, other = first[lane] & MODEL_MASK, second[lane] & MODEL_MASK
                    cell[lane] = one * np.uint32(n_models) + other
                if orders.size == 0:
                    for lane in range(CHUNK):
                        cell[lane] = wins[k, np.uint64(cell[lane])]
                else:
                    for lane in range(CHUNK):
                        cell[lane] = wins[orders[begin + lane, k], np.uint64(cell[lane])]
                for lane in range(CHUNK):
                    difference = (first[lane] ^ second[lane]) & MODEL_MASK
                    difference *= cell[lane]
                    first[lane] ^= difference
                    second[lane] ^= difference
            if k == n_rounds - 1 or states.shape[0] > 1:
                kept = k if states.shape[0] > 1 else 0
                for place in range(n_models):
                    for lane in range(CHUNK):
                        model = keys[place, lane] & MODEL_MASK
                        states[kept, begin + lane, model] = score[k, place]


@njit(cache=True)
def _control(  # type: ignore[no-untyped-def]
    states, strength, eliminate, removed, share, win, stay, orders, out, count, z
):
    n_rounds, contests, n_models = states.shape
    gone = n_rounds + 1
    before = np.empty((n_models, CHUNK), states.dtype)
    after = np.empty((n_models, CHUNK), states.dtype)
    size = np.empty(gone + 1, np.int64)
    beaten = np.empty((n_models, CHUNK), count.dtype)
    power = np.empty((n_models, CHUNK), count.dtype)
    for begin in range(0, contests, CHUNK):
        lanes = min(CHUNK, contests - begin)
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
