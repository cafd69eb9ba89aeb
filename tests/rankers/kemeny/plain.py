"""Two slow ways to every optimal Kemeny order, in plain Python, straight from the definition."""

from functools import cache
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np

from tests.rankers.ballots import FloatArray

Counts = list[list[int]]


class Optima(NamedTuple):
    cost: int
    first: tuple[int, ...]  # the lexicographically smallest
    n_optima: int


def before(ranks: FloatArray) -> Counts:
    """P[i][j]; NaN < x and x < NaN are False."""
    ballots = ranks.tolist()
    columns = range(ranks.shape[1])
    return [[sum(ballot[i] < ballot[j] for ballot in ballots) for j in columns] for i in columns]


def present(ranks: FloatArray) -> list[int]:
    ballots = ranks.tolist()
    return [i for i in range(ranks.shape[1]) if any(b[i] == b[i] for b in ballots)]


def by_all_orders(ranks: FloatArray) -> Optima:
    counts = before(ranks)
    costs = {
        order: sum(counts[b][a] for a, b in combinations(order, 2))
        for order in permutations(present(ranks))  # in lexicographic order
    }
    cost = min(costs.values())
    optimal = [order for order in costs if costs[order] == cost]
    return Optima(cost, optimal[0], len(optimal))


def by_subsets(ranks: FloatArray) -> Optima:
    """Best first: who heads the remaining candidates, and what the rest costs."""
    counts = before(ranks)

    @cache
    def best(remaining: tuple[int, ...]) -> Optima:
        if not remaining:
            return Optima(0, (), 1)
        ways = []
        for head in remaining:
            rest = best(tuple(other for other in remaining if other != head))
            lost = sum(counts[other][head] for other in remaining)
            ways.append(Optima(lost + rest.cost, (head, *rest.first), rest.n_optima))
        cost = min(way.cost for way in ways)
        optimal = [way for way in ways if way.cost == cost]
        return Optima(cost, optimal[0].first, sum(way.n_optima for way in optimal))

    return best(tuple(present(ranks)))


def by_sets(counts: Counts) -> tuple[int, int]:
    """The least cost of an order, and how many orders have it: set by set, for up to 20 candidates.

    Sets are numbers, a bit a candidate; whoever heads a set is put before the rest of it.
    """
    n = len(counts)
    lost = [np.zeros(1, np.int64) for _ in range(n)]  # by set, what heading it costs
    for other in range(n):
        lost = [np.concatenate([own, own + counts[other][k]]) for k, own in enumerate(lost)]
    sets = np.arange(1 << n)
    size = sum((sets >> k & 1 for k in range(n)), np.zeros_like(sets))
    cost, ways = np.zeros(len(sets), np.int64), np.ones(len(sets), np.int64)
    for step in range(1, n + 1):
        these = sets[size == step]
        every = np.full((n, len(these)), np.iinfo(np.int64).max)
        each = np.zeros((n, len(these)), np.int64)
        for head in range(n):
            has = (these >> head & 1) == 1
            rest = these[has] ^ (1 << head)
            every[head, has] = cost[rest] + lost[head][these[has]]
            each[head, has] = ways[rest]
        cost[these] = every.min(axis=0)
        ways[these] = np.where(every == cost[these], each, 0).sum(axis=0)
    return int(cost[-1]), int(ways[-1])
