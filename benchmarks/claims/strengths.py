"""Strengths of the second views, least squares and Bradley–Terry, and their intervals over items.

A strength depends on the matches that a protocol plays, so its truth is the strength under the same
protocol with endless items (exact if all pairs meet, else by some thousands of items). Under
elimination this differs from the strength by all pairs, which no interval over items can show.

Shown:
    intervals of least-squares and Bradley–Terry strengths: `rank`, page, JSON
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy.special import ndtr

from benchmarks.claims import Claim, in_tests, mean, runs
from benchmarks.claims.worlds import FAIR, Array, judged, names, near_ties
from tiebreak.rankers import ItemBootstrap, bradley_terry
from tiebreak.rankers.massey import least_squares
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.match import Swap
from tiebreak.scorers.placement import results

HOLDS = (0.93, 0.97)
LEAST = Resampling(draws=500)
ODDS = Resampling(draws=100)  # a draw takes 2 to 3 ms; `tiebreak rank` takes 200
# Protocol, models, items, sd of θ, share of ties, whether to fit Bradley–Terry, too.
CELLS = [
    ("full_pairwise", 2, 50, 0.1, 0.0, False),
    ("full_pairwise", 8, 20, 0.1, 0.0, False),
    ("full_pairwise", 8, 50, 0.5, 0.0, True),
    ("seal", 8, 20, 0.1, 0.0, False),
    ("seal", 8, 100, 0.2, 0.0, True),
    ("seal", 8, 100, 0.2, 0.8, False),
    ("seal", 30, 20, 0.1, 0.0, False),
]

ONCE = Resampling(draws=1)
Fit = Callable[..., ItemBootstrap]


def claims(scale: float) -> Iterator[Claim]:
    """Share of a board's models whose true strength is within the interval."""
    for number, (protocol, n_models, n_items, sd, ties, both) in enumerate(CELLS):
        # These take two thirds of the time.
        if in_tests(scale) and number in (2, 5, 6):
            continue
        rng, theta = np.random.default_rng((5, number)), near_ties(n_models, sd)
        if protocol == "full_pairwise":
            least, odds = of_all_pairs(theta)
        else:
            size = max(1000, round(6000 * scale))
            many = judged(rng, theta, size, protocol=protocol, ties=ties)
            least, odds = (fitted(fit, many, ONCE).score for fit in (least_squares, bradley_terry))
        squares, log_odds = [], []
        for run in range(runs(320, scale)):
            swap: Swap = "never" if protocol == "full_pairwise" else "close"
            items = judged(rng, theta, n_items, protocol=protocol, swap=swap, ties=ties)
            squares.append(held(fitted(least_squares, items, LEAST), least))
            if both and run % 8 == 0:
                log_odds.append(held(fitted(bradley_terry, items, ODDS), odds))
        setting = f"{protocol}, {n_models} models {sd} apart, {n_items} items, {ties:.0%} ties"
        yield mean("rank: 95% interval of a least-squares strength", setting, squares, HOLDS)
        if both:
            yield mean("rank: 95% interval of a Bradley–Terry strength", setting, log_odds, HOLDS)


def of_all_pairs(theta: Array) -> tuple[Array, Array]:
    """True least-squares and Bradley–Terry strengths if each pair is asked once, both (N,)."""
    sd = math.sqrt(2 + FAIR.noise**2)
    wins = ndtr((theta[:, None] - theta[None, :]) / sd)
    np.fill_diagonal(wins, 0)
    strength = np.ones(len(theta))
    for _ in range(5000):  # the iteration of Zermelo (1929)
        met = 1 / (strength[:, None] + strength[None, :])
        np.fill_diagonal(met, 0)
        strength = wins.sum(axis=1) / met.sum(axis=1)
        strength /= np.exp(np.log(strength).mean())
    margins = (2 * wins - 1).sum(axis=1) + 1  # + 1 takes out the pair of a model with itself
    return margins / len(theta), np.log(strength)


def fitted(fit: Fit, items: Sequence[ItemBallots], how: Resampling) -> ItemBootstrap:
    """Fit strengths of the models m1, m2, … to all results of the items."""
    number = {model: column for column, model in enumerate(names(len(items[0].models)))}
    rows: list[tuple[Any, ...]] = [
        (number[one], number[other], result, item.item_id)
        for item in items
        for one, other, result in results(item)
    ]
    first, second, result, of_items = zip(*rows, strict=True)
    return fit(first, second, result, of_items, n_models=len(number), how=how)


def held(found: ItemBootstrap, truth: Array) -> float:
    """Share of the models whose interval holds the truth."""
    return float(np.mean((found.lower <= truth) & (truth <= found.upper)))
