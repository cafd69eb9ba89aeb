"""Boards of newcomers, of two logs read as one, and win rates against a baseline.

Only some pairs meet, in the order of the schedule (`rankers.matches.pair_points`). The truth is the
probability that the judge prefers a model, averaged over all opponents; against a baseline it is
that of the pair with the baseline.

Shown:
    scores and tests of a board of newcomers (two logs), win rates against a baseline: `rank`,
        page, card
"""

from collections.abc import Iterator
from itertools import product
from statistics import NormalDist
from unittest.mock import patch

import numpy as np

from benchmarks.claims import Claim, Range, mean, runs, share
from benchmarks.claims.boards import pairs_found
from benchmarks.claims.worlds import Array, Generator, near_ties
from tiebreak.rankers import pairwise_tests
from tiebreak.rankers.matches import Matches, pair_points
from tiebreak.rankers.pairwise_tests import separation
from tiebreak.rankers.uncertainty import Resampling, bootstrap_items
from tiebreak.scorers.schedule import Schedule

HELD: Range = (0.93, 0.97)
AT_MOST: Range = (0, 0.05)
MODELS = tuple("abcdefgh")
NEW = "i"
NOISE = 0.5
Meeting = tuple[int, str, str]
"""A match as (item, model, model)."""


def claims(scale: float) -> Iterator[Claim]:
    """Coverage of the models' intervals, and false and true differences."""
    cells = [*product((0.0, 0.2), (20, 50, 162))]
    for number, (sd, n_items) in enumerate(cells[:: 5 if scale < 0.3 else 1]):
        rng = np.random.default_rng([57, number])
        theta = near_ties(len(MODELS) + 1, sd) if sd else np.zeros(len(MODELS) + 1)
        world = f"{'equal models' if not sd else f'models of sd {sd}'}, {n_items} items"
        for kind in ("newcomer, 1 match an item", "newcomer, 2 matches an item", "baseline"):
            with patch.object(pairwise_tests, "_FLIPS", 199):
                yield from _held(rng, theta, n_items, kind, world, runs(400, scale))


def _held(
    rng: Generator, theta: Array, n_items: int, kind: str, world: str, n: int
) -> Iterator[Claim]:
    names = (*MODELS, NEW)
    setting = f"{kind}, {world}"
    against = 0 if kind == "baseline" else None
    truth = _truth(theta, against)
    held, false, power = [], 0, []
    for run in range(n):
        meetings = list(_meetings(names, n_items, kind, str(run)))
        cells = _cells(rng, theta, names, n_items, meetings, against)
        found = bootstrap_items(cells, how=Resampling(draws=400, seed=run))
        kept = [i for i in range(len(names)) if i != against]
        held.append(np.mean((found.lower <= truth)[kept] & (truth <= found.upper)[kept]))
        if not theta.any():
            false += any(pair.apart for pair in separation(cells, range(len(names))).pairs)
        elif against is None:
            power.append(pairs_found(cells, theta))
    yield mean("95% interval of a score", setting, held, HELD)
    if not theta.any():
        yield share("two equal models told apart", setting, false, n, AT_MOST)
    elif power:
        yield mean("power: pairs told apart", setting, power)


def _truth(theta: Array, against: int | None) -> Array:
    normal, sd = NormalDist(), (2 + NOISE**2) ** 0.5
    wins = np.array([[normal.cdf((a - b) / sd) for b in theta] for a in theta])
    n = len(theta)
    found: Array = (wins.sum(axis=1) - 0.5) / (n - 1) if against is None else wins[:, against]
    return found


def _meetings(names: tuple[str, ...], n_items: int, kind: str, seed: str) -> Iterator[Meeting]:
    everyone, others = Schedule(names, n_items, seed), Schedule(MODELS, n_items, seed)
    for item in range(n_items):
        if kind == "baseline":
            yield from ((item, *pair) for pair in everyone.against(names[0], item))
        else:
            matches = 2 if "2" in kind else 1
            yield from ((item, *pair) for pair in others.of(item)[0])
            yield from ((item, *pair) for pair in everyone.against(NEW, item)[:matches])


def _cells(
    rng: Generator,
    theta: Array,
    names: tuple[str, ...],
    n_items: int,
    meetings: list[Meeting],
    against: int | None,
) -> Array:
    column = {name: number for number, name in enumerate(names)}
    quality = theta + rng.standard_normal((n_items, len(names)))
    item = np.array([one for one, *_ in meetings])
    first = np.array([column[one] for _, one, _ in meetings])
    second = np.array([column[other] for _, _, other in meetings])
    gap = quality[item, first] - quality[item, second]
    won = (gap + NOISE * rng.standard_normal(len(item)) > 0).astype(np.float64)
    judged = Matches.of(first, second, won, item, len(names), n_items)
    present = np.ones((n_items, len(names)), dtype=np.bool_)
    found: Array = pair_points(judged, None, present, against=against)
    return found
