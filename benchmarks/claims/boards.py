"""Tests of all pairs of a leaderboard, ranges of ranks, and one pair chosen beforehand.

`separation` draws only 199 random sign flips here. The test is as exact with these (p is a multiple
of 1/200) and fifty times as fast; only its power is slightly lower.

Shown:
    pairwise tests, tiers, rank ranges, the verdict's sentence: `rank`, page, card, notebook
    difference and test of one pair chosen beforehand (`--pair`): `rank`
"""

from collections.abc import Iterator
from itertools import product
from unittest.mock import patch

import numpy as np

from benchmarks.claims import Claim, Range, mean, runs, share
from benchmarks.claims.worlds import Array, Generator, board, near_ties, true_borda
from tiebreak.rankers import pairwise_tests
from tiebreak.rankers.intervals import paired_interval
from tiebreak.rankers.pairwise_tests import paired_p, separation

AT_MOST: Range = (0, 0.05)
MODELS = (2, 8, 30)
ITEMS = (5, 10, 20, 50, 100, 1000)
KINDS = ("Borda", "Borda, 80% of the items tie all", "pass or fail, 90% pass")
PAIRS = [(n, ties, items) for n, ties in product((2, 8), (0.0, 0.8)) for items in ITEMS]


def claims(scale: float) -> Iterator[Claim]:
    """False pairs of equal models, ranks of unequal ones, and `--pair`."""
    small = scale < 0.3
    with patch.object(pairwise_tests, "_FLIPS", 199):
        yield from _equal_models(scale, [*product(KINDS, MODELS, ITEMS)][:: 11 if small else 1])
        cells = [*product((0.0, 0.8), MODELS, (10, 20, 100, 1000))]
        yield from _ranks(scale, cells[:: 7 if small else 1])
        yield from _power(scale, [*product((0.1, 0.2, 0.5), (50, 162, 1000))][:: 4 if small else 1])
    yield from _pair(scale, PAIRS[:: 5 if small else 1])


def _equal_models(scale: float, cells: list[tuple[str, int, int]]) -> Iterator[Claim]:
    """Share of boards of equal models in which any two are told apart."""
    for kind, n_models, n_items in cells:
        rng = np.random.default_rng([31, KINDS.index(kind), n_models, n_items])
        n = runs(_full(n_models, n_items), scale)
        false = 0
        for _ in range(n):
            found = separation(_scores(rng, kind, n_models, n_items), range(n_models))
            false += any(pair.apart for pair in found.pairs)
        setting = f"{n_models} equal models, {n_items:,} items, {kind}"
        yield share("rank: two equal models told apart", setting, false, n, AT_MOST)


def _scores(rng: Generator, kind: str, n_models: int, n_items: int) -> Array:
    """Scores of equal models, shape (n_items, n_models)."""
    if kind.startswith("pass"):
        difficulty = rng.beta(4.5, 0.5, size=(n_items, 1))
        return (rng.random((n_items, n_models)) < difficulty).astype(np.float64)
    scores = board(rng, np.zeros(n_models), n_items)
    if kind != "Borda":
        scores[rng.random(n_items) < 0.8] = 0.5
    return scores


def _ranks(scale: float, cells: list[tuple[float, int, int]]) -> Iterator[Claim]:
    """Share of boards in which all true ranks are in their ranges; half of the models are equal."""
    for ties, n_models, n_items in cells:
        theta = np.concatenate([np.zeros(n_models // 2), np.linspace(0.1, 1, n_models // 2)])[::-1]
        best, worst = _true_ranks(theta)
        rng, n = np.random.default_rng([32, round(10 * ties), n_models, n_items]), 0
        total = runs(_full(n_models, n_items), scale)
        for _ in range(total):
            scores = board(rng, theta, n_items, ties=ties)
            order = np.argsort(-scores.mean(axis=0))
            found = separation(scores, order.tolist())
            lower, upper = np.array(found.rank_lower), np.array(found.rank_upper)
            # For tied models, any rank of their group counts as true.
            n += bool(np.all((lower <= worst[order]) & (best[order] <= upper)))
        setting = f"{n_models} models, half of them equal, {n_items:,} items, {ties:.0%} ties"
        yield share("rank: all ranges of ranks hold at once", setting, n, total, (0.95, 1))


def _power(scale: float, cells: list[tuple[float, int]]) -> Iterator[Claim]:
    """Share of pairs of unequal models that are told apart, in their true order."""
    for apart, n_items in cells:
        rng, theta = np.random.default_rng([34, round(100 * apart), n_items]), near_ties(8, apart)
        shares = [pairs_found(board(rng, theta, n_items), theta) for _ in range(runs(100, scale))]
        setting = f"8 models {apart:g} apart, {n_items:,} items, Borda"
        yield mean("rank: power: pairs told apart", setting, shares)


def pairs_found(scores: Array, theta: Array) -> float:
    """Share of all pairs of models that tests of `scores` tell apart, in the order of `theta`."""
    order = np.argsort(-np.nanmean(scores, axis=0)).tolist()
    pairs = separation(scores, order).pairs
    right = [
        pair.apart is True and pair.difference * (theta[pair.above] - theta[pair.below]) > 0
        for pair in pairs
    ]
    return float(np.mean(right))


def _true_ranks(theta: Array) -> tuple[Array, Array]:
    above = np.sum(theta[None] > theta[:, None], axis=1)
    equal = np.sum(theta[None] == theta[:, None], axis=1)
    return above + 1.0, above + 1.0 * equal


def _pair(scale: float, cells: list[tuple[int, float, int]]) -> Iterator[Claim]:
    """`rank --pair`: the interval for unequal models, and the test for equal ones."""
    for n_models, ties, n_items in cells:
        rng = np.random.default_rng([33, n_models, round(10 * ties), n_items])
        theta = np.zeros(n_models)
        theta[0] = 0.5
        truth = (1 - ties) * true_borda(theta)
        n, inside, false, power = runs(1000, scale), 0, 0, 0
        for _ in range(n):
            gaps = _gaps(rng, theta, n_items, ties)
            lower, upper = paired_interval(gaps)
            inside += lower <= truth[0] - truth[1] <= upper
            power += paired_p(gaps) <= 0.05
            false += paired_p(_gaps(rng, np.zeros(n_models), n_items, ties)) <= 0.05
        setting = f"{n_models} models, {n_items:,} items, {ties:.0%} of them tie all"
        held = (0.93, 1.0) if n_items * (1 - ties) < 20 else (0.93, 0.97)
        yield share("rank --pair: 95% interval of a difference", setting, inside, n, held)
        yield share("rank --pair: equal models told apart", setting, false, n, AT_MOST)
        yield share("rank --pair: power: models 0.5 apart", setting, power, n)


def _gaps(rng: Generator, theta: Array, n_items: int, ties: float) -> Array:
    scores = board(rng, theta, n_items)
    scores[rng.random(n_items) < ties] = 0.5
    gaps: Array = scores[:, 0] - scores[:, 1]
    return gaps


def _full(n_models: int, n_items: int) -> int:
    """Number of worlds at scale 1: fewer if a world takes long."""
    if n_models < 30:
        return 600 if n_items < 1000 else 200
    return 200 if n_items < 1000 else 80
