"""The ρ of two boards, and the ρ that `compare` expects of two boards that agree in truth.

Two judges read the same answers. Their scores correlate by 0.66 within a model, and the models'
true means by 1 or by 0.6; `apart` is the spread of true means in standard deviations of a score.

Shown:
    the ρ to be expected if both agreed in truth: `compare`
"""

import math
from collections.abc import Iterator

import numpy as np

from benchmarks.claims import Claim, mean, runs
from benchmarks.claims.worlds import Array
from tiebreak.rankers.agreement import spearman_many
from tiebreak.rankers.stability import expected_spearman

FULL = 300
CELLS = [
    *((8, 0.06, n_items) for n_items in (20, 50, 162, 1000)),
    *((8, 0.15, n_items) for n_items in (50, 162)),
    *((4, 0.06, 50), (4, 0.15, 162), (30, 0.06, 50), (30, 0.15, 50)),
]
# Users read "about": the largest mean difference between the expected ρ and that of full agreement.
MISSES = {4: 0.1, 8: 0.06, 30: 0.04}


def claims(scale: float) -> Iterator[Claim]:
    """ρ and expected ρ if the true ρ is 1, and the expected ρ if it is .6."""
    for seed, (n_models, apart, n_items) in enumerate(CELLS):
        n_runs, world = runs(FULL, scale), f"{n_models} models {apart} apart, {n_items:,} items"
        rng = np.random.default_rng([19, seed])
        shown, expected, at_six = [], [], []
        for _ in range(n_runs):
            one, other = _judged(rng, n_models, apart, n_items, 1.0)
            shown.append(float(spearman_many(one.mean(axis=0), other.mean(axis=0))))
            expected.append(expected_spearman(one, other))
            at_six.append(expected_spearman(*_judged(rng, n_models, apart, n_items, 0.6)))
        room = MISSES[n_models]
        found = np.array(expected)
        agreed = float(found.mean())
        yield mean("compare: ρ of two boards that agree in truth", world, shown)
        yield mean("compare: expected ρ, less the one shown", world, found - shown, (-room, room))
        error = np.abs(found - float(np.mean(shown)))
        yield mean("compare: expected ρ, its error either way", world, error)
        figure = "compare: expected ρ at truth .6, less that at truth 1"
        yield mean(figure, world, np.array(at_six) - agreed, (-room, room))


def _judged(
    rng: np.random.Generator, n_models: int, apart: float, n_items: int, truth: float
) -> tuple[Array, Array]:
    """Draw normalized Borda scores by the two judges, each of shape (n_items, N)."""
    one, other = apart * rng.normal(size=(2, n_models))
    means = (one, truth * one + math.sqrt(1 - truth**2) * other)
    answers = math.sqrt(0.66) * rng.normal(size=(n_items, n_models))
    own = math.sqrt(0.34) * rng.normal(size=(2, n_items, n_models))
    first, second = (_borda(theta + answers + o) for theta, o in zip(means, own, strict=True))
    return first, second


def _borda(scores: Array) -> Array:
    places = np.argsort(np.argsort(scores, axis=1), axis=1)
    return np.asarray(places / (scores.shape[1] - 1), dtype=np.float64)
