"""Whether verdicts are more than coin tosses; cycles.

A coin says nothing about models, contradicts itself in half of the matches asked in both orders,
and makes a cycle (A beats B, B beats C, C beats A) of a quarter of all triples.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tiebreak.rankers import mean_ranks
from tiebreak.rankers.intervals import Estimate, ItemDraws
from tiebreak.rankers.pairwise_tests import sign_flip_p
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.scorers.ballots import ItemBallots, Match

COIN_CYCLES: Final = 0.25


@dataclass(frozen=True, slots=True)
class Cycles:
    """Triples of answers to one item in which all three pairs met and none was even.

    `share` is the share of the `n_triples` that are cycles, with its interval over items; a coin
    makes ¼. `coin_p` is one-sided, for fewer than those of a coin; NaN without a triple.
    """

    share: Estimate
    n_triples: int
    coin_p: float


def cycles_of(items: Iterable[ItemBallots], *, how: Resampling = Resampling()) -> Cycles:
    """Count cycles among the matches of each item."""
    from scipy.stats import norm

    rows = [(item.item_id, *_triples(item.matches)) for item in items]
    table = np.array([own for _, *own in rows], dtype=np.float64).reshape(len(rows), 2)
    cyclic, triples = table.sum(axis=0)
    if not triples:
        nan = math.nan
        return Cycles(Estimate(nan, nan, nan, 0, "no three answers all met"), 0, nan)
    draws = ItemDraws(len(rows), [name for name, *_ in rows], how=how)
    [share] = draws.shares(table[:, :1], table[:, 1:], "no three answers all met")
    # Two triples of a coin's verdicts share a match at most, so that cycles are pairwise
    # independent: the variance of their number is that of a binomial one.
    spread = math.sqrt(triples * COIN_CYCLES * (1 - COIN_CYCLES))
    z = (cyclic + 0.5 - triples * COIN_CYCLES) / spread
    return Cycles(share, int(triples), float(norm.cdf(z)))


def coin_p(items: Sequence[ItemBallots], *others: float) -> float:
    """p-value of "verdicts are coin tosses", from all that may show that they are not.

    Evidence is that answers of some model win, that the better seed wins (the seeding is another
    question to the same judge), and `others`, p-values of flips and cycles. The smallest p-value
    counts, times their number (Bonferroni); NaN where there is none.
    """
    every = (_models_p(items), _seeds_p(items), *others)
    known = [p for p in every if not math.isnan(p)]
    return min(1.0, len(known) * min(known)) if known else math.nan


def _models_p(items: Iterable[ItemBallots]) -> float:
    """Whether some model's answers win or lose: smallest p-value, times the number of models.

    From matches a sign test of a model's first match in each item: in a knockout the number of
    later ones depends on results. From lists a sign-flip test of its distances from the middle.
    """
    from scipy.stats import binomtest

    won: dict[str, dict[str, float]] = defaultdict(dict)
    place: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for item in items:
        for match in item.matches:
            if match.result is not None:
                won[match.high].setdefault(item.item_id, 2 * match.result - 1)
                won[match.low].setdefault(item.item_id, 1 - 2 * match.result)
        for listing in item.listings:
            ranks = mean_ranks(listing.groups)
            for name, rank in ranks.items():
                place[name][item.item_id] += (len(ranks) + 1) / 2 - rank
    signs = [np.sign(list(own.values())) for own in won.values()]
    found = [
        float(binomtest(int(np.sum(own > 0)), int(np.sum(own != 0))).pvalue)
        for own in signs
        if own.any()
    ]
    found += [sign_flip_p(list(own.values())) for own in place.values()]
    return min(1.0, min(found) * len(found)) if found else math.nan


def _seeds_p(items: Iterable[ItemBallots]) -> float:
    """Whether the seed of the better tier wins more than half of the decided matches, one-sided."""
    from scipy.stats import binomtest

    better = [
        match.winner == min((match.high, match.low), key=item.tiering.tiers.__getitem__)
        for item in items
        if item.tiering is not None
        for match in item.matches
        if match.result not in (None, 0.5)
        and len({item.tiering.tiers.get(name) for name in (match.high, match.low)} - {None}) == 2
    ]
    if not better:
        return math.nan
    return float(binomtest(sum(better), len(better), alternative="greater").pvalue)


def _triples(matches: Iterable[Match]) -> tuple[float, float]:
    """Cycles and triples among the decided matches of an item; of a pair the first counts."""
    beats: dict[tuple[str, str], bool] = {}
    for match in matches:
        if match.result not in (None, 0.5) and (match.loser, match.winner) not in beats:
            beats[match.winner, match.loser] = True
    names = {name: number for number, name in enumerate(sorted({n for two in beats for n in two}))}
    won: FloatArray = np.zeros((len(names), len(names)))
    for winner, loser in beats:
        won[names[winner], names[loser]] = 1
    met = won + won.T
    return float(np.trace(won @ won @ won)) / 3, float(np.trace(met @ met @ met)) / 6
