"""The control variate: most of a contest's luck is known, so it can be subtracted.

Given the members of a group, equation 1 is the probability that a member wins, and equation 2 the
probability that a member of the lowest group is eliminated. The outcome minus its probability has
mean zero, multiplied by any constant. So for a model with score s before round k

    Z = S − Σ_k D[k, s]·(x − P(win)) − Σ_k V[k, s + x]·(stayed − P(stay))

has exactly the expectation of S for any fixed D and V. Its variance is small if D is the value of a
win, including later rounds, and V the value of staying in; both are estimated in a pilot of
contests that are not used otherwise. The last round has D = 1: x is replaced by P(win).

The places that form a group, win or are eliminated are fixed beforehand (`engine.schedule`); the
models at these places are random. So each place of a round adds a number that depends on its model
and on how many models of its group that model beats, and tables hold these numbers.

All arithmetic is in fixed-point integers, so the order of summation does not change a bit. Rounding
probabilities to 2^-28 changes the mean by less than 1e-6 wins.
"""

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiebreak.rankers.contests.engine import (
    Places,
    States,
    out_flag,
    schedule,
    sort_rows,
    sorting_network,
)
from tiebreak.rankers.profile import IntArray

# Fractional bits of Z: 8 from the values D and V, 28 from probabilities. A sum over a thousand
# contests stays below 2^53, up to which floating point is exact.
VALUE_BITS = 8
CHANCE_BITS = 28
Z_BITS = VALUE_BITS + CHANCE_BITS
# Each cell of the pilot is averaged with this many visits of the average model.
_PRIOR = 4.0


class Control(NamedTuple):
    """Values in units of 2^-VALUE_BITS, shape (K, M, K + 1): [round, model, score].

    The score is that before the round in `win`, and that after it in `stay`.
    """

    win: IntArray
    stay: IntArray


def fit(states: States) -> Control:
    """Estimate the values of a win and of staying in as means over the contests of a pilot.

    Args:
        states: shape (K, contests, M), the trace of `simulate_block`.
    """
    n_rounds, _, n_models = states.shape
    flag = np.uint16(out_flag(n_rounds))
    last = (states[-1] & (flag - 1)).astype(np.float64)
    win = np.ones((n_rounds, n_models, n_rounds + 1))
    stay = np.zeros_like(win)
    for k in range(n_rounds - 1):
        value = _won_later(states[k], last, n_rounds)
        win[k, :, :n_rounds] += np.diff(value, axis=1)
        # Models that are eliminated before the next round do not count as staying in.
        stay[k] = _won_later(states[k] | (states[k + 1] & flag), last, n_rounds)
    units = 2.0**VALUE_BITS
    return Control(np.rint(win * units).astype(np.int64), np.rint(stay * units).astype(np.int64))


class Group(NamedTuple):
    """Places with the same score before a round, and the result at each place, shape (n,).

    For groups that meet, `result` is 1 at places that win; for the lowest group before its
    elimination it is the luck, stayed − P(stay) by equation 2, as a multiple of 2^-CHANCE_BITS.
    """

    places: IntArray
    result: IntArray
    score: int


@cache
def steps(n_models: int, eliminate: tuple[int, ...]) -> tuple[tuple[tuple[Group, ...], Group], ...]:
    """The part of a contest that is fixed beforehand, round by round.

    For each round: the groups of several models, and the lowest group, empty if none is eliminated.
    """
    out, rounds = out_flag(len(eliminate)), schedule(n_models, eliminate)
    before = np.zeros(n_models, dtype=np.int64)
    fixed = []
    for due, round_ in zip((0, *eliminate[:-1]), rounds, strict=True):
        active = before < out
        score = int(before[active].min(initial=out))
        lowest = np.flatnonzero(active & (before == score)) if due else np.empty(0, np.int64)
        gone = (round_.score[lowest] >= out).astype(np.int64)
        stayed = removed_by_size(due, len(lowest)) - (gone << CHANCE_BITS)
        active &= round_.score < out
        groups = [np.flatnonzero(active & (before == level)) for level in np.unique(before[active])]
        fixed.append(
            (
                tuple(
                    Group(group, round_.score[group] - before[group], int(before[group[0]]))
                    for group in groups
                    if len(group) > 1
                ),
                Group(lowest, stayed, score),
            )
        )
        before = round_.score
    return tuple(fixed)


