"""Every order of few candidates with its cost, and small profiles of every kind."""

from collections.abc import Iterator
from functools import cache
from itertools import permutations

import numpy as np

from tests.rankers.ballots import FloatArray, partial, tied, uniform
from tests.rankers.kemeny.plain import before
from tiebreak.rankers.profile import IntArray

KINDS = ("complete", "tied", "partial", "tied and partial", "pairs")


@cache
def all_orders(n: int) -> IntArray:
    return np.array(list(permutations(range(n))), dtype=np.int64).reshape(-1, n)


def all_costs(ranks: FloatArray) -> IntArray:
    """Cost of every row of `all_orders`: for each pair, the ballots that want it the other way."""
    counts, orders = np.array(before(ranks)), all_orders(ranks.shape[1])
    costs = np.zeros(len(orders), np.int64)
    for first in range(orders.shape[1]):
        for then in range(first + 1, orders.shape[1]):
            costs += counts[orders[:, then], orders[:, first]]
    return costs


def profile(kind: str, n_ballots: int, n: int, seed: int) -> FloatArray:
    rng = np.random.default_rng([seed, n_ballots, n, KINDS.index(kind)])
    ranks = uniform(rng, n_ballots, n)
    if kind == "pairs":  # every ballot compares two candidates: margins that no orders could give
        ranks = np.where(ranks <= 2, ranks, np.nan)
        return np.vstack([np.ones(n), ranks])
    if kind.startswith("tied"):
        ranks = tied(ranks, 3)
    return partial(ranks, rng) if kind.endswith("partial") else ranks


def profiles(n: int, ballots: tuple[int, ...], seeds: int) -> Iterator[FloatArray]:
    for kind in KINDS:
        for n_ballots in ballots:
            for seed in range(seeds):
                yield profile(kind, n_ballots, n, seed)
