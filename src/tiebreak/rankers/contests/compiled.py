"""The engine and the control variate as compiled code: the same integers, several times faster.

Drop-in replacements for `engine.simulate_block`, `engine.plain_sums` and `control.controlled_sums`
if numba is installed. They read the same random words at the same places, so that results are equal
to the last bit. The first call on a machine compiles; the code is cached on disk.
"""

from functools import cache

import numpy as np
from numba import njit

from tiebreak.rankers.contests.control import CHANCE_BITS, Z_BITS, Control, share, steps
from tiebreak.rankers.contests.engine import (
    CHUNK,
    MODEL_MASK,
    WORD_SHIFT,
    Places,
    Words,
    schedule,
    second_wins,
)
from tiebreak.rankers.profile import IntArray


def simulate_block(
    words: Words,
    strength: IntArray,
    eliminate: tuple[int, ...],
    orders: IntArray | None = None,
    *,
    trace: bool = False,
) -> Places:
    """As `engine.simulate_block`."""
    n_models = strength.shape[1]
    shape = (len(eliminate) if trace else 1, n_models, len(words) * CHUNK)
    places = np.empty(shape, dtype=np.uint16)
    _play(words, second_wins(strength), _orders(orders), *_flat(n_models, eliminate), places)
    return places


@cache
def _flat(
    n_models: int, eliminate: tuple[int, ...]
) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray, IntArray]:
    """`active`, `shuffle` and `matches` of all rounds, each with the rounds' start indices."""
    rounds = schedule(n_models, eliminate)
    return (
        *_joined([round_.active for round_ in rounds]),
        *_joined([round_.shuffle for round_ in rounds]),
        *_joined([round_.matches for round_ in rounds]),
    )


def _joined(parts: list[IntArray]) -> tuple[IntArray, IntArray]:
    """The concatenated parts, and the start index of each part with the end of the last one."""
    return np.concatenate(parts), np.cumsum([0, *map(len, parts)])


def controlled_sums(
    places: Places,
    strength: IntArray,
    eliminate: tuple[int, ...],
    control: Control,
    orders: IntArray | None = None,
    *,
    unit: int,
) -> IntArray:
    """As `control.controlled_sums`."""
    _, n_models, contests = places.shape
    sums = np.zeros((-(-contests // unit), n_models), dtype=np.int64)
    unit_of = np.arange(contests) // unit
    table, played = np.ascontiguousarray(strength), _orders(orders)
    for k, (groups, lowest) in enumerate(steps(n_models, eliminate)):
        if len(lowest.places):
            worth = -lowest.result[:, None] * control.stay[k - 1, :, lowest.score]
            _add_worth(places[k], lowest.places, worth, unit_of, sums)
        for group in groups:
            _add_matches(
                places[k],
                group.places,
                group.result,
                table,
                k,
                played,
                share(len(group.places)),
                np.ascontiguousarray(control.win[k, :, group.score]),
                unit_of,
                sums,
            )
    return sums


def plain_sums(places: Places, score: IntArray, *, unit: int) -> IntArray:
    """As `engine.plain_sums`."""
    n_models, contests = places.shape
    sums = np.zeros((-(-contests // unit), n_models), dtype=np.int64)
    worth = np.repeat(score[:, None], n_models, axis=1)
    _add_worth(places, np.arange(n_models), worth, np.arange(contests) // unit, sums)
    return sums


def _orders(orders: IntArray | None) -> IntArray:
    return np.empty((0, 0), dtype=np.int64) if orders is None else np.ascontiguousarray(orders)


@njit(cache=True)
def _play(  # type: ignore[no-untyped-def]
    words, wins, orders, active, active_from, shuffle, shuffle_from, matches, matches_from, places
):
    n_rounds, n_models = len(active_from) - 1, places.shape[1]
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
                    a, b = low[lane], high[lane]
                    low[lane] = min(a, b)
                    high[lane] = max(a, b)
            for match in range(matches_from[k], matches_from[k + 1]):
                first, second = keys[matches[match, 0]], keys[matches[match, 1]]
                for lane in range(CHUNK):  # three loops: first and last are vectorised
                    a, b = first[lane] & MODEL_MASK, second[lane] & MODEL_MASK
                    cell[lane] = a * np.uint32(n_models) + b
                if orders.size == 0:
                    for lane in range(CHUNK):
                        # Numba need not check unsigned indices for negative values.
                        cell[lane] = wins[k, np.uint64(cell[lane])]
                else:
                    for lane in range(CHUNK):
                        cell[lane] = wins[orders[begin + lane, k], np.uint64(cell[lane])]
                for lane in range(CHUNK):
                    difference = (first[lane] ^ second[lane]) & MODEL_MASK
                    difference *= cell[lane]
                    first[lane] ^= difference
                    second[lane] ^= difference
            if k == n_rounds - 1 or places.shape[0] > 1:
                kept = k if places.shape[0] > 1 else 0
                for place in range(n_models):
                    for lane in range(CHUNK):
                        places[kept, place, begin + lane] = keys[place, lane] & MODEL_MASK


@njit(cache=True)
def _add_worth(models, lowest, worth, unit_of, sums):  # type: ignore[no-untyped-def]
    for row in range(len(lowest)):
        for contest in range(models.shape[1]):
            model = models[lowest[row], contest]
            sums[unit_of[contest], model] += worth[row, model]


@njit(cache=True)
def _add_matches(  # type: ignore[no-untyped-def]
    models, places, won, strength, k, orders, share, win, unit_of, sums
):
    size = len(places)
    power = np.zeros((size, CHUNK), np.int16)
    beaten = np.empty(CHUNK, np.int16)
    for begin in range(0, models.shape[1], CHUNK):
        lanes = min(CHUNK, models.shape[1] - begin)
        for row in range(size):
            members = models[places[row]]
            for lane in range(lanes):
                played = k if orders.size == 0 else orders[begin + lane, k]
                power[row, lane] = strength[played, np.uint64(members[begin + lane])]
        for row in range(size):
            beaten[:] = -1  # cancels the comparison with itself
            for other in range(size):
                power_a, power_b = power[row], power[other]
                for lane in range(CHUNK):
                    beaten[lane] += np.int16(power_a[lane] > power_b[lane])
                    beaten[lane] += np.int16(power_a[lane] >= power_b[lane])
            members = models[places[row]]
            certain, wins = won[row] << CHANCE_BITS, won[row] << Z_BITS
            for lane in range(lanes):
                model = np.uint64(members[begin + lane])
                luck = certain - beaten[lane] * share
                sums[unit_of[begin + lane], model] += wins - luck * win[model]