def controlled_sums(
    places: Places,
    strength: IntArray,
    eliminate: tuple[int, ...],
    control: Control,
    orders: IntArray | None = None,
    *,
    unit: int,
) -> IntArray:
    """Sums of Z over units of contests, shape (units, M), as multiples of 2^-Z_BITS.

    `places`, shape (K, M, contests), is the trace of `simulate_block`, `strength`, `eliminate` and
    `orders` were its arguments; `control` numbers models like `strength`. The last unit can be
    smaller.
    """
    _, n_models, contests = places.shape
    sums = np.zeros((-(-contests // unit), n_models), dtype=np.int64)
    start = np.arange(contests) // unit * n_models
    # Models from weakest to strongest, twice each one's place there, and their strengths, repeated.
    order = np.argsort(strength, axis=1, kind="stable")
    doubled = (2 * np.argsort(order, axis=1)).astype(np.uint16)
    level = np.take_along_axis(strength, order, axis=1).astype(np.uint16).repeat(2, axis=1)
    cell, worth = np.empty(places[0].shape, dtype=np.int64), np.empty(places[0].shape)
    for k, (groups, lowest) in enumerate(steps(n_models, eliminate)):
        models = places[k].astype(np.int64)
        if len(lowest.places):
            luck = -lowest.result[:, None] * control.stay[k - 1, :, lowest.score]
            row = np.arange(len(lowest.places))[:, None] * n_models
            low = models[lowest.places]
            sums += _summed(low + start, luck.astype(np.float64).take(low + row), sums.shape)
        played = np.int64(k) if orders is None else orders[:contests, k]
        # Numbering of models in `cell`: by strength if all contests play the same round.
        names = order[k] if orders is None else np.arange(n_models)
        used = 0
        for group in groups:
            n = len(group.places)
            member, value = cell[used : used + n], worth[used : used + n]
            # Sorted from the weakest: twice the place among all models, + 1 for a winner.
            rows = doubled.take(models[group.places] + played * n_models)
            rows = list(rows | group.result[:, None].astype(np.uint16))
            sort_rows(rows, sorting_network(n))
            np.stack(rows, out=member, casting="unsafe")
            ties = _ties(member, played * 2 * n_models, level)
            if orders is not None:
                member[:] = 2 * order.take((member >> 1) + played * n_models) + (member & 1)
            _take_worth(control.win[k, names, group.score], ties, member, value)
            used += n
        if used:
            cell[:used] += 2 * start
            total = _summed(cell[:used], worth[:used], (len(sums), n_models, 2))
            sums[:, names] += total.sum(axis=2)
    return sums


def _summed(cell: IntArray, worth: NDArray[np.float64], shape: tuple[int, ...]) -> IntArray:
    total = np.bincount(cell.reshape(-1), worth.reshape(-1), math.prod(shape))
    return total.astype(np.int64).reshape(shape)


def _ties(cell: IntArray, row: IntArray, level: NDArray[np.uint16]) -> NDArray[np.int16]:
    """Equal members above each member minus equal members below it, shape (n, contests)."""
    levels = level.take(cell + row)
    ties = np.zeros(levels.shape, dtype=np.int16)
    for apart in range(1, len(levels)):
        equal = levels[apart:] == levels[:-apart]
        if not equal.any():
            break
        ties[:-apart] += equal
        ties[apart:] -= equal
    return ties


def _take_worth(
    win: IntArray, ties: NDArray[np.int16], cell: IntArray, worth: NDArray[np.float64]
) -> None:
    """Fill `worth` with each group member's contribution x − D·(x − P(win)).

    `win`, shape (M,), is D of each model, `ties` the result of `_ties`. `cell` and `worth` have
    shape (n, contests), the weakest first; `cell` is twice the model in `win`, + 1 for a winner.
    """
    n, x = len(cell), np.arange(2)
    # Rows: twice the number of members beaten, ties counted as half, 0 … 2·(n − 1).
    luck = (x << CHANCE_BITS) - (np.arange(2 * n) * share(n))[:, None, None]
    table = ((x << Z_BITS) - luck * win[:, None]).astype(np.float64).reshape(2 * n, -1)
    for place in range(n):
        beaten = (ties[place] + 2 * place) * np.int64(table.shape[1])
        table.take(beaten + cell[place], out=worth[place], mode="clip")


def removed_by_size(most: int, size: int) -> int:
    """Equation 2: probability that a lowest-group member is eliminated, in 2^-CHANCE_BITS."""
    return round(2.0**CHANCE_BITS * most / max(most, size)) if most else 0


def share(size: int) -> int:
    """Half of what each beaten member of a group adds to P(win) (equation 1), in 2^-CHANCE_BITS.

    1 / (n − 1) of a win for n even, (1 − 1/n) / (n − 1) = 1 / n for n odd.
    """
    return round(2.0**CHANCE_BITS / (2 * ((size - 1) | 1)))


def _won_later(state: States, last: NDArray[np.float64], n_rounds: int) -> NDArray[np.float64]:
    """Mean wins still to come by model and score, shape (M, K + 1), shrunk to that of all models.

    Args:
        state: shape (contests, M), scores; entries with the `out_flag` are ignored.
        last: shape (contests, M), final scores.
        n_rounds: K.
    """
    n_models, width = state.shape[1], 2 * out_flag(n_rounds)
    cell = (state + np.arange(n_models) * width).reshape(-1)
    shape, size, score = (n_models, width), n_models * width, np.arange(n_rounds + 1)
    visits = np.bincount(cell, minlength=size).reshape(shape)[:, score]
    total = np.bincount(cell, weights=last.reshape(-1), minlength=size).reshape(shape)[:, score]
    total -= score * visits
    pooled = total.sum(axis=0) / np.maximum(visits.sum(axis=0), 1)
    mean: NDArray[np.float64] = (total + _PRIOR * pooled) / (visits + _PRIOR)
    return mean
