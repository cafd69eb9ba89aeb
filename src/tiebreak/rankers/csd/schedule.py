"""Who meets whom, by place: the part of a contest that is no matter of chance.

A contest keeps its models at M places. Half of a group wins and an odd group has one bye, so the
sizes of the groups after every round are known before the first one, and so are the places of
their members: whoever meets at the places i and j, the winner goes to i and the loser to j. All
that chance does is to shuffle the models of each group over the places of the group, before it
loses members to the elimination and before its neighbours meet.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from tiebreak.rankers.csd.inputs import IntArray


@dataclass(frozen=True, slots=True)
class Round:
    """One round of every contest; all numbers but those of `score` are places.

    `active`, shape (A,): the places that get a random word. `shuffle`, shape (n, 2): the places to
    compare and exchange, in turn, which sorts every group by its words. `matches`, shape (n, 2):
    the first and the second of each pair. `score`, shape (M,): score after the round, plus
    `Schedule.out` at the places of models that were eliminated before it.
    """

    active: IntArray
    shuffle: IntArray
    matches: IntArray
    score: IntArray


@dataclass(frozen=True, slots=True)
class Schedule:
    """All rounds; `out` is added to the score of an eliminated model."""

    rounds: tuple[Round, ...]
    out: int


@cache
def schedule(n_models: int, eliminate: tuple[int, ...]) -> Schedule:
    """The contest of M models that eliminates T_k after round k."""
    out = out_flag(len(eliminate))
    score = np.zeros(n_models, dtype=np.int64)
    rounds = []
    for due in (0, *eliminate[:-1]):
        groups = [np.flatnonzero(score == each) for each in np.unique(score[score < out])]
        active = np.flatnonzero(score < out)
        shuffle = [group[sorting_network(len(group))] for group in groups]
        if groups:
            score[groups[0][:due]] += out
            groups[0] = groups[0][due:]
        matches = [group[: len(group) // 2 * 2].reshape(-1, 2) for group in groups]
        for match in matches:
            score[match[:, 0]] += 1
        rounds.append(Round(active, _rows(shuffle), _rows(matches), score.copy()))
    return Schedule(tuple(rounds), out)


def _rows(pairs: list[IntArray]) -> IntArray:
    return np.concatenate([np.empty((0, 2), dtype=np.int64), *pairs])


def out_flag(n_rounds: int) -> int:
    """What is added to the score of an eliminated model: a bit above all scores."""
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
