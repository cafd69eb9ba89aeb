"""Other rules of placement: how often they put another model first, and whether it is the better.

A leaderboard of brackets names the models that other suitable rules would put first, if these are
not its own first model. The verdict's sentence says no more than that, so nothing is claimed about
near-ties; if one model is clearly the best, the sentence should hardly ever appear.

Shown:
    whom other rules of placement put first: `rank` (verdict), page, card, JSON
"""

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.claims import Claim, Range, in_tests, mean, runs, share
from benchmarks.claims.worlds import FAIR, NOISY, Array, judged, near_ties, ranking_log
from tiebreak.analysis.item_table import ItemTable
from tiebreak.analysis.leaderboard import first_by_rule
from tiebreak.analysis.standing import best_first
from tiebreak.demo.lab.planted import Traits
from tiebreak.rankers import competition_ranks
from tiebreak.rankers.pairwise_tests import separation
from tiebreak.scorers.ballots import ItemBallots

RARE: Range = (0, 0.05)
# Words for the models, their θ, items, judge, share of common answers, claim.
CELLS: list[tuple[str, Array, int, Traits, float, Range | None]] = [
    ("8 models 0.1 apart", near_ties(8), 20, FAIR, 0.0, None),
    ("8 models 0.1 apart", near_ties(8), 162, FAIR, 0.0, None),
    ("8 models 0.1 apart", near_ties(8), 162, NOISY, 0.0, None),
    ("8 models 0.1 apart", near_ties(8), 162, FAIR, 0.5, None),
    ("8 models 0.3 apart", near_ties(8, 0.3), 162, FAIR, 0.0, None),
    ("6 models 0.1 apart", near_ties(6), 50, FAIR, 0.0, None),
    ("7 equal models, one 1 ahead", np.eye(8)[0], 20, FAIR, 0.0, RARE),
    ("7 equal models, one 0.5 ahead", np.eye(8)[0] / 2, 100, FAIR, 0.0, RARE),
    ("7 equal models, one 0.5 ahead", np.eye(8)[0] / 2, 162, NOISY, 0.0, RARE),
    ("7 equal models, one 1 ahead", np.eye(8)[0], 50, FAIR, 0.0, RARE),
]


def claims(scale: float) -> Iterator[Claim]:
    """Share of boards that name another first model; then whether that is the better one."""
    for number, (models, theta, n_items, traits, ties, claimed) in enumerate(CELLS):
        if in_tests(scale) and number in (1, 2, 3, 4, 8):
            continue
        rng, n_runs = np.random.default_rng((21, number)), runs(200, scale)
        said, better, clear = 0, [], []
        for _ in range(n_runs):
            truth = rng.permutation(theta)
            items = judged(rng, truth, n_items, traits, swap="never", ties=ties)
            first, ahead = _first(items)
            named = items[0].models
            others = [
                named.index(leads[0])
                for leads in first_by_rule(items).values()
                if named[first] not in leads
            ]
            said += bool(others)
            clear += [bool(others)] * ahead
            if others and truth[others[0]] != truth[first]:
                better.append(float(truth[others[0]] > truth[first]))
        noise = "a noisy judge" if traits is NOISY else "a fair judge"
        setting = f"{models}, {n_items} items, {ties:.0%} ties, {noise}"
        yield share("rank: another rule names another first model", setting, said, n_runs, claimed)
        if len(better) > 9:
            yield mean("… and that model is the better of the two", setting, better)
        if len(clear) > 9:
            figure = "… where the first is told apart from all others"
            yield share(figure, setting, sum(clear), len(clear), RARE)


def _first(items: Sequence[ItemBallots]) -> tuple[int, bool]:
    """Column of the board's first model, and whether it is told apart from all others."""
    table = ItemTable.of(ranking_log(items).ranked)
    ranks = competition_ranks(*(np.nanmean(one, axis=0) for one in (table.borda, table.margins)))
    order = best_first(ranks, table.models)
    found = separation(table.borda, order, items=table.items)
    return order[0], all(pair.apart for pair in found.pairs if pair.above == order[0])
