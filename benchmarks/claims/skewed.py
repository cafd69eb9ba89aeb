"""Tests of all pairs for scores that are not ranks: stars, partial credit, heavy tails, skewness.

Each row pools all sizes of one kind of scores, with the same number of worlds for each: 2, 4 and 8
models at 20, 50, 100 and 200 items. Error is the share of boards of equal models that tell any two
apart. For power one half of the models differs from the other: it is the share of the differing
pairs that are found, and t is the share that Student's t with Holm's correction finds. Of
near-duplicates, four models have all stars in 98% of the items, and two in 75% and 65%.

Shown:
    tests of all pairs of scores that are no ranks (stars, partial credit, win rates against a
        baseline): `rank`, `diagnose`, page
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations, product
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr

from benchmarks.claims import Claim, Range, in_tests, mean, runs, share
from benchmarks.claims.stars import THRESHOLDS, levels
from benchmarks.claims.worlds import Array, Generator
from tiebreak.rankers import pairwise_tests
from tiebreak.rankers.pairwise_tests import holm, separation

AT_MOST: Range = (0, 0.05)
MODELS, ITEMS = (2, 4, 8), (20, 50, 100, 200)
# Leads at 20 items, in the unit of each kind; at n items they are multiplied by √(20 / n).
LEADS = (1.0, 1.6, 2.5)
FULL, DUPLICATES = (0.98, 0.98, 0.98, 0.98, 0.75, 0.65), 4

Drawn = Callable[[Generator, int, Array], Array]
"""Draws scores (items, models), given items and how much worse each model is, shape (models,)."""


def stars(rng: Generator, n: int, worse: Array, *, score: float) -> Array:
    """Draw 0 to 3 stars as shares; hard items are hard for all models."""
    noise = rng.standard_normal((n, 1)) + rng.standard_normal((n, len(worse)))
    good = np.array(levels(tuple(100 * (score - 0.09 * worse)))) + noise / np.sqrt(2)
    found: Array = (good[..., None] > THRESHOLDS).mean(axis=-1)
    return found


def credit(rng: Generator, n: int, worse: Array, *, full: float) -> Array:
    """Draw all of an item's points (1), or some of them (0 to 1)."""
    hard = np.sqrt(0.4) * rng.standard_normal((n, 1))
    ease = hard + np.sqrt(0.6) * rng.standard_normal((n, len(worse)))
    some = rng.beta(1.2, 1.2, size=ease.shape).round(2)
    return np.where(ease < ndtri(full - 0.25 * worse), 1.0, some)


def tails(rng: Generator, n: int, worse: Array) -> Array:
    """Draw scores by Student's t with 3 degrees of freedom."""
    return rng.standard_t(3, size=(n, len(worse))) - 1.2 * worse


def tailed(rng: Generator, n: int, worse: Array, *, against: bool) -> Array:
    """Draw exponential scores: rarely far above the mean, or far below for every other model."""
    scores: Array = rng.exponential(size=(n, len(worse))) - 1
    if against:
        scores[:, ::2] *= -1
    return scores - 0.75 * worse


KINDS: dict[str, Drawn] = {
    "stars, mean 90": partial(stars, score=0.9),
    "stars, mean 97": partial(stars, score=0.97),
    "partial credit, 80% full": partial(credit, full=0.8),
    "partial credit, 95% full": partial(credit, full=0.95),
    "heavy tails": tails,
    "skewed alike": partial(tailed, against=False),
    "skewed against each other": partial(tailed, against=True),
}
# For this kind t with Holm tells equal models apart too often, so its power is no benchmark.
TOO_BOLD = "skewed against each other"


def claims(scale: float) -> Iterator[Claim]:
    """Error and power for each kind, near-duplicates, baselines, and failures too rare to show."""
    with patch.object(pairwise_tests, "_FLIPS", 499):
        for kind in list(KINDS)[:: 3 if in_tests(scale) else 1]:
            yield from _errors(kind, runs(1000, scale, least=20))
            yield from _power(kind, runs(100, scale, least=4))
        for n_items in ITEMS[:: 2 if in_tests(scale) else 1]:
            yield from _near_duplicates(n_items, runs(500, scale, least=40))
        for n_items, ties in product((80, 162), (0.0, 0.1)):
            yield from _baseline(n_items, ties, runs(200, scale, least=20))
        yield from _rare_failures(runs(500, scale, least=20))


def _errors(kind: str, n: int) -> Iterator[Claim]:
    rng = np.random.default_rng((81, list(KINDS).index(kind)))
    false = dict.fromkeys(MODELS, 0)
    for models, n_items, _ in product(MODELS, ITEMS, range(n)):
        false[models] += _any_apart(KINDS[kind](rng, n_items, np.zeros(models)))
    figure, sizes = "rank: two equal models told apart", "20 to 200 items, pooled"
    total = n * len(ITEMS)
    yield share(
        figure, f"{kind}: 2 to 8 models, {sizes}", sum(false.values()), total * len(MODELS), AT_MOST
    )
    if kind == TOO_BOLD:
        yield share(figure, f"{kind}: 2 models, {sizes}", false[2], total, AT_MOST)
        small = sum(_any_apart(KINDS[kind](rng, 20, np.zeros(8))) for _ in range(2 * n))
        yield share(figure, f"{kind}: 8 models, 20 items", small, 2 * n)


