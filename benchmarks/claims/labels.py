"""Number of labels to tell the two models in front apart: forecasts compared with the truth.

Worlds are those of `anchored`, with two models in front and the others 0.6 to 1.6 behind: people
judge some items, a judge all. The true number is that of the labelled items at which the test of
the two models (among all pairs of the board) has a power of .8, by a probit line in √n through
seven numbers of items. The forecast is made from `pilot` items, for the two in front and as many
models as are not told apart from the leader by then.

A goal of votes is the same forecast from a judge's results alone, one on each of its items, as if
they were people's votes; people err as much as the judge does, or as much again. A goal of stars is
that of one answer to each item, with models in turn.

Not simulated: other models in front than in truth, and more rivals that are as good.

Shown:
    how many labels tell the models in front apart, with the judge and without: `stability --people`
    how many votes, or stars, decide between the two in front, by a judge's logs: `vote --goal`
"""

import math
from collections.abc import Callable, Iterator
from statistics import NormalDist

import numpy as np

from benchmarks.claims import Claim, in_tests, mean, runs, share
from benchmarks.claims.anchored import Sizes, Tables, _setting, _stars, _world
from benchmarks.claims.worlds import Array
from tiebreak.rankers.anchored import anchor, labels_needed
from tiebreak.rankers.intervals import Estimate
from tiebreak.rankers.pairwise_tests import separation

POWER = 0.8


def claims(scale: float) -> Iterator[Claim]:
    """Coverage of the bounds of the number of labels, and errors of forecasts and goals."""
    for number, (judge, lead, n_models, n_items, pilot, votes) in enumerate(
        [
            ("good", 0.5, 4, 400, 40, 2),
            ("useless", 0.5, 4, 400, 40, 2),
            ("good", 0.4, 8, 400, 100, 4),
            ("good", 0.3, 4, 400, 40, 0),
        ]
    ):
        if in_tests(scale) and number:
            continue
        theta = np.concatenate([[lead, 0.0], -np.linspace(0.6, 1.6, n_models - 2)])
        sizes: Sizes = n_models, n_items, pilot, votes, 0.0
        yield from _forecast(scale, number, judge, theta, sizes)
    if not in_tests(scale):
        for number, judge in enumerate(("good", "noisy", "biased")):
            yield from _goal(scale, number, judge, 0.6, 1, "votes")
        for number, judge in enumerate(("good", "noisy", "biased"), start=3):
            yield from _goal(scale, number, judge, 0.9, 0, "stars")


def _goal(
    scale: float, number: int, judge: str, lead: float, votes: int, noun: str
) -> Iterator[Claim]:
    """Errors of the goal of votes; with 0 `votes` an item people give stars instead."""
    rng, n = np.random.default_rng((83, number)), runs(200, scale)
    theta = np.array([lead, 0.0, -0.6, -1.6])
    sizes: Sizes = 4, 400, 400, votes, 0.0
    true = _truth(scale, 10, judge, theta, sizes, alone=True, drawn=_asked_once)
    goals = []
    for _ in range(n):
        _, said, on_all, labelled = _asked_once(rng, theta, judge, sizes)
        board = anchor(said, said, on_all, labelled, grades=not votes)
        order = _order(board.table)
        rivals = len(separation(board.table, order).groups[0])
        goals.append(labels_needed(board, order[:2], n_models=rivals)[1].value)
    each = "" if votes else " of an answer each"
    setting = f"{_setting(judge, sizes)}{each}, {theta[0]:g} ahead"
    figure = f"{noun} that decide: the goal is within a factor of 2"
    yield share(figure, setting, sum(true / 2 <= goal <= 2 * true for goal in goals), n)
    yield share("… the goal is too low", setting, sum(goal < true for goal in goals), n)
    logs = [math.log2(min(max(goal / true, 1 / 64), 64)) for goal in goals]
    yield mean("… log2 of the goal over the number", setting, logs)


