"""Boards by category: whether equal models are told apart in any of several categories.

Each of k categories is tested at 1 - 0.05 / k, so that the claims of all boards hold together.

Shown:
    verdict of each category and its intervals (`--by category`): `rank`
"""

from collections.abc import Iterator
from itertools import product
from unittest.mock import patch

import numpy as np

from benchmarks.claims import Claim, Range, mean, runs, share
from benchmarks.claims.worlds import Array, board, near_ties, true_borda
from tiebreak.rankers import bootstrap_items, pairwise_tests
from tiebreak.rankers.pairwise_tests import separation
from tiebreak.rankers.uncertainty import Resampling

AT_MOST: Range = (0, 0.05)
CATEGORIES, ITEMS, MODELS = (2, 5, 10), (10, 40), 4


def claims(scale: float) -> Iterator[Claim]:
    """False and true differences in any category, and intervals that hold in all categories."""
    with patch.object(pairwise_tests, "_FLIPS", 999):
        for k, n_items in product(CATEGORIES, ITEMS):
            yield from _tests(k, n_items, runs(400, scale, least=20))
    for k in CATEGORIES[:2]:
        yield _intervals(k, 40, runs(400, scale, least=20))


def _tests(k: int, n_items: int, n: int) -> Iterator[Claim]:
    rng = np.random.default_rng([93, k, n_items])
    worse = np.array([0.8, 0.8, 0.0, 0.0])
    false, power = 0, []
    for _ in range(n):
        boards = [board(rng, np.zeros(MODELS), n_items) for _ in range(k)]
        false += any(any(_apart(scores, k)) for scores in boards)
        power.append(np.mean(_apart(board(rng, worse, n_items), k)[1:5]))
    setting = f"{k} categories of {n_items} items, {MODELS} models"
    yield share(
        "rank --by: two equal models told apart in any category", setting, false, n, AT_MOST
    )
    yield mean("rank --by: pairs 0.8 apart found in a category", setting, power)


def _apart(scores: Array, k: int) -> list[bool]:
    """Whether each pair is told apart, in the order (0, 1), (0, 2), …, (2, 3)."""
    found = separation(scores, range(MODELS), level=1 - 0.05 / k)
    return [pair.apart is True for pair in found.pairs]


def _intervals(k: int, n_items: int, n: int) -> Claim:
    rng = np.random.default_rng([94, k])
    theta, how = near_ties(MODELS, 0.3), Resampling(level=1 - 0.05 / k, draws=1000)
    true, held = true_borda(theta), 0
    for run in range(n):
        fits = [
            bootstrap_items(board(rng, theta, n_items), how=Resampling(how.level, how.draws, run))
            for _ in range(k)
        ]
        # The model is chosen beforehand, so only its own intervals have to hold together.
        held += all(fit.lower[0] <= true[0] <= fit.upper[0] for fit in fits)
    setting = f"{k} categories of {n_items} items, {MODELS} models 0.3 apart"
    return share(
        "rank --by: a model's intervals hold in all categories", setting, held, n, (0.92, 1)
    )
