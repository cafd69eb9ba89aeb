"""A judge that ranks all answers in one call: position bias, and whether its lists are random.

Answers of equal models are shown in random order. A biased judge adds the same amount for each
place further up, so that 60% of pairs are ranked as shown.

Shown:
    position in lists; whether lists are more than a coin's: `rank`, `compare`, page, card
"""

import math
from collections.abc import Iterator

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from benchmarks.claims import Claim, in_tests, runs, share
from benchmarks.claims.worlds import Array, Generator, names, planted_item
from tiebreak.analysis.judge.biases import ALARM, place_of
from tiebreak.analysis.judge.figures import coin_p
from tiebreak.scorers.ballots import ItemBallots, Listing

NOISE = 0.5
# Answers, lists, runs. Lists of two answers have the fewest possible results.
CELLS = [
    (2, 10, 2000),
    (3, 10, 2000),
    (3, 20, 1000),
    (3, 50, 600),
    (3, 200, 200),
    (8, 10, 2000),
    (8, 20, 1000),
    (8, 50, 600),
    (8, 200, 200),
]


def claims(scale: float) -> Iterator[Claim]:
    """False alarms and power of the test of position; then how often a coin passes for a judge."""
    for answers, n_lists, full in CELLS:
        if n_lists >= 200 and in_tests(scale):
            continue
        n, rng = runs(full, scale, least=10), np.random.default_rng((61, answers, n_lists))
        setting = f"{n_lists} lists of {answers} answers"
        fair = [place_of(listed(rng, answers, n_lists)) for _ in range(n)]
        alarms = sum(one.p <= ALARM for one in fair)
        yield share("trust: false alarm of position in lists", setting, alarms, n, (0, ALARM))
        n, worth = runs(full // 2, scale, least=10), worth_of(answers, 0.6)
        bound = [place_of(listed(rng, answers, n_lists, worth)) for _ in range(n)]
        enough = [one.bound for one in bound if one.enough]
        setting += ", 60% of pairs as shown"
        yield share("position in lists is found", setting, sum(one.bound for one in bound), n)
        yield share("lists are enough to find it", setting, len(enough), n)
        if len(enough) >= 10:
            figure = "position in lists is found where they are enough"
            yield share(figure, setting, sum(enough), len(enough), (0.5, 1))
    for answers, n_lists, full in ((3, 10, 1000), (3, 20, 500), (8, 10, 1000), (8, 20, 500)):
        n, rng = runs(full, scale, least=20), np.random.default_rng((62, answers, n_lists))
        passed = sum(coin_p(listed(rng, answers, n_lists, noise=100)) <= ALARM for _ in range(n))
        setting = f"coin, {n_lists} lists of {answers} answers"
        yield share("trust: a coin's lists pass for a judge's", setting, passed, n, (0, ALARM))


def worth_of(answers: int, rate: float) -> float:
    """Worth of a place, in sd of answers, at which this share of pairs is ranked as shown."""
    apart = np.arange(1, answers)
    pairs = answers - apart
    sd = math.sqrt(2 * (1 + NOISE**2))

    def missing(worth: float) -> float:
        return float(np.average(norm.cdf(worth * apart / sd), weights=pairs)) - rate

    return float(brentq(missing, 0, 5))


def listed(
    rng: Generator, answers: int, n_lists: int, worth: float = 0.0, noise: float = NOISE
) -> list[ItemBallots]:
    """Draw one list for each item, by a judge that adds `worth` for each place further up."""
    models = np.array(names(answers))
    shown = rng.permuted(np.tile(np.arange(answers), (n_lists, 1)), axis=1)
    # By place, not by model: the models are equal, so it does not matter whose answer is where.
    seen = rng.standard_normal(shown.shape) + noise * rng.standard_normal(shown.shape)
    given = np.argsort(worth * np.arange(answers) - seen, axis=1)
    ranked: Array = np.take_along_axis(shown, given, axis=1)
    return [
        planted_item(
            number,
            models.tolist(),
            protocol="listwise",
            placed_by="listing",
            listings=(
                Listing(
                    groups=tuple((name,) for name in models[ranked[number]].tolist()),
                    shown=tuple(models[shown[number]].tolist()),
                ),
            ),
        )
        for number in range(n_lists)
    ]
