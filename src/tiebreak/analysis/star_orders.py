"""Which way of ranking keeps its order when questions are fewer (LLMEval-Fair, figure 5).

All ways get the same draws of questions and are held against their own order on all of them:

    mean stars       the score of eq. 1; relative scores (eq. 2) have the same order
    win rate         of each two answers to one question the one with more stars wins, ½ for a tie
    Bradley–Terry    fitted to the same matches
    Elo              the same matches in one random order, as leaderboards play them (appendix D)

A draw is a part of the whole, so that every curve reaches 1 (Elo's but for the order of matches):
the curves compare ways of ranking, and say nothing of how right an order is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.star_table import StarTable
from tiebreak.analysis.stars import scored
from tiebreak.rankers.agreement import spearman_many
from tiebreak.rankers.matches import Matches
from tiebreak.rankers.profile import FloatArray, ratio
from tiebreak.rankers.stability import mean_statistic
from tiebreak.rankers.strength import bradley_terry_statistic, elo_statistic
from tiebreak.rankers.uncertainty import Statistic, item_numbers

SHARES: Final = (0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8)
_BAND: Final = (0.05, 0.95)


@dataclass(frozen=True, slots=True)
class OrderKept:
    """ρ of one way of ranking with its own order on all questions, over draws of one size.

    `lower` and `upper` hold the middle 90% of the draws: a spread, no interval of the mean. `error`
    is the mean's own Monte Carlo error. NaN where ρ is defined in no draw; `undefined` counts those
    in which it is not.
    """

    n_clusters: int
    mean: float
    lower: float
    upper: float
    error: float
    undefined: int


@dataclass(frozen=True, slots=True)
class OrderCurve:
    """One way of ranking: a point for each size of draws."""

    method: str
    points: tuple[OrderKept, ...]


@dataclass(frozen=True, slots=True)
class StarOrders:
    """Curves of one benchmark; questions made of one another count as one of `n_clusters`."""

    benchmark: str
    n_models: int
    n_clusters: int
    curves: tuple[OrderCurve, ...]
    n_draws: int
    seed: int


def star_orders(
    benchmark: str, table: StarTable, *, n_draws: int = 30, seed: int = 0
) -> StarOrders:
    """Curves of all ways of ranking, by the same draws without replacement.

    Raises:
        AnalysisError: fewer than three models, or no two of them answered one question.
        MissingPackageError: evalica is not installed.
    """
    n_clusters, _ = item_numbers(table.clusters, len(table.clusters))
    n_models = len(table.models)
    if n_models < 3:
        raise AnalysisError(f"{benchmark}: orders are compared of three models or more")
    ways = _ways(benchmark, table, seed)
    sizes = sorted({max(2, round(share * n_clusters)) for share in SHARES})
    sizes = [size for size in sizes if size < n_clusters]
    whole = {way: statistic(np.ones((1, n_clusters)))[0] for way, statistic in ways.items()}
    points: dict[str, list[OrderKept]] = {way: [] for way in ways}
    for size in sizes:
        counts = np.zeros((n_draws, n_clusters))
        for number, row in enumerate(counts):
            row[np.random.default_rng(seed + number).permutation(n_clusters)[:size]] = 1
        for way, statistic in ways.items():
            points[way].append(_kept(spearman_many(statistic(counts), whole[way]), size))
    curves = tuple(OrderCurve(way, tuple(own)) for way, own in points.items())
    return StarOrders(benchmark, n_models, n_clusters, curves, n_draws, seed)


def matches_of(table: StarTable) -> Matches | None:
    """Every two answers to one question as a match; None where no question was asked of two."""
    n_clusters, cluster = item_numbers(table.clusters, len(table.clusters))
    columns: list[FloatArray] = []
    for one, other in combinations(range(len(table.models)), 2):
        gap = table.scores[:, one] - table.scores[:, other]
        rows = np.flatnonzero(~np.isnan(gap))
        pair = np.tile((float(one), float(other)), (len(rows), 1))
        columns.append(np.column_stack([pair, (np.sign(gap[rows]) + 1) / 2, cluster[rows]]))
    found = np.concatenate(columns)
    if not len(found):
        return None
    first, second, items = found[:, [0, 1, 3]].astype(np.int64).T
    return Matches.of(first, second, found[:, 2], items, len(table.models), n_items=n_clusters)


def _ways(benchmark: str, table: StarTable, seed: int) -> Mapping[str, Statistic]:
    matches = matches_of(table)
    if matches is None:
        raise AnalysisError(
            f"{benchmark}: no question was answered by two models, so there are no matches"
        )
    return {
        "mean stars": mean_statistic(scored(table).pseudo),
        "win rate": _win_rate(matches),
        "Bradley–Terry": bradley_terry_statistic(matches),
        "Elo": elo_statistic(matches, permutations=1, seed=seed),
    }


def _win_rate(matches: Matches) -> Statistic:
    per_item, n = matches.wins_per_item(), matches.n_models

    def rates(counts: FloatArray) -> FloatArray:
        wins = (counts @ per_item).reshape(-1, n, n)
        return ratio(wins.sum(axis=2), (wins + wins.transpose(0, 2, 1)).sum(axis=2))

    return rates


def _kept(rhos: FloatArray, size: int) -> OrderKept:
    known = rhos[~np.isnan(rhos)]
    undefined = len(rhos) - len(known)
    if not known.size:
        return OrderKept(size, *(float("nan"),) * 4, undefined)
    lower, upper = (float(bound) for bound in np.quantile(known, _BAND))
    error = float(known.std(ddof=1) / np.sqrt(known.size)) if known.size > 1 else float("nan")
    return OrderKept(size, float(known.mean()), lower, upper, error, undefined)
