"""The correctness guard: judge against native score, boards under the guard, planted canaries.

Shown:
    how often judge and native score disagree; scores under the correctness guard; how often
        planted answers persuade the judge, what attacks gain: `rank`, `canary`, page, JSON
"""

import math
from collections.abc import Iterator
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from benchmarks.claims import Claim, Range, in_tests, mean, runs, share
from benchmarks.claims.round_robin import scheduled
from benchmarks.claims.worlds import Array, Generator, near_ties, qualities
from tiebreak.analysis.judge.canaries import Pair, counted
from tiebreak.analysis.judge.figures import correctness_of
from tiebreak.rankers import Resampling, bootstrap_items
from tiebreak.ranking_logs.log import placement_of
from tiebreak.scorers.ballots import ItemBallots, Match
from tiebreak.scorers.placement import board_scores
from tiebreak.scorers.schedule import n_rounds

HOLDS: Range = (0.93, 1.0)
DRAWS = Resampling(draws=500)
MODELS = 6
# Canaries, items, strength of a weak answer and effect of an attack, both in probits.
PLANTED = [
    *((n, n_items, -1.5, 0.0) for n, n_items in ((20, 100), (40, 10), (57, 200))),
    (40, 100, 0.0, 0.0),
    *((n, n_items, -1.5, 1.0) for n, n_items in ((20, 100), (40, 10), (57, 200))),
]
# Items, rounds of a round robin (0: all), sd of the judge's error, share of answers that pass.
CELLS = [
    (20, 0, 0.5, 0.9),
    (20, 1, 1.5, 0.5),
    (50, 0, 1.5, 0.9),
    (50, 1, 0.5, 0.9),
    (100, 2, 1.5, 0.9),
    (162, 0, 0.5, 0.5),
]


