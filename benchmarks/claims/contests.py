"""Contests over many benchmarks (CSD): intervals over items, the simulation's error, labels.

A world has true scores of M models on K benchmarks, and scores that are measured on items. Contests
with the true scores give the true expected wins and ranks; two true ranks differ if the expected
wins differ by more than the simulation's error, 0.02 wins. The intervals assume a normal population
of models. Nearly tied models beside far weaker ones are none, so nothing is claimed about them.

Shown:
    expected wins, their ranks, failure sensitivity and its labels: `csd`, page
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.claims import Claim, mean, runs, share
from benchmarks.claims.worlds import Array, Generator
from tests.rankers.contests import exact
from tests.rankers.contests.cases import Case
from tiebreak.analysis.contests import drawn_scores
from tiebreak.rankers import csd, failure_sensitivity, item_intervals

HOLDS = (0.92, 1)  # the intervals are wider than necessary; their width is stated
CLOSE = 0.02
# Models, benchmarks, items per benchmark, kind of models, runs.
CELLS = [
    (5, 4, 50, "nearly tied", 160),
    (5, 4, 1000, "spread", 160),
    (8, 10, 50, "nearly tied", 100),
    (8, 10, 200, "spread", 100),
    (8, 10, 1000, "nearly tied, some weak", 100),
    (8, 23, 200, "spread", 50),
    (30, 10, 200, "nearly tied", 20),
    (30, 10, 1000, "spread", 20),
]
EXACT = [Case(5, 3, 3, 0), Case(6, 4, 100, 1), Case(4, 4, 2, (1, 0, 1, 0))]


def claims(scale: float) -> Iterator[Claim]:
    """Intervals over items, errors of the simulation, and labels."""
    for number, (n_models, n_rounds, n_items, kind, full) in enumerate(CELLS):
        n_runs = round(full * scale)
        if n_runs < 6:  # large contests take a second each: not in the tests
            continue
        yield from _over_items(number, n_models, n_rounds, n_items, kind, n_runs)
    yield from _equal(scale)
    yield from _simulation(scale)
    yield from _labels(scale)


def _over_items(
    number: int, n_models: int, n_rounds: int, n_items: int, kind: str, n_runs: int
) -> Iterator[Claim]:
    held, joint, width, wins_width = [], [], [], []
    power: list[float] = []
    for run in range(n_runs):
        rng = np.random.default_rng((16, number, run))
        error = np.sqrt(0.13 / n_items) * rng.uniform(0.7, 1.3, n_rounds)
        errors = np.broadcast_to(error, (n_models, n_rounds))
        truth = true_scores(rng, n_models, kind, errors)
        scores = truth + errors * rng.standard_normal(truth.shape)
        found = item_intervals(drawn_scores(scores, errors, seed=run), seed=run)
        wins = csd(truth, iterations=3000, seed=run).expected_wins
        inside = (found.lower - CLOSE <= wins) & (wins <= found.upper + CLOSE)
        ahead = wins[:, None] - wins > CLOSE
        best, worst = 1 + ahead.sum(axis=0), n_models - ahead.sum(axis=1)
        held.append(inside.mean())
        joint.append(np.all((found.rank_lower <= worst) & (best <= found.rank_upper)))
        told = found.rank_upper[:, None] < found.rank_lower
        power.append(float(np.mean(told[ahead])) if ahead.any() else np.nan)
        wins_width.append(np.mean(found.upper - found.lower))
        width.append(np.mean(found.rank_upper - found.rank_lower))
    setting = f"{n_models} models × {n_rounds} benchmarks, {kind}, {n_items} items each"
    claimed = None if "weak" in kind else HOLDS
    yield mean("csd: 95% interval of expected wins over items", setting, held, claimed)
    yield share(
        "csd: ranks over items, all at once", setting, int(np.sum(joint)), n_runs, (0.95, 1)
    )
    yield mean("csd: power: models in order told apart by their ranks", setting, power)
    yield mean("csd: width of the intervals, in wins", setting, wins_width)
    yield mean("csd: width of the ranks over items", setting, width)


def _equal(scale: float) -> Iterator[Claim]:
    """Share of runs in which any of equal models is told apart from another."""
    for n_models, n_rounds, full in ((5, 4, 200), (8, 23, 100), (30, 10, 40)):
        told, n_runs = 0, runs(full, scale, 5)
        for run in range(n_runs):
            rng = np.random.default_rng((18, n_models, run))
            errors = np.full((n_models, n_rounds), 0.025)
            scores = 0.7 + errors * rng.standard_normal(errors.shape)
            found = item_intervals(drawn_scores(scores, errors, seed=run), seed=run)
            told += bool(np.any(found.rank_lower > 1))
        setting = f"{n_models} equal models × {n_rounds} benchmarks, 200 items each"
        yield share("csd: any ranks over items apart", setting, told, n_runs, (0, 0.05))


def true_scores(rng: Generator, n_models: int, kind: str, errors: Array) -> Array:
    """Draw true scores of models with a common ability and one for each benchmark, shape (M, K)."""
    common, own = rng.standard_normal((n_models, 1)), rng.standard_normal(errors.shape)
    level = rng.uniform(0.5, 0.9, errors.shape[1])
    if kind == "spread":
        return np.asarray(level + 0.04 * common + 0.03 * own)
    scores: Array = level + 0.5 * errors.mean() * (common + own)
    if kind == "nearly tied":
        return scores
    weak = rng.permutation(n_models)[:, None] < n_models // 3
    return np.asarray(scores - weak * rng.uniform(0.1, 0.3, (n_models, 1)))


def _simulation(scale: float) -> Iterator[Claim]:
    """Coverage of the Monte Carlo error in contests whose expectation is known exactly."""
    for case in EXACT:
        truth = np.array([float(v) for v in exact.expected_wins(case.wins, case.each)])
        held, ranks = [], 0
        n_runs = runs(300, scale, 10)
        for seed in range(n_runs):
            found = csd(case.scores, None, case.eliminate, iterations=1000, seed=seed)
            off = np.abs(found.expected_wins - truth)
            held.append(np.mean(off <= 1.96 * found.standard_error + 1e-6))
            ahead = truth[:, None] - truth > 1e-9
            best, worst = 1 + ahead.sum(axis=0), len(truth) - ahead.sum(axis=1)
            ranks += bool(np.all((found.rank_lower <= worst) & (best <= found.rank_upper)))
        setting = f"{case.models} models × {case.rounds} rounds, T = {case.eliminate}, enumerated"
        yield mean("csd: expected wins ± 1.96 (MC)", setting, held, (0.93, 1))
        yield share("csd: ranks (MC), all at once", setting, ranks, n_runs, (0.95, 1))


def _labels(scale: float) -> Iterator[Claim]:
    """False “specialist” labels: of a model that wins everything, and of equal orders on all."""
    for n_models, n_rounds, most in ((5, 4, 1), (5, 4, 2), (8, 10, 2), (30, 4, 4)):
        n_runs, winner, alike = runs(100, scale, 5), 0, 0
        for seed in range(n_runs):
            rng = np.random.default_rng((17, n_models, most, seed))
            scores = rng.choice([0, 1, 3]) * rng.standard_normal((n_models, 1))
            every = np.sort(scores + rng.standard_normal((n_models, 1)), axis=0)[::-1]
            scores = scores + rng.standard_normal((n_models, n_rounds))
            scores[0] = 99
            steps = (0, most)
            found = failure_sensitivity(scores, None, steps, iterations=500, seed=seed)
            winner += found.labels[0] == "specialist"
            same = np.repeat(every, n_rounds, axis=1)
            found = failure_sensitivity(same, None, steps, iterations=500, seed=seed)
            alike += "specialist" in found.labels
        setting = f"{n_models} models × {n_rounds} rounds, T = 0, {most}"
        yield share("csd: who wins everything is “specialist”", setting, winner, n_runs, (0, 0.01))
        yield share("csd: any is, in one order on all", setting, alike, n_runs, (0, 0.05))