def _asked_once(rng: np.random.Generator, theta: Array, judge: str, sizes: Sizes) -> Tables:
    """Draw a world in which people vote on one pair of an item, or rate one answer to it."""
    if sizes[3]:
        return _world(rng, theta, judge, sizes)
    return _stars(rng, theta, judge, *sizes[1:3], all_answers=False)


def _forecast(scale: float, number: int, judge: str, theta: Array, sizes: Sizes) -> Iterator[Claim]:
    rng, n = np.random.default_rng((81, number)), runs(200, scale)
    setting = f"{_setting(judge, sizes)}, {theta[0]:g} ahead"
    truth = [_truth(scale, number, judge, theta, sizes, alone=alone) for alone in (False, True)]
    forecasts = [_one(rng, judge, theta, sizes) for _ in range(n)]
    for place, name in enumerate(("with the judge", "by people alone")):
        needed = [pair[place] for pair in forecasts]
        true = truth[place]
        held = sum(e.lower <= true <= e.upper for e in needed)
        yield share(f"labels needed: bounds hold the number, {name}", setting, held, n, (0.93, 1))
        near = sum(true / 2 <= e.value <= 2 * true for e in needed)
        yield share(f"… the forecast is within a factor of 2, {name}", setting, near, n)
        below = sum(e.value < true for e in needed)
        yield share(f"… the forecast is too low, {name}", setting, below, n)
        logs = [math.log2(min(max(e.value / true, 1 / 64), 64)) for e in needed]
        yield mean(f"… log2 of the forecast over the number, {name}", setting, logs)


def _one(
    rng: np.random.Generator, judge: str, theta: Array, sizes: Sizes
) -> tuple[Estimate, Estimate]:
    board = anchor(*_world(rng, theta, judge, sizes), grades=not sizes[3])
    tests = separation(board.table, _order(board.table))
    return labels_needed(board, (0, 1), n_models=len(tests.groups[0]))


def _order(table: Array) -> list[int]:
    return [int(column) for column in np.argsort(-table.mean(axis=0), kind="stable")]


def _truth(
    scale: float,
    number: int,
    judge: str,
    theta: Array,
    sizes: Sizes,
    *,
    alone: bool,
    drawn: Callable[[np.random.Generator, Array, str, Sizes], Tables] = _world,
) -> float:
    """Number of labelled items at which the test of the first two models has a power of .8."""
    rng, n = np.random.default_rng((82, number, alone)), runs(60, scale)
    n_models, n_items, _, votes, _ = sizes
    # By people alone, a world has an item for each label, so there may be more than `n_items`.
    most = 4 * n_items if alone else n_items
    numbers = np.unique(np.geomspace(20, most, 8).astype(int))[:-1]
    numbers = numbers[:: 2 if in_tests(scale) else 1]
    found = []
    for n_labelled in numbers.tolist():
        larger: Sizes = n_models, max(n_items, n_labelled), n_labelled, votes, 0.0
        hits = 0
        for _ in range(n):
            world = drawn(rng, theta, judge, larger)
            table = world[0] if alone else anchor(*world, grades=not votes).table
            hits += (0, 1) in separation(table, range(n_models)).apart
        found.append(hits / n)
    return items_of_power(numbers, np.array(found))


def items_of_power(numbers: Array, powers: Array) -> float:
    """Number of items with a power of .8, by a probit line in √n fitted to measured powers."""
    from scipy.optimize import minimize

    roots, phi = np.sqrt(numbers), np.vectorize(NormalDist().cdf)

    def against(line: Array) -> float:
        fitted = np.clip(phi(line[0] + line[1] * roots), 1e-6, 1 - 1e-6)
        return -float(np.sum(powers * np.log(fitted) + (1 - powers) * np.log(1 - fitted)))

    start, slope = minimize(against, [-2.0, 0.2], method="Nelder-Mead").x
    return float(((NormalDist().inv_cdf(POWER) - start) / slope) ** 2)
