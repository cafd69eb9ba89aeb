"""Control of length: strengths of models whose judge likes length, and their intervals over items.

All pairs meet in every item; the log-odds of a match are the difference of two strengths plus the
judge's preference times (a − b) / (a + b), a and b being the lengths of the two answers.

Shown:
    strengths controlled for length and style: `rank --control`
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.claims import Claim, in_tests, mean, runs, share
from benchmarks.claims.worlds import Array
from tiebreak.rankers.strength import bradley_terry, controlled_bradley_terry
from tiebreak.rankers.uncertainty import Resampling

FULL = 120
DRAWS = 100  # a draw takes 3 ms and more; `tiebreak rank` takes 200
HOLDS = (0.92, 0.97)
ONCE = Resampling(draws=1)


def claims(scale: float) -> Iterator[Claim]:
    """Coverage of the intervals, and the gap between equal models with and without control."""
    for n_items, taste in ((20, 1.5), (100, 0.0)):
        if n_items >= 100 and in_tests(scale):
            continue
        rng = np.random.default_rng([17, n_items, int(taste)])
        theta = np.array([0.3, 0.1, -0.1, -0.3])
        n_runs, strengths, tastes = runs(FULL, scale, least=6), 0, 0
        for run in range(n_runs):
            how = Resampling(draws=DRAWS // 2 if in_tests(scale) else DRAWS, seed=run)
            columns, length = _judged(rng, theta, taste, n_items)
            found, [effect] = controlled_bradley_terry(
                *columns, length, n_models=len(theta), how=how
            )
            strengths += bool(found.lower[0] <= theta[0] <= found.upper[0])
            tastes += effect.lower <= taste <= effect.upper
        judge = "judge likes length" if taste else "blind judge"
        setting = f"N = 4, {n_items} items, {judge}"
        yield share("rank --control: 95% interval of a strength", setting, strengths, n_runs, HOLDS)
        yield share("rank --control: 95% interval of a coefficient", setting, tastes, n_runs, HOLDS)
    yield from _equal_models(scale)


def _equal_models(scale: float) -> Iterator[Claim]:
    """Lead of the model with the longest answers over that with the shortest, in log-odds."""
    for taste, judge in ((1.5, "judge likes length"), (0.0, "blind judge")):
        rng, gaps = np.random.default_rng([18, int(taste)]), []
        for _ in range(runs(200, scale, least=10)):
            columns, length = _judged(rng, np.zeros(4), taste, 100)
            plain = bradley_terry(*columns, n_models=4, how=ONCE).score
            found, _ = controlled_bradley_terry(*columns, length, n_models=4, how=ONCE)
            gaps.append((plain[3] - plain[0], found.score[3] - found.score[0]))
        without, under = np.transpose(gaps)
        setting = f"4 equal models, 100 items, {judge}"
        yield mean("rank --control: gap in log-odds without control", setting, without)
        yield mean("rank --control: gap in log-odds under control", setting, under, (-0.02, 0.02))


def _judged(
    rng: np.random.Generator, theta: Array, taste: float, n_items: int
) -> tuple[tuple[Any, Any, Any, Any], Array]:
    """Draw matches as columns, and their relative differences in length, shape (matches, 1)."""
    n = len(theta)
    one, two = np.triu_indices(n, k=1)
    # Each model writes e^0.3 times as much as the one before, so lengths differ between models.
    words = np.exp(0.3 * np.arange(n) + 0.6 * rng.normal(size=(n_items, n)))
    more = (words[:, one] - words[:, two]) / (words[:, one] + words[:, two])
    odds = theta[one] - theta[two] + taste * more
    result = np.asarray(rng.random(odds.shape) < 1 / (1 + np.exp(-odds)), dtype=np.float64)
    items = np.repeat(np.arange(n_items), len(one))
    columns = (np.tile(one, n_items), np.tile(two, n_items), result.ravel(), items)
    return columns, more.reshape(-1, 1)
