"""Contests within one benchmark (`csd --tiers`): why no interval over items is shown.

Tiers are made of the same answers that are played. The truth is a contest over 200,000 items whose
tiers are made in the same way, by the same models; tiers in which the sample has no item (or only
one, which has no error) are left out of both. Measured are the coverage that the intervals of
contests over many benchmarks would have here, and the distance of expected wins from those with
tiers by the items' true success rates.

Shown:
    what intervals over items would hold for tiers of difficulty (none is shown): `csd --tiers`
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.claims import Claim, in_tests, mean, runs, share
from benchmarks.claims.worlds import Array, Generator
from tiebreak.analysis.contests import drawn_scores
from tiebreak.rankers import csd, item_intervals, tiers
from tiebreak.tables.pool_scores import paired_errors

TENTHS = np.arange(9, 0, -1) / 10
CLOSE = 0.02
# Models, items, their mean difficulty, kind of models, runs.
CELLS = [
    (8, 500, 0, "equal", 60),
    (8, 500, -3, "equal", 60),
    (8, 500, 0, "of one ability", 60),
    (8, 500, -3, "of one ability", 60),
    (8, 500, -3, "who slip on easy items", 60),
    (20, 1000, -3, "who slip on easy items", 30),
]


def claims(scale: float) -> Iterator[Claim]:
    """Coverage of intervals that are not shown, and distance to tiers by true success rates."""
    for number, (n_models, n_items, mean_, kind, full) in enumerate(CELLS):
        if in_tests(scale) and number > 0:  # nothing is claimed here, only stated
            continue
        held, joint, apart, far = [], 0, 0, []
        n_runs = runs(full, scale, 4)
        for run in range(n_runs):
            rng = np.random.default_rng((18, number, run))
            world = World(rng, n_models, mean_, kind)
            items, _ = world.answers(rng, n_items)
            found = tiers(items, TENTHS.tolist())
            kept = np.flatnonzero(found.n_items > 1)
            errors = [paired_errors(items[found.tier == tier]) for tier in kept]
            drawn = drawn_scores(found.scores[:, kept], np.stack(errors, axis=1), seed=run)
            shown = item_intervals(drawn, seed=run)
            names = [found.names[tier] for tier in kept]
            wins, by_truth = world.wins(rng, names, run)
            if kind == "equal":
                wins = np.full(n_models, wins.mean())
            ahead = wins[:, None] - wins > CLOSE
            best, worst = 1 + ahead.sum(axis=0), n_models - ahead.sum(axis=1)
            held.append(np.mean((shown.lower - CLOSE <= wins) & (wins <= shown.upper + CLOSE)))
            joint += bool(np.all((shown.rank_lower <= worst) & (best <= shown.rank_upper)))
            apart += bool(np.any(shown.rank_lower > 1))
            far.append(np.abs(wins - by_truth).mean())
        items_are = "saturated" if mean_ else "of all difficulties"
        setting = f"{n_models} models {kind}, {n_items} items, {items_are}"
        yield mean("not shown: 95% interval of expected wins over items", setting, held)
        if kind == "equal":
            yield share("not shown: any told apart", setting, apart, n_runs)
        else:
            yield share("not shown: ranks over items, all at once", setting, joint, n_runs)
            yield mean("expected wins, distance to tiers by true success rates", setting, far)


class World:
    """Models with an ability and a slope; models with a low slope fail on easy items more often."""

    def __init__(self, rng: Generator, n_models: int, difficulty: float, kind: str) -> None:
        self.difficulty = difficulty
        spread = {"equal": 0.0, "of one ability": 0.4}.get(kind, 0.2)
        slopes = 0.5 if kind == "who slip on easy items" else 0.0
        self.ability: Array = spread * rng.standard_normal(n_models)
        self.slope: Array = np.exp(slopes * rng.standard_normal(n_models))

    def answers(self, rng: Generator, n: int) -> tuple[Array, Array]:
        """Draw answers to n items, 0 or 1, and their chances to be right, both of shape (n, M)."""
        hard = self.difficulty + 1.75 * rng.standard_normal((n, 1))
        own = 0.7 * rng.standard_normal((n, len(self.ability)))
        right = 1 / (1 + np.exp(-(self.ability - self.slope * hard + own)))
        return (rng.random(right.shape) < right).astype(np.float64), right

    def wins(self, rng: Generator, names: list[str], seed: int) -> tuple[Array, Array]:
        """Expected wins over 200,000 items, with tiers by answers and by true success rates."""
        answers, right = self.answers(rng, 200_000)
        both = []
        for rates in (answers, right):
            found = tiers(rates, TENTHS.tolist())
            scores = [
                answers[found.tier == found.names.index(name)].mean(axis=0)
                for name in names
                if name in found.names
            ]
            both.append(csd(np.stack(scores, axis=1), iterations=2000, seed=seed).expected_wins)
        return both[0], both[1]
