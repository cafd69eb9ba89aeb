"""A round robin's scores: bias against all pairs, their intervals, equal models told apart.

Shown:
    scores of a round robin (rule `points`), tests of all pairs: `rank`, page, card
"""

from collections.abc import Iterator
from functools import cache
from itertools import combinations, product
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from benchmarks.claims import Claim, Range, in_tests, mean, runs, share
from benchmarks.claims.boards import pairs_found
from benchmarks.claims.worlds import Array, Generator, near_ties, true_borda
from tiebreak.rankers import Resampling, bootstrap_items, pairwise_tests
from tiebreak.rankers.matches import Matches, pair_points
from tiebreak.rankers.pairwise_tests import separation
from tiebreak.scorers.schedule import Schedule, n_rounds

HOLDS: Range = (0.93, 0.97)
SMALL: Range = (-0.002, 0.002)
NOISE = 1.0
DRAWS = Resampling(draws=500)
# Models, items, rounds (0: all), sd of the models, share of ties, share of unscored matches.
CELLS = [
    (4, 20, 1, 0.2, 0.0, 0.0),
    (4, 50, 2, 0.2, 0.5, 0.0),
    (8, 20, 1, 0.0, 0.0, 0.0),
    (8, 20, 1, 0.2, 0.0, 0.05),
    (8, 20, 2, 0.2, 0.0, 0.0),
    (8, 20, 0, 0.2, 0.0, 0.0),
    (8, 50, 1, 1.0, 0.0, 0.0),
    (8, 50, 1, 0.2, 0.5, 0.05),
    (8, 50, 2, 1.0, 0.5, 0.0),
    (8, 50, 0, 1.0, 0.5, 0.05),
    (8, 162, 1, 0.2, 0.0, 0.0),
    (8, 162, 1, 0.2, 0.5, 0.05),
    (8, 162, 2, 0.2, 0.0, 0.05),
    (8, 162, 1, 1.0, 0.0, 0.0),
    (8, 162, 0, 0.2, 0.0, 0.0),
    (9, 20, 1, 0.2, 0.0, 0.0),
    (9, 50, 2, 1.0, 0.0, 0.05),
    (9, 162, 1, 0.2, 0.5, 0.0),
]
EQUAL = [
    *((8, n_items, rounds) for n_items in (5, 8, 10, 20, 50, 162) for rounds in (1, 2)),
    (4, 8, 1),
    (4, 20, 1),
    (9, 8, 1),
    (9, 20, 1),
]


def claims(scale: float) -> Iterator[Claim]:
    """Bias and coverage against the expected scores of all pairs; false and true differences."""
    cells = [*enumerate(CELLS)]
    for number, cell in cells[2::4] if in_tests(scale) else cells:
        yield from _scores(number, cell, scale)
    for n_models, n_items, rounds in EQUAL[:: 4 if in_tests(scale) else 1]:
        rng, false = np.random.default_rng((92, n_models, n_items, rounds)), 0
        total = runs(1000, scale)
        with patch.object(pairwise_tests, "_FLIPS", 199):
            for _ in range(total):
                scores = points(rng, np.zeros(n_models), n_items, rounds)
                found = separation(scores, np.argsort(-scores.mean(axis=0)).tolist())
                false += any(pair.apart for pair in found.pairs)
        setting = f"{n_models} equal models, {n_items} items, {_words(rounds)}"
        yield share("round_robin: two equal models told apart", setting, false, total, (0, 0.05))
    for apart, n_items, rounds in [*product((0.2, 0.5), (50, 162), (1, 0))][
        :: 5 if in_tests(scale) else 1
    ]:
        rng, theta = np.random.default_rng((93, n_items, rounds)), near_ties(8, apart)
        with patch.object(pairwise_tests, "_FLIPS", 199):
            shares = [
                pairs_found(points(rng, theta, n_items, rounds), theta)
                for _ in range(runs(100, scale))
            ]
        setting = f"8 models {apart:g} apart, {n_items} items, {_words(rounds)}"
        yield mean("round_robin: power: pairs told apart", setting, shares)


