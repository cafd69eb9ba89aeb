"""Agreement of the four views of a peer review with people: intervals over items and per item.

Models review each other with an error as large as the spread of the answers, and people rank them
in the planted order. Each model adds to its own answer the number of standard deviations that the
setting names: with 4 it mostly puts itself first, so that SR ties all models in 29 to 60% of the
items. The agreement in a large population of items is the truth; a world's items are drawn from it.
"Apart" is the spread of the models' true means in standard deviations of a score.

Shown:
    agreement of the four views SR, PR, SIA and SFA with people: `align`, page
"""

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from benchmarks.claims import Claim, Range, in_tests, runs, share
from benchmarks.claims.worlds import Array, Generator, near_ties, panel, peer_panel
from tiebreak.analysis.alignment import Ratings, correlate, ratings
from tiebreak.analysis.peers.review import KEMENY
from tiebreak.rankers.intervals import Estimate, ItemDraws
from tiebreak.rankers.uncertainty import Resampling

NEAR, WELL = 0.06, 0.44
SD = math.sqrt(2)  # of a score: the sd of answers and that of errors are 1
HOLDS = (0.93, 0.97)
WIDER = (0.93, 1.0)
DRAWS = Resampling(draws=500)
ONCE = Resampling(draws=1)
POPULATION = 20_000


def claims(scale: float) -> Iterator[Claim]:
    """Coverage for SR, and the least coverage of PR, SIA and SFA, which hold about the same."""
    for n_models, apart, own in product((6, 8), (NEAR, WELL), (0.0, 4.0)):
        if n_models == 6 and in_tests(scale):
            continue
        rng = np.random.default_rng((60, n_models, round(100 * apart), round(own)))
        population = views(rng, SD * near_ties(n_models, apart), own, scale)
        for n_items in (20, 50) if in_tests(scale) else (20, 50, 200):
            setting = f"{n_models} models {apart} apart, own + {own:.0f} sd, {n_items} items"
            # For near-ties intervals over all items hold less, and the sheet says so: no claim.
            macro = WIDER if apart == WELL else None
            yield from held(rng, population, setting, n_items, runs(300, scale), macro)


def views(rng: Generator, theta: Array, own: float, scale: float) -> Sequence[Ratings]:
    """Draw a population of items, and return SR, PR, SIA and SFA in each."""
    n, n_items = len(theta), POPULATION // 10 if in_tests(scale) else POPULATION
    answers = theta + rng.standard_normal((n_items, n))
    review = peer_panel(panel(rng, answers, np.ones(n), own=own))
    found, _notes = ratings(review, range(n), [KEMENY])
    return [one for one in found if one.kind == "view"]


def held(
    rng: Generator,
    population: Sequence[Ratings],
    setting: str,
    n_items: int,
    n: int,
    macro: Range | None,
) -> Iterator[Claim]:
    """How often the intervals of `n` worlds hold the figures of the population."""
    size = len(population[0].ranks)
    truth = figures(population, ItemDraws(size, None, how=ONCE))
    hits = np.zeros(len(truth), dtype=int)
    for _ in range(n):
        rows = rng.integers(size, size=n_items)
        drawn = [Ratings(o.kind, o.name, o.ranks[rows], o.amounts[rows]) for o in population]
        found = figures(drawn, ItemDraws(n_items, None, how=DRAWS))
        hits += [
            one.lower - 1e-9 <= true.value <= one.upper + 1e-9
            for one, true in zip(found, truth, strict=True)
        ]
    names = {"macro Pearson": macro, "macro τ": None, "mean ρ per item": HOLDS}
    for (name, claimed), (own, *others) in zip(
        names.items(), hits.reshape(-1, len(names)).T.tolist(), strict=True
    ):
        figure = f"align: 95% interval of the {name}"
        yield share(f"{figure}, SR", setting, own, n, claimed)
        yield share(f"{figure}, least of PR, SIA, SFA", setting, min(others), n, claimed)


def figures(raters: Sequence[Ratings], draws: ItemDraws) -> list[Estimate]:
    """Macro Pearson, macro τ and mean ρ per item of each rater, one rater after the other."""
    people = np.arange(1.0, raters[0].ranks.shape[1] + 1)
    found = correlate(raters, people, draws)
    return [
        estimate
        for one in found
        for estimate in (one.pearson.macro, one.kendall.macro, one.pearson.mean)
    ]
