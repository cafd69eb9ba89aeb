"""Intervals of a board's Borda scores, of scores as protocols give them, and `first_share`.

Shown:
    interval of the Borda score, of the score on its protocol's own scale, of mean ranks in
        `peers`, of published scores: `rank`, `compare`, `peers`, page, card, Every Eval Ever
    `first_share`: JSON, CSV
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.claims import Claim, in_tests, mean, runs, share
from benchmarks.claims.worlds import board, near_ties, true_borda
from tiebreak.analysis.item_table import ItemTable, protocol_scores
from tiebreak.demo.lab.planted import Traits, World
from tiebreak.demo.lab.simulate import play
from tiebreak.rankers import Resampling, bootstrap_items
from tiebreak.ranking_logs.log import RankedItem

HOLDS = (0.93, 0.97)
DRAWS = Resampling(draws=500)
# Models, items, share of ties, and the claim. If fewer than ten items tell models apart, the board
# itself says that its intervals are too narrow.
CELLS = [
    (2, 5, 0.0, None),
    (2, 20, 0.0, HOLDS),
    (2, 100, 0.0, HOLDS),
    (2, 100, 0.8, HOLDS),
    (8, 5, 0.0, None),
    (8, 20, 0.0, HOLDS),
    (8, 20, 0.8, None),
    (8, 100, 0.8, HOLDS),
    (8, 1000, 0.0, HOLDS),
    (8, 1000, 0.8, HOLDS),
    (30, 5, 0.0, None),
    (30, 20, 0.0, HOLDS),
    (30, 20, 0.8, None),
    (30, 100, 0.0, HOLDS),
    (30, 100, 0.8, HOLDS),
]


def claims(scale: float) -> Iterator[Claim]:
    """Coverage of the interval of a score, and how often a first place looks certain."""
    for number, (n_models, n_items, ties, held) in enumerate(CELLS):
        if n_items >= 1000 and in_tests(scale):
            continue
        theta = near_ties(n_models)
        truth = true_borda(theta, ties=ties)
        rng, inside = np.random.default_rng((11, number)), []
        for _ in range(runs(400, scale)):
            found = bootstrap_items(board(rng, theta, n_items, ties=ties), how=DRAWS)
            inside.append(np.mean((found.lower <= truth) & (truth <= found.upper)))
        setting = f"{n_models} models 0.1 apart, {n_items:,} items, {ties:.0%} ties"
        yield mean("rank: 95% interval of a Borda score", setting, inside, held)
    for number, (n_items, held) in enumerate([(20, None), (100, None), (1000, HOLDS)]):
        if n_items >= 1000 and in_tests(scale):
            continue
        theta, alike = near_ties(8), 0.8
        truth = (1 - alike) * true_borda(theta) + alike / 2
        rng, inside = np.random.default_rng((13, number)), []
        for _ in range(runs(400, scale)):
            apart = rng.random((n_items, 1)) >= alike
            found = bootstrap_items(np.where(apart, board(rng, theta, n_items), 0.5), how=DRAWS)
            inside.append(np.mean((found.lower <= truth) & (truth <= found.upper)))
        setting = f"8 models 0.1 apart, {n_items:,} items, 80% of them tie all"
        yield mean("rank: 95% interval of a Borda score", setting, inside, held)
    yield from _own_scales(scale)
    for number, (n_models, n_items) in enumerate([(2, 20), (2, 100), (8, 20), (8, 100)]):
        rng, n = np.random.default_rng((12, number)), runs(400, scale)
        sure = 0
        for _ in range(n):
            found = bootstrap_items(board(rng, np.zeros(n_models), n_items), how=DRAWS)
            sure += bool(found.first_share.max() >= 0.95)
        setting = f"{n_models} equal models, {n_items} items"
        yield share("JSON: first_share of 95% or more, no probability", setting, sure, n)


def _own_scales(scale: float) -> Iterator[Claim]:
    """Coverage of the intervals of protocols' own scores: of a bracket, of all pairs, of grades.

    The truth is the mean of 2,000 planted items, from which the items of boards are drawn.
    """
    theta, traits = tuple(near_ties(8, 0.2).tolist()), Traits(noise=0.5, resolution=0.5)
    for number, label in enumerate(("seal", "full_pairwise", "pointwise")):
        run = play((World(theta, traits), 300 if in_tests(scale) else 2000, 14, 0, label, "never"))
        ranked = [RankedItem(*one) for one in run.ranked if one is not None]
        all_items = protocol_scores(ItemTable.of(ranked), ranked)
        truth = all_items.mean(axis=0)
        for n_items in (20, 100):
            rng, inside = np.random.default_rng((14, number, n_items)), []
            for _ in range(runs(400, scale)):
                drawn = rng.integers(len(all_items), size=n_items)
                found = bootstrap_items(all_items[drawn], how=DRAWS)
                inside.append(np.mean((found.lower <= truth) & (truth <= found.upper)))
            setting = f"{label}, 8 models 0.2 apart, {n_items} items, even within 0.5"
            yield mean("compare: 95% interval of a protocol's score", setting, inside, HOLDS)