def _scores(
    number: int, cell: tuple[int, int, int, float, float, float], scale: float
) -> Iterator[Claim]:
    n_models, n_items, rounds, sd, ties, unscored = cell
    theta = near_ties(n_models, sd)
    truth = true_borda(theta, ties=ties, noise=NOISE)
    rng, inside, over = np.random.default_rng((91, number)), [], []
    for _ in range(runs(400, scale)):
        scores = points(rng, theta, n_items, rounds, ties=ties, unscored=unscored)
        found = bootstrap_items(scores, how=DRAWS)
        inside.append(np.mean((found.lower <= truth) & (truth <= found.upper)))
        # Above 0 if estimates are too far apart, below 0 if they are too close together.
        over.append(np.mean((found.score - truth)[: n_models // 2]))
    setting = (
        f"{n_models} models {sd:g} apart, {n_items} items, {_words(rounds)}, {ties:.0%} ties, "
        f"{unscored:.0%} unscored"
    )
    yield mean("round_robin: 95% interval holds the score of all pairs", setting, inside, HOLDS)
    yield mean("round_robin: bias of the better half's scores", setting, over, SMALL)


def points(
    rng: Generator,
    theta: Array,
    n_items: int,
    rounds: int,
    *,
    ties: float = 0.0,
    unscored: float = 0.0,
) -> Array:
    """Draw the table (items, models) of a round robin by `pair_points`, with a noisy judge.

    With 0 `rounds` all are played. `ties` is the probability of giving the item's common answer,
    and `unscored` that of a match without a result.
    """
    n = len(theta)
    common = rng.random((n_items, n)) < ties
    quality = theta + rng.standard_normal((n_items, n))
    alike = theta.mean() + rng.standard_normal((n_items, 1))
    quality = np.where(common, alike, quality)
    # Identical answers share the matches of the first of them.
    leader = np.where(common, np.argmax(common, axis=1)[:, None], np.arange(n))
    error = NOISE * rng.standard_normal((n_items, n, n))
    lost = rng.random((n_items, n, n)) < unscored
    item, one, other = scheduled(n, n_items, rounds or n_rounds(n), int(rng.integers(16)))
    ones, others = leader[item, one], leader[item, other]
    low, high = np.minimum(ones, others), np.maximum(ones, others)
    won = quality[item, low] - quality[item, high] + error[item, low, high] > 0
    result = np.where(ones == low, won, ~won).astype(np.float64)
    judged = (ones != others) & ~lost[item, low, high]
    matches = Matches.of(one[judged], other[judged], result[judged], item[judged], n, n_items)
    pairs = np.array(list(combinations(range(n), 2)))
    at, pair = np.nonzero(common[:, pairs[:, 0]] & common[:, pairs[:, 1]])
    same = None
    if len(at):
        half = np.full(len(at), 0.5)
        same = Matches.of(pairs[pair, 0], pairs[pair, 1], half, at, n, n_items)
    return pair_points(matches, same, np.ones((n_items, n), dtype=np.bool_))


@cache
def scheduled(
    n_models: int, n_items: int, rounds: int, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Items, models and opponents of the first rounds of a schedule, three arrays of shape (n,)."""
    names = [f"m{number:03}" for number in range(n_models)]
    plan = Schedule(tuple(names), n_items, str(seed))
    found = [
        (item, names.index(one), names.index(other))
        for item in range(n_items)
        for pairs in plan.of(item)[:rounds]
        for one, other in pairs
    ]
    item, one, other = np.array(found, dtype=np.int64).T
    return item, one, other


def _words(rounds: int) -> str:
    return {0: "all rounds", 1: "1 round"}.get(rounds, f"{rounds} rounds")
