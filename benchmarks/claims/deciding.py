"""Number of items to tell the two models in front apart: forecasts compared with the truth.

Boards are of all pairs, with two models in front and the others 0.6 to 1.6 behind. The true number
is that of the items at which the test of the two models (among all pairs of the board) has a power
of .8, by a probit line in √n through seven numbers of items. A forecast is made if a first run does
not tell the two apart, as in the report.

Not simulated: a first run with other models in front than in truth, and new items of another kind.

Shown:
    how many items would tell the two models in front apart: page
"""

import math
from collections.abc import Iterator
from unittest.mock import patch

import numpy as np

from benchmarks.claims import Claim, in_tests, mean, runs, share
from benchmarks.claims.labels import items_of_power
from benchmarks.claims.worlds import Array, board
from tiebreak.rankers import pairwise_tests
from tiebreak.rankers.pairwise_tests import items_to_tell_apart, separation

# Models, lead of the first over the second, and items of the first run.
CELLS = [(2, 0.3, 50), (4, 0.3, 50), (4, 0.15, 200), (8, 0.2, 100), (8, 0.3, 20)]


def claims(scale: float) -> Iterator[Claim]:
    """Coverage of the lower bound of the number of items, and errors of the forecast."""
    for number, (n_models, lead, n_items) in enumerate(CELLS[:: 3 if in_tests(scale) else 1]):
        theta = np.concatenate([[lead, 0.0], -np.linspace(0.6, 1.6, n_models - 2)])
        with patch.object(pairwise_tests, "_FLIPS", 199):
            truth = _truth(scale, number, theta)
            forecasts = _forecasts(scale, number, theta, n_items)
        setting, n = f"{n_models} models, {lead:g} ahead, {n_items} items", len(forecasts)
        held = sum(least <= truth for _, least in forecasts)
        yield share("items to tell apart: no fewer than the bound", setting, held, n, (0.95, 1))
        near = sum(truth / 2 <= likely <= 2 * truth for likely, _ in forecasts)
        yield share("… the forecast is within a factor of 2", setting, near, n)
        below = sum(likely < truth for likely, _ in forecasts)
        yield share("… the forecast is too low", setting, below, n)
        logs = [math.log2(min(max(likely / truth, 1 / 64), 64)) for likely, _ in forecasts]
        yield mean("… log2 of the forecast over the number", setting, logs)


def _forecasts(scale: float, number: int, theta: Array, n_items: int) -> list[tuple[float, float]]:
    """Forecasts (likely, least) of the first runs that do not tell the two in front apart."""
    rng, forecasts = np.random.default_rng((91, number)), []
    for _ in range(runs(400, scale)):
        scores = board(rng, theta, n_items)
        tests = separation(scores, np.argsort(-scores.mean(axis=0), kind="stable").tolist())
        pair = tests.pairs[0]
        if not pair.apart:
            forecasts.append(items_to_tell_apart(pair.n_items, pair.p, len(tests.groups[0])))
    return forecasts


def _truth(scale: float, number: int, theta: Array) -> float:
    rng, n = np.random.default_rng((92, number)), runs(100, scale)
    numbers = np.geomspace(20, 1600, 7).astype(int)
    powers = [
        np.mean(
            [
                (0, 1) in separation(board(rng, theta, n_items), range(len(theta))).apart
                for _ in range(n)
            ]
        )
        for n_items in numbers.tolist()
    ]
    return items_of_power(numbers, np.array(powers))
