"""The control variate: most of a contest's luck is known, so it can be taken out.

Given who is in a group, equation 1 is the chance of each member to win, and equation 2 the chance
of each member of the lowest group to be eliminated. What really happened minus what was to be
expected has mean zero, whatever it is multiplied with. So for a model with score s before round k

    Z = S − Σ_k D[k, s]·(x − P(win)) − Σ_k V[k, s + x]·(stayed − P(stay))

has the expectation of S, exactly, for any fixed D and V. It has little variance when D is what a
win is worth, itself and in later rounds, and V what it is worth to stay in: a pilot of contests
that are used for nothing else estimates both. The last round has D = 1: x is replaced by P(win).

Which places form a group, win or are eliminated is fixed beforehand (`engine.schedule`); which
models stand there is chance. So each place of a round adds a number that depends on its model and
on how many models of its group that model beats, and tables hold these numbers.

All of it is integer arithmetic in fixed-point units, so no order of summation changes a bit. The
rounding of a probability to 2^-28 moves the mean by less than 1e-6 wins.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from tiebreak.rankers.contests.engine import Places, States, out_flag, schedule
from tiebreak.rankers.profile import IntArray

# Z has this many fractional bits: 8 of the values D and V, 28 of the probabilities. A sum over a
# thousand contests stays below 2^53, up to which floating point counts exactly.
VALUE_BITS = 8
CHANCE_BITS = 28
Z_BITS = VALUE_BITS + CHANCE_BITS
# A cell of the pilot counts as if it had this many visits of the average model.
_PRIOR = 4.0


@dataclass(frozen=True, slots=True)
class Control:
    """Values in units of 2^-VALUE_BITS, shape (K, M, K + 1): [round, model, score].

    `win` goes by the score before the round, `stay` by that after it.
    """

    win: IntArray
    stay: IntArray


def fit(states: States) -> Control:
    """Values of a win and of staying in, as means over the contests of a pilot.

    Args:
        states: shape (K, contests, M), the trace of `simulate_block`.
    """
    n_rounds, _, n_models = states.shape
    out = out_flag(n_rounds)
    score, active = (states & (out - 1)).astype(np.int64), states < out
    won_later = score[-1] - score
    win = np.ones((n_rounds, n_models, n_rounds + 1))
    stay = np.zeros_like(win)
    for k in range(n_rounds - 1):
        value = _mean_by_score(won_later[k], score[k], active[k], n_rounds)
        win[k, :, :n_rounds] += np.diff(value, axis=1)
        stay[k] = _mean_by_score(won_later[k], score[k], active[k + 1], n_rounds)
    units = 2.0**VALUE_BITS
    return Control(np.rint(win * units).astype(np.int64), np.rint(stay * units).astype(np.int64))


@dataclass(frozen=True, slots=True)
class Group:
    """Places that meet in a round: who wins, shape (n,), and the score before."""

    places: IntArray
    won: IntArray
    score: int


@dataclass(frozen=True, slots=True)
class Step:
    """A round: the groups of more than one model, and the lowest group before its elimination.

    `lowest` has the places, `stayed` their luck, stayed − P(stay) by equation 2, in units of
    2^-CHANCE_BITS, and `score` their score; all empty where no model goes out.
    """

    groups: tuple[Group, ...]
    lowest: IntArray
    stayed: IntArray
    score: int


@cache
def steps(n_models: int, eliminate: tuple[int, ...]) -> tuple[Step, ...]:
    """What of a contest is fixed beforehand, round by round."""
    out, rounds = out_flag(len(eliminate)), schedule(n_models, eliminate)
    before = np.zeros(n_models, dtype=np.int64)
    found = []
    for due, each in zip((0, *eliminate[:-1]), rounds, strict=True):
        active = before < out
        score = int(before[active].min(initial=out))
        lowest = np.flatnonzero(active & (before == score)) if due else np.empty(0, np.int64)
        gone = (each.score[lowest] >= out).astype(np.int64)
        stayed = removed_by_size(due, len(lowest)) - (gone << CHANCE_BITS)
        active &= each.score < out
        groups = [np.flatnonzero(active & (before == one)) for one in np.unique(before[active])]
        found.append(
            Step(
                tuple(
                    Group(group, each.score[group] - before[group], int(before[group[0]]))
                    for group in groups
                    if len(group) > 1
                ),
                lowest,
                stayed,
                score,
            )
        )
        before = each.score
    return tuple(found)


def controlled_sums(
    places: Places,
    strength: IntArray,
    eliminate: tuple[int, ...],
    control: Control,
    orders: IntArray | None = None,
    *,
    unit: int,
) -> IntArray:
    """Sums of Z over units of contests, shape (units, M), in units of 2^-Z_BITS.

    Args:
        places: shape (K, M, contests), the trace of `simulate_block`.
        strength: as given to `simulate_block`.
        eliminate: as given to `simulate_block`.
        control: values of the models, numbered as in `strength`.
        orders: as given to `simulate_block`.
        unit: contests in a unit; the last one may have fewer.
    """
    _, n_models, contests = places.shape
    start = np.arange(contests) // unit * n_models
    sums = np.zeros((-(-contests // unit), n_models), dtype=np.int64)
    sets = _Sets.of(strength)

    def add(models: IntArray, worth: NDArray[np.float64]) -> None:
        cell = (models + start).reshape(-1)
        total = np.bincount(cell, weights=worth.reshape(-1), minlength=sums.size)
        sums.reshape(-1)[:] += total.astype(np.int64)

    for k, step in enumerate(steps(n_models, eliminate)):
        models = places[k].astype(np.int64)
        if len(step.lowest):
            worth = -step.stayed[:, None] * control.stay[k - 1, :, step.score]
            row = np.arange(len(step.lowest))[:, None] * n_models
            low = models[step.lowest]
            add(low, worth.astype(np.float64).take(low + row))
        if step.groups:
            played = np.full(contests, k) if orders is None else orders[:contests, k]
            met = [models[group.places] for group in step.groups]
            beats = [_beaten(own, played * n_models, sets) for own in met]
            add(np.concatenate(met), _worth_of_matches(step.groups, met, beats, control.win[k]))
    return sums


def _worth_of_matches(
    groups: Sequence[Group],
    met: Sequence[IntArray],
    beats: Sequence[NDArray[np.uint16]],
    win: IntArray,
) -> NDArray[np.float64]:
    """What each place adds in each contest: x − D·(x − P(win)), group after group."""
    parts = []
    for group, models, beaten in zip(groups, met, beats, strict=True):
        n, n_models = len(models), len(win)
        chance = np.arange(2 * n) * share(n)
        x = np.arange(2)[:, None, None]
        luck = (x << CHANCE_BITS) - chance
        table = (x << Z_BITS) - luck * win[:, group.score, None]  # (2, M, 2 n)
        cell = models * (2 * n)
        cell += beaten
        cell += (group.won * (n_models * 2 * n))[:, None]
        parts.append(table.astype(np.float64).take(cell))
    return np.concatenate(parts)


def _beaten(models: IntArray, row: IntArray, sets: "_Sets") -> NDArray[np.uint16]:
    """For each member of a group, the weaker + those not stronger, itself left out."""
    cell = models + row
    beaten = np.zeros(models.shape, dtype=np.uint16)
    for bit, less, most in zip(sets.alone, sets.weaker, sets.not_stronger, strict=True):
        members = np.bitwise_or.reduce(bit.take(models), axis=0)
        weaker = less.take(cell)
        weaker &= members
        beaten += np.bitwise_count(weaker)
        if sets.tied:
            not_stronger = most.take(cell)
            not_stronger &= members
            beaten += np.bitwise_count(not_stronger)
    return beaten if sets.tied else 2 * beaten


@dataclass(frozen=True, slots=True)
class _Sets:
    """Sets of models as bit masks, a row of words per 64 models.

    `alone`, shape (words, M): each model itself. `weaker`, shape (words, K * M): whom it beats in a
    round; `not_stronger`: these and those others that it ties with. `tied`: whether there are any.
    """

    alone: NDArray[np.uint64]
    weaker: NDArray[np.uint64]
    not_stronger: NDArray[np.uint64]
    tied: bool

    @classmethod
    def of(cls, strength: IntArray) -> "_Sets":
        own, other = strength[:, :, None], strength[:, None, :]
        itself = np.eye(strength.shape[1], dtype=np.bool_)
        weaker, not_stronger = other < own, (other <= own) & ~itself
        tied = bool(np.any(weaker != not_stronger))
        return cls(_masks(itself), _masks(weaker), _masks(not_stronger), tied)


def _masks(members: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Sets over the last axis as words of 64 bits, the words first."""
    n_models = members.shape[-1]
    padded = np.zeros((members[..., 0].size, -(-n_models // 64) * 64), dtype=np.bool_)
    padded[:, :n_models] = members.reshape(-1, n_models)
    packed = np.packbits(padded, axis=-1, bitorder="little").view("<u8").astype(np.uint64)
    return np.ascontiguousarray(packed.T)


def removed_by_size(most: int, size: int) -> int:
    """Equation 2: the chance of a member of the lowest group to be eliminated."""
    return round(2.0**CHANCE_BITS * most / max(most, size)) if most else 0


def share(size: int) -> int:
    """What half a beaten member of a group adds to P(win) (equation 1).

    1 / (n − 1) of a win for n even, (1 − 1/n) / (n − 1) = 1 / n for n odd.
    """
    return round(2.0**CHANCE_BITS / (2 * ((size - 1) | 1)))


def _mean_by_score(
    won_later: IntArray, score: IntArray, seen: NDArray[np.bool_], n_rounds: int
) -> NDArray[np.float64]:
    """Mean of `won_later` by model and score, shape (M, K + 1), drawn to the mean of all models."""
    n_models = score.shape[1]
    cell = (np.arange(n_models) * (n_rounds + 1) + score)[seen]
    shape, size = (n_models, n_rounds + 1), n_models * (n_rounds + 1)
    visits = np.bincount(cell, minlength=size).reshape(shape)
    total = np.bincount(cell, weights=won_later[seen], minlength=size).reshape(shape)
    pooled = total.sum(axis=0) / np.maximum(visits.sum(axis=0), 1)
    mean: NDArray[np.float64] = (total + _PRIOR * pooled) / (visits + _PRIOR)
    return mean
