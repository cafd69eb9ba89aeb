"""Forecasts of `estimate --budget`: half-widths, and the pairs that will be told apart.

The plan is made from the noise and the differences of a first, small run; a second, larger run has
the same models and judge.

Shown:
    half-width and pairs told apart that a plan promises: `estimate --budget`, `--calls`,
        `--precision`
"""

from collections.abc import Iterator
from unittest.mock import patch

import numpy as np

from benchmarks.claims import Claim, Range, in_tests, mean, runs
from benchmarks.claims.round_robin import points
from benchmarks.claims.worlds import Generator, near_ties
from tiebreak.rankers import Resampling, bootstrap_items, pairwise_tests
from tiebreak.rankers.pairwise_tests import separation
from tiebreak.rankers.profile import FloatArray
from tiebreak.study.estimate.experience import Evidence, of_scores
from tiebreak.study.estimate.plan import half_width, noise_of, powers

NEAR: Range = (0.9, 1.1)
FEW: Range = (-5, 3)
"""Error of the number of pairs, of 28; promising too few is better than promising too many."""
DRAWS = Resampling(draws=400)
N_MODELS = 8
# sd of the models; items and rounds of the first run; items and rounds of the planned one.
CELLS = [
    (0.2, 50, 1, 200, 1),
    (0.2, 50, 7, 200, 1),
    (0.2, 200, 1, 1000, 1),
    (0.5, 50, 1, 200, 1),
    (0.5, 50, 7, 100, 3),
    (0.5, 200, 1, 200, 7),
    (0.0, 50, 1, 500, 1),
]


def claims(scale: float) -> Iterator[Claim]:
    """Predicted half-widths and pairs against those of the run that was planned."""
    for number, cell in enumerate(CELLS[:: 3 if in_tests(scale) else 1]):
        sd, first_items, first_rounds, n_items, rounds = cell
        rng, theta = np.random.default_rng((61, number)), near_ties(N_MODELS, sd)
        widths, said, found = [], [], []
        for _ in range(runs(200, scale)):
            seen = _seen(rng, theta, first_items, first_rounds)
            noise = noise_of(0.0, 0.0, seen).of_item(rounds)
            width, apart = _run(rng, theta, n_items, rounds)
            widths.append(half_width(noise, n_items) / width)
            said.append(sum(pair.power for pair in powers(seen, noise, n_items)))
            found.append(apart)
        setting = (
            f"models of sd {sd}; first {first_items} items, {first_rounds} rounds; planned "
            f"{n_items:,} items, {rounds} rounds"
        )
        # A log of one round cannot show how a model's results on the same item correlate.
        held = None if first_rounds == 1 < rounds else NEAR
        yield mean("estimate --budget: half-width, as a share of the run's", setting, widths, held)
        gap = np.array(said) - np.array(found)
        yield mean("estimate --budget: pairs told apart, more than there were", setting, gap, FEW)
        yield mean("the number of pairs told apart, of 28", setting, found)


def _seen(rng: Generator, theta: FloatArray, n_items: int, rounds: int) -> Evidence:
    seen = of_scores(
        points(rng, theta, n_items, rounds % (N_MODELS - 1)),
        tuple("abcdefgh"),
        log="first.eval",
        protocol="round_robin",
        calls=rounds * N_MODELS / 2,
        met=rounds,
        tie=0.0,
    )
    assert seen is not None
    return seen


def _run(rng: Generator, theta: FloatArray, n_items: int, rounds: int) -> tuple[float, int]:
    """Play the planned run; returns the mean half-width and the number of pairs told apart."""
    scores = points(rng, theta, n_items, rounds % (N_MODELS - 1))
    board = bootstrap_items(scores, how=DRAWS)
    with patch.object(pairwise_tests, "_FLIPS", 199):
        pairs = separation(scores, range(N_MODELS)).pairs
    return float(np.mean(board.upper - board.lower) / 2), sum(bool(pair.apart) for pair in pairs)