def _power(kind: str, n: int) -> Iterator[Claim]:
    rng = np.random.default_rng((82, list(KINDS).index(kind)))
    power, more = [], []
    for models, n_items, lead, _ in product(MODELS, ITEMS, LEADS, range(n)):
        worse = lead * np.sqrt(20 / n_items) * (np.arange(models) >= models // 2)
        scores = KINDS[kind](rng, n_items, worse)
        real = [worse[i] != worse[j] for i, j in combinations(range(models), 2)]
        apart = [pair.apart is True for pair in separation(scores, range(models)).pairs]
        power.append(np.mean(apart, where=real))
        more.append(power[-1] - np.mean(_by_t(scores), where=real))
    setting = f"{kind}: 2 to 8 models, 20 to 200 items, pooled"
    yield mean("rank: pairs found that differ", setting, power)
    held = None if kind == TOO_BOLD else (-0.02, 1.0)
    yield mean("rank: pairs found more than by t with Holm", setting, more, held)


def _near_duplicates(n_items: int, n: int) -> Iterator[Claim]:
    rng = np.random.default_rng((83, n_items))
    found, by_t, none = [], [], 0
    real = [i < DUPLICATES <= j for i, j in combinations(range(len(FULL)), 2)]
    for _ in range(n):
        full = rng.random((n_items, len(FULL))) < FULL
        scores = np.where(full, 1.0, rng.integers(0, 3, size=full.shape) / 3)
        apart = [pair.apart is True for pair in separation(scores, range(len(FULL))).pairs]
        found.append(np.mean(apart, where=real))
        by_t.append(np.mean(_by_t(scores), where=real))
        none += not any(apart)
    setting = f"4 of 6 models near the ceiling of stars, {n_items} items"
    least = {50: (0.8, 1.0), 100: (0.95, 1.0), 200: (0.95, 1.0)}.get(n_items)
    most = {50: (0, 0.1), 100: (0, 0.01), 200: (0, 0.01)}.get(n_items)
    yield mean("rank: pairs found that differ", setting, found, least)
    yield mean("… by t with Holm", setting, by_t)
    yield share("rank: no two told apart", setting, none, n, most)


def _baseline(n_items: int, ties: float, n: int) -> Iterator[Claim]:
    """Power for win rates of eight near-duplicates against a baseline, which always scores 0.5."""
    rng = np.random.default_rng((85, n_items, round(10 * ties)))
    found, more = [], []
    for _ in range(n):
        same = rng.random((n_items, 8)) < 0.9
        wins = np.where(same, rng.random((n_items, 1)) < 0.7, rng.random((n_items, 8)) < 0.7)
        tied = rng.random((n_items, 8)) < ties
        scores = np.column_stack([np.where(tied, 0.5, wins), np.full(n_items, 0.5)])
        pairs = separation(scores, range(9)).pairs
        against = [pair.below == 8 for pair in pairs]
        found.append(np.mean([pair.apart is True for pair in pairs], where=against))
        more.append(found[-1] - np.mean(_by_t(scores), where=against))
    setting = f"8 models that win 70% against a baseline, {n_items} items, {ties:.0%} ties"
    yield mean("rank: pairs with the baseline found", setting, found)
    yield mean("rank: pairs found more than by t with Holm", setting, more, (-0.02, 1.0))


def _rare_failures(n: int) -> Iterator[Claim]:
    """Error if a model gets 0 in 5% of the items, and is as good as the others on average."""
    rng = np.random.default_rng(84)
    sizes = (20, 30, 40, 60, 100)
    false = dict.fromkeys(sizes, 0)
    few, by_t = 0, 0
    for models, n_items, _ in product((2, 5), sizes, range(n)):
        scores = 0.9 + 0.02 * rng.standard_normal((n_items, models))
        scores[:, 0] = np.where(rng.random(n_items) < 0.05, 0, scores[:, 0] + 0.9 / 19)
        board = separation(scores, range(models))
        false[n_items] += any(pair.apart for pair in board.pairs)
        if n_items == 20:
            few += any(pair.untested == "rare failures" for pair in board.pairs)
            by_t += bool(np.any(_by_t(scores)))
    setting = "one of 2 or 5 models fails rarely and utterly"
    figure = "rank: two equal models told apart"
    total = 2 * n * len(sizes)
    yield share(figure, f"{setting}, 20 to 100 items, pooled", sum(false.values()), total, AT_MOST)
    yield share(figure, f"{setting}, 20 items", false[20], 2 * n, AT_MOST)
    yield share("… by t with Holm", f"{setting}, 20 items", by_t, 2 * n)
    yield share("rank: said to be too few items", f"{setting}, 20 items", few, 2 * n)


def _any_apart(scores: Array) -> bool:
    return any(pair.apart for pair in separation(scores, range(scores.shape[1])).pairs)


def _by_t(scores: Array) -> NDArray[np.bool_]:
    """Which pairs Student's t with Holm's correction tells apart."""
    first, second = np.array(list(combinations(range(scores.shape[1]), 2))).T
    gaps = scores[:, first] - scores[:, second]
    error = gaps.std(axis=0, ddof=1) / np.sqrt(len(gaps))
    t = np.abs(gaps.mean(axis=0)) / np.maximum(error, 1e-12)
    found: NDArray[np.bool_] = np.array(holm(2 * stdtr(len(gaps) - 1, -t))) <= 0.05
    return found