def claims(scale: float) -> Iterator[Claim]:
    """Intervals of the share of disagreement, and scores of stratified items; then canaries."""
    theta = near_ties(MODELS, 0.2)
    for number, cell in enumerate(CELLS):
        if in_tests(scale) and number != 3:
            continue
        n_items, rounds, noise, rate = cell
        met = {0: "all pairs", 1: "1 round"}.get(rounds, f"{rounds} rounds")
        error = f"error {noise:g}, {rate:.0%} passed"
        setting = f"{MODELS} models, {n_items} items, {met}, {error}"
        truth, true_scores = _truth(theta, noise, rate)
        rng, held, inside, over = np.random.default_rng((94, number)), 0, [], []
        total = runs(400, scale)
        for _ in range(total):
            items = _items(rng, theta, n_items, rounds, noise, rate)
            found = correctness_of(items, how=DRAWS).share
            held += bool(found.lower <= truth <= found.upper)
            scores = board_scores(items, [placement_of(one) for one in items], items[0].models)
            board = bootstrap_items(scores, how=DRAWS)
            inside.append(np.mean((board.lower <= true_scores) & (true_scores <= board.upper)))
            over.append(np.mean((board.score - true_scores)[: MODELS // 2]))
        figure = "rank: judge against native score"
        yield share(f"{figure}, 95% interval", setting, held, total, HOLDS)
        figure = "rank: scores of stratified items"
        yield mean(f"{figure}, 95% interval", setting, inside, (0.93, 0.97))
        yield mean(f"{figure}, bias of the better half", setting, over, (-0.002, 0.002))
    yield from _canaries(scale)


def _canaries(scale: float) -> Iterator[Claim]:
    """Intervals of shares and gains, and how often a judge is doubted, with and without effect.

    The rate at which a weak answer wins differs between items; an attack adds to it.
    """
    for number, (n, n_items, base, added) in enumerate(PLANTED):
        if in_tests(scale) and number % 3:
            continue
        what = {-1.5: "fair judge", 0.0: "coin"}[base]
        setting = f"{n} canaries on {n_items} items, {what}, attack {added:g}"
        rng, total = np.random.default_rng((96, number)), runs(1000, scale)
        plain, attacked = _rates(np.random.default_rng(97).standard_normal(100_000), base, added)
        share_truth, gain_truth = (
            float((attacked * (1 - plain)).mean()),
            float((attacked - plain).mean()),
        )
        shares = gains = alarms = 0
        for _ in range(total):
            items = np.arange(n) % n_items
            rates = _rates(rng.standard_normal(n_items)[items], base, added)
            without, with_it = (rng.random(n) < rate for rate in rates)
            pairs = [
                Pair("x", str(item), "x", bool(won), bool(lost))
                for item, won, lost in zip(items, with_it, without, strict=True)
            ]
            found = counted(pairs, how=DRAWS)
            shares += bool(found.share.lower <= share_truth <= found.share.upper)
            gains += bool(found.gain.lower <= gain_truth <= found.gain.upper)
            alarms += found.bound
        yield share("canaries: persuaded, 95% interval", setting, shares, total, HOLDS)
        yield share("canaries: gain of attacks, 95% interval", setting, gains, total, HOLDS)
        if added:
            yield share("canaries: judge is doubted", setting, alarms, total)
        else:
            yield share("canaries: false alarm", setting, alarms, total, (0, 0.01))


def _rates(effect: Array, base: float, added: float) -> tuple[Array, Array]:
    """Rates at which the weak answer wins without and with the attack, by the item's effect."""
    return ndtr(base + effect / 2), ndtr(base + effect / 2 + added)


def _answers(
    rng: Generator, theta: Array, n_items: int, noise: float, rate: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Draw whether answers passed, shape (items, N), and preferences of a pair, (items, N, N).

    Both depend on the quality of the answer.
    """
    n = len(theta)
    answers = qualities(rng, theta, n_items)
    difficulty = rng.standard_normal((n_items, 1))
    passed = answers - difficulty > NormalDist(0, math.sqrt(2)).inv_cdf(1 - rate)
    error = np.triu(rng.standard_normal((n_items, n, n)), 1)
    gaps = answers[:, :, None] - answers[:, None, :] + noise * (error - error.swapaxes(1, 2))
    return passed, gaps > 0


def _truth(theta: Array, noise: float, rate: float) -> tuple[float, Array]:
    """Share of wrong preferences and guarded scores, over 100,000 items and all pairs."""
    rng = np.random.default_rng(95)
    passed, preferred = _answers(rng, theta, 100_000, noise, rate)
    right = passed[:, :, None] & ~passed[:, None, :]
    wrong = right & ~preferred
    won = np.where(right, True, np.where(right.swapaxes(1, 2), False, preferred))
    won[:, np.arange(len(theta)), np.arange(len(theta))] = False
    return float(wrong.sum() / right.sum()), won.mean(axis=0).sum(axis=1) / (len(theta) - 1)


def _items(
    rng: Generator, theta: Array, n_items: int, rounds: int, noise: float, rate: float
) -> list[ItemBallots]:
    """Draw ballots of a round robin under the guard; `rounds` 0 plays all."""
    n = len(theta)
    names = [f"m{i}" for i in range(n)]
    passed, preferred = _answers(rng, theta, n_items, noise, rate)
    met: list[list[tuple[str, str]]] = [[] for _ in range(n_items)]
    matches: list[list[Match]] = [[] for _ in range(n_items)]
    meetings = scheduled(n, n_items, rounds or n_rounds(n), int(rng.integers(16)))
    for item, one, other in zip(*(part.tolist() for part in meetings), strict=True):
        high, low = names[one], names[other]
        winner = high if preferred[item, one, other] else low
        met[item].append((high, low))
        matches[item].append(
            Match(round=1, slot=0, high=high, low=low, winner=winner, decided_by="principles")
        )
    return [
        ItemBallots(
            protocol="round_robin",
            benchmark="b",
            item_id=str(item),
            input_hash="",
            task_type="math_reasoning",
            rubric="math_reasoning",
            seed=0,
            models=tuple(names),
            native=dict(zip(names, map(float, own), strict=True)),
            passed=dict(zip(names, own, strict=True)),
            stratified=True,
            groups=tuple((name,) for name in names),
            placed_by="points",
            matches=tuple(matches[item]),
            scheduled=tuple(met[item]),
            complete=True,
        )
        for item, own in enumerate(passed.tolist())
    ]
