"""Intervals in a peer review: self-preference in places, and a reviewer's distance from the others.

Six models review each other's answers; the first adds one standard deviation to its own.

Shown:
    intervals of the differences of the four views, distance of a reviewer from the others:
        `peers`
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.claims import Claim, in_tests, runs, share
from benchmarks.claims.worlds import Array, Generator, panel
from tiebreak.rankers import Resampling, fair_gaps, leave_one_out, peer_views
from tiebreak.rankers.intervals import Estimate, ItemDraws
from tiebreak.reason import Reason

HOLDS = (0.93, 0.97)
DRAWS = Resampling(draws=500)
ONCE = Resampling(draws=1)
MODELS = 6
NAMES = ("PR − SR", "fair gap", "SFA − SIA", "distance from the others")
MANY = 10_000


def claims(scale: float) -> Iterator[Claim]:
    """Coverage of the intervals for the model that favours itself."""
    many = reviewed(np.random.default_rng(20), max(1000, round(MANY * scale)))
    truth = [one.value for one in figures(many, ONCE)]
    for n_items in (10, 30) if in_tests(scale) else (10, 30, 100):
        rng, n, hits = (
            np.random.default_rng((21, n_items)),
            runs(300, scale, least=30),
            [0] * len(NAMES),
        )
        for _ in range(n):
            for place, found in enumerate(figures(reviewed(rng, n_items), DRAWS)):
                hits[place] += found.lower <= truth[place] <= found.upper
        for name, held in zip(NAMES, hits, strict=True):
            yield share(
                f"peers: 95% interval of {name}", f"6 models, {n_items} items", held, n, HOLDS
            )


def reviewed(rng: Generator, n_items: int) -> Array:
    """Draw ranks of equally good models, shape (items, reviewers, models)."""
    answers = rng.standard_normal((n_items, MODELS))
    ranks = panel(rng, answers, np.ones(MODELS), own=0.0)
    # Only the first model favours itself: its ballots are drawn anew with the bonus.
    biased = panel(rng, answers, np.ones(MODELS), own=1.0)
    ranks[:, 0] = biased[:, 0]
    return ranks


def figures(ranks: Array, how: Resampling) -> tuple[Estimate, ...]:
    """Estimates for the first model, by Borda, in the order of `NAMES`."""
    own = list(range(MODELS))
    views = peer_views(ranks, own, method="borda")
    tables = (views.gaps, fair_gaps(ranks, own), views.self_free - views.inclusive)
    columns = np.stack([table[:, 0] for table in tables], axis=1)
    found = ItemDraws(len(ranks), None, how=how).means(columns, Reason("undefined"))
    return *found, leave_one_out(ranks, method="borda", how=how).distances[0]
