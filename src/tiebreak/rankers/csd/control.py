"""The control variate: most of a contest's luck is known, so it can be taken out.

Given who is in a group, equation 1 is the chance of each member to win, and equation 2 the chance
of each member of the lowest group to be eliminated. What really happened minus what was to be
expected has mean zero, whatever it is multiplied with. So for a model with score s before round k

    Z = S − Σ_k D[k, s]·(x − P(win)) − Σ_k V[k, s + x]·(stayed − P(stay))

has the expectation of S, exactly, for any fixed D and V. It has little variance when D is what a
win is worth, itself and in later rounds, and V what it is worth to stay in: a pilot of contests
that are used for nothing else estimates both. The last round has D = 1: x is replaced by P(win).

How many models have a score is no matter of chance: half of a group wins, whoever that is. So the
sizes of the groups are the same in all contests.

All of it is integer arithmetic in fixed-point units, so no order of summation changes a bit. The
rounding of a probability to 2^-32 moves the mean by less than 1e-6 standard deviations of S.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiebreak.rankers.csd.engine import States
from tiebreak.rankers.csd.inputs import IntArray
from tiebreak.rankers.csd.schedule import out_flag

# Z has this many fractional bits: 8 of the values D and V, 32 of the probabilities.
VALUE_BITS = 8
CHANCE_BITS = 32
Z_BITS = VALUE_BITS + CHANCE_BITS
# A cell of the pilot counts as if it had this many visits of the average model.
_PRIOR = 4.0

Masks = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Control:
    """Values in units of 2^-VALUE_BITS, shape (K, M, K + 2): [place, model, score before, after].

    The last score, K + 1, stands for "eliminated" and is worth 0.
    """

    win: IntArray
    stay: IntArray

    def renumbered(self, numbering: IntArray) -> "Control":
        """The same values for models in another order."""
        return Control(self.win[:, numbering], self.stay[:, numbering])


def fit(states: States) -> Control:
    """Values of a win and of staying in, as means over the contests of a pilot.

    Args:
        states: shape (K, contests, M), the trace of `simulate_block`.
    """
    n_rounds, _, n_models = states.shape
    out = out_flag(n_rounds)
    score, active = (states & (out - 1)).astype(np.int64), states < out
    won_later = score[-1] - score
    win = np.ones((n_rounds, n_models, n_rounds + 2))
    stay = np.zeros_like(win)
    for k in range(n_rounds - 1):
        value = _mean_by_score(won_later[k], score[k], active[k], n_rounds)
        win[k, :, :n_rounds] += np.diff(value, axis=1)
        stay[k, :, : n_rounds + 1] = _mean_by_score(won_later[k], score[k], active[k + 1], n_rounds)
    win[:, :, -1] = 0.0
    units = 2.0**VALUE_BITS
    return Control(np.rint(win * units).astype(np.int64), np.rint(stay * units).astype(np.int64))


def controlled(
    states: States,
    strength: IntArray,
    eliminate: tuple[int, ...],
    control: Control,
    orders: IntArray | None = None,
) -> IntArray:
    """Z of every model and contest, shape (contests, M), in units of 2^-Z_BITS.

    Args:
        states: shape (K, contests, M), the trace of `simulate_block`.
        strength: as given to `simulate_block`.
        eliminate: as given to `simulate_block`.
        control: values of the models, numbered as in `strength`.
        orders: as given to `simulate_block`.
    """
    n_rounds, contests, n_models = states.shape
    gone = n_rounds + 1
    weaker, not_stronger = _beaten(strength)
    tied = bool(np.any(weaker != not_stronger))
    share = share_by_size(n_models)
    row = np.repeat(np.arange(contests), n_models)
    column = np.tile(np.arange(n_models) * (gone + 1), contests)
    scores = np.minimum(states, gone).reshape(n_rounds, -1)  # an eliminated state is above K
    before = np.zeros_like(scores[0])
    z = (states[-1].reshape(-1) & (out_flag(n_rounds) - 1)).astype(np.int64)
    z <<= Z_BITS
    for k, after in enumerate(scores):
        if k and eliminate[k - 1]:
            eliminated = (after == gone) & (before != gone)
            low, luck = _luck_of_staying(before, eliminated, eliminate[k - 1], contests)
            z[low] -= luck * control.stay[k - 1].take(column[low] + before[low])
            before[eliminated] = gone
        masks = _groups(before.reshape(contests, n_models), k + 1, gone)
        size = np.bitwise_count(masks[:, :, 0]).sum(axis=0)
        played = k if orders is None else orders[:, k]
        cell = before * np.int64(contests) + row
        beaten = _count(masks, cell, weaker[played])
        beaten += _count(masks, cell, not_stronger[played]) if tied else beaten
        chance = beaten * share[size].take(before)
        luck = ((after - before).astype(np.int64) << CHANCE_BITS) - chance
        z -= luck * control.win[k].take(column + before)
        before = after.copy()
    scored: IntArray = z.reshape(contests, n_models)
    return scored


def _luck_of_staying(
    before: States, eliminated: NDArray[np.bool_], most: int, contests: int
) -> tuple[IntArray, IntArray]:
    """The members of the lowest groups, and stayed − P(stay) by equation 2 of each of them.

    All contests in one flat array; the luck is in units of 2^-CHANCE_BITS.
    """
    member = np.flatnonzero(before == before.min())
    removed = removed_by_size(most, member.size // contests)
    return member, removed - (eliminated[member].astype(np.int64) << CHANCE_BITS)


def removed_by_size(most: int, size: int) -> int:
    """Equation 2: the chance of a member of the lowest group to be eliminated."""
    return round(2.0**CHANCE_BITS * most / max(most, size))


def share_by_size(n_models: int) -> IntArray:
    """What half a beaten member of a group adds to P(win), by the size of the group (equation 1).

    1 / (n − 1) of a win for n even, (1 − 1/n) / (n − 1) = 1 / n for n odd.
    """
    size = np.arange(n_models + 1)
    return np.rint(2.0**CHANCE_BITS / (2 * ((np.maximum(size, 1) - 1) | 1))).astype(np.int64)


def _beaten(strength: IntArray) -> tuple[Masks, Masks]:
    """Who is weaker, and who else is not stronger: sets as bit masks, shape (K, M, words)."""
    own, other = strength[:, :, None], strength[:, None, :]
    alone = ~np.eye(strength.shape[1], dtype=np.bool_)
    return _masks(other < own), _masks((other <= own) & alone)


def _masks(members: NDArray[np.bool_]) -> Masks:
    """Sets over the last axis as bit masks of 32 bits."""
    padded = np.zeros((*members.shape[:-1], _padded(members.shape[-1])), dtype=np.bool_)
    padded[..., : members.shape[-1]] = members
    return np.packbits(padded, axis=-1, bitorder="little").view(np.uint32)


def _padded(n_models: int) -> int:
    return -(-n_models // 32) * 32


def _groups(before: States, n_scores: int, gone: int) -> Masks:
    """Groups of equal score as bit masks, shape (words, gone + 1, contests)."""
    contests, n_models = before.shape
    width = _padded(n_models)
    padded = np.full((contests, width), gone, dtype=before.dtype)
    padded[:, :n_models] = before
    flat = padded.reshape(-1)
    masks = np.zeros((width // 32, gone + 1, contests), dtype=np.uint32)
    for score in range(n_scores):
        packed = np.packbits(flat == score, bitorder="little").view(np.uint32)
        masks[:, score] = packed.reshape(contests, -1).T
    return masks


def _count(masks: Masks, cell: IntArray, beaten: Masks) -> IntArray:
    """How many of its group are in the set of each model, one flat array."""
    total = np.zeros(cell.size, dtype=np.int64)
    for word, groups in enumerate(masks):
        own = groups.take(cell).reshape(-1, beaten.shape[-2])
        total += np.bitwise_count(own & beaten[..., word]).reshape(-1)
    return total


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
