"""Merge rankings by any method of `AGGREGATORS`: one profile, or each of many items."""

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.rankers.aggregators import AGGREGATORS, Aggregator
from tiebreak.rankers.consensus import Consensus, comparing, items_table
from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.kemeny.batch import kemeny_young_batch
from tiebreak.rankers.profile import FloatArray, Profile, as_profile, within_ballots


def aggregate(profile: Profile | ArrayLike, method: str = "kemeny_young") -> Consensus:
    """Merge the ballots of a profile by a method of `AGGREGATORS`, with its default settings.

    Kemeny–Young and Kendall give orders without ties. If several orders are optimal, the result is
    the lexicographically smallest in columns, so that earlier columns come first; `kemeny_young`
    also returns the other optimal orders.

    Args:
        profile: a Profile, or ranks of shape (ballots, N), lower is better, NaN = not ranked.
        method: a name in `AGGREGATORS`.

    Raises:
        RankingError: no such method; or the method cannot read these ballots.
        UnprovenOrderError: no exact answer could be proven (Kemeny–Young, Kendall, Dodgson).
    """
    return _aggregator(method)(as_profile(profile))


def aggregate_items(ranks: ArrayLike, method: str = "kemeny_young") -> FloatArray:
    """Consensus ranks of every item from the ballots on that item (Peer review, §3.3).

    Their mean over items, `mean_rank`, is the macro-level ranking (§4.1). A ballot that ranks fewer
    than two candidates compares nothing and is left out.

    Kemeny–Young and Kendall often have several optimal orders, and very many if ballots are few or
    short. To choose among them, columns are sorted by the Borda count, the net number of other
    candidates that the ballots put below a candidate, and the lexicographically smallest optimal
    order is taken. Sorting candidates with equal counts by column would favour earlier columns, so
    the ranks are means over two such orders: one sorts equal counts by ascending column, the other
    by descending column. A unique optimum keeps its ranks. (On three planted panels of 30 models
    that each rank 3 others, 200 items, ρ with the truth was 0.88 by this order, 0.69 by the mean of
    the first optimal order from either end of the columns, and 0.89 by average ranks.)

    Args:
        ranks: shape (items, ballots, N), lower is better, equal = tied, NaN = not ranked. A
            reviewer who failed on an item has a row of NaN, an absent answer a column of NaN.
        method: a name in `AGGREGATORS`.

    Returns:
        Shape (items, N), 1 = best. NaN if no ballot of the item compares the candidate with another
        one, or if the method can read none of the item's ballots (Kendall reads only ballots that
        rank all candidates of the item).

    Raises:
        RankingError: `ranks` is not three-dimensional, or has no ballots or no candidates; a rank
            is infinite; no such method.
        UnprovenOrderError: no exact answer could be proven (Kemeny–Young, Kendall, Dodgson).
    """
    aggregator = _aggregator(method)
    table = comparing(items_table(ranks))
    if aggregator.complete_only:
        ranked = ~np.isnan(table)
        complete = np.all(ranked | ~ranked.any(axis=1, keepdims=True), axis=2, keepdims=True)
        table = np.where(complete, table, np.nan)
    if aggregator.optimal_order:
        return _kemeny_items(table)
    consensus: FloatArray = np.full((len(table), table.shape[2]), np.nan)
    for ballots, ranked in zip(table, consensus, strict=True):
        present = ~np.isnan(ballots).all(axis=0)
        if present.any():
            ranked[present] = aggregator(Profile.from_ranks(ballots[:, present])).ranks
    return consensus


def _aggregator(method: str) -> Aggregator:
    if method not in AGGREGATORS:
        raise RankingError(f"no method {method!r}; there are {', '.join(AGGREGATORS)}")
    return AGGREGATORS[method]


def _kemeny_items(table: FloatArray) -> FloatArray:
    n = np.sum(~np.isnan(table), axis=2, keepdims=True)
    # The Borda count: candidates that ballots put below a candidate minus those put above it.
    count: FloatArray = np.nansum(n + 1 - 2 * within_ballots(table), axis=1)
    by_column = np.broadcast_to(np.arange(count.shape[1]), count.shape)
    orders = [np.lexsort((ties, -count)) for ties in (by_column, -by_column)]
    both = np.concatenate([np.take_along_axis(table, o[:, None, :], axis=2) for o in orders])
    halves = np.split(kemeny_young_batch(both).ranks, 2)
    ranks = np.zeros(count.shape)
    for order, half in zip(orders, halves, strict=True):
        ranks += np.take_along_axis(half, np.argsort(order, axis=1), axis=1) / 2
    return ranks
