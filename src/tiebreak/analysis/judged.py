"""Boards made by a judge or a jury instead of a panel, and their order beside people's."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.analysis.item_table import ItemTable, or_nan
from tiebreak.analysis.leaderboard import judges_of
from tiebreak.analysis.peers.panel import Panel, panels_of
from tiebreak.analysis.standing import best_first
from tiebreak.analysis.star_table import scored, star_parts, star_table
from tiebreak.rankers.intervals import Estimate
from tiebreak.rankers.pairwise_tests import item_means, separation
from tiebreak.rankers.profile import FloatArray, ratio, within_ballots
from tiebreak.rankers.ranks import DECIMALS
from tiebreak.ranking_logs.joins import files_in_words
from tiebreak.ranking_logs.log import RankingLog
from tiebreak.reason import Remark
from tiebreak.scorers.rules import RULES


@dataclass(frozen=True, eq=False, slots=True)
class JudgedBoard:
    """One board; arrays of shape (rows, N), NaN = absent, a row for each item.

    The column means of `scores` are the board's scores (under the rule `points`, and for stars in
    a linked design, a row depends on other items, too); `borda` are the models' scores in each item
    alone, `native` their native scores.
    """

    benchmark: str
    log: str
    name: str
    models: tuple[str, ...]
    item_ids: tuple[str, ...]
    items: ArrayLike
    scores: FloatArray
    borda: FloatArray
    native: FloatArray
    notes: tuple[Remark, ...]


Judged = Panel | JudgedBoard
"""A panel or board that is compared with people."""


@dataclass(frozen=True, slots=True)
class BoardOrder:
    """A board's order of N models beside people's, 1 = best, ties at their mean rank.

    `rank_lower` (the better) and `rank_upper` cover the true ranks of all models on the board at
    once, with the probability `level`. A model whose range excludes people's rank is placed
    `higher`, or `lower`, than by people. Of the `n_pairs` pairs that people do not tie, the board
    orders `n_same` as people do and `n_opposite` the other way round, and ties the rest. `same` is
    the share of the first; its bounds count the pairs that the board's tests tell apart. They hold
    at any number of items, unlike a bootstrap, since noise pulls the share towards one half.
    Measured in docs/statistics.md (`judged`).
    """

    ranks: tuple[float, ...]
    rank_lower: tuple[int, ...]
    rank_upper: tuple[int, ...]
    higher: tuple[str, ...]
    lower: tuple[str, ...]
    same: Estimate
    n_pairs: int
    n_same: int
    n_opposite: int


def judged_among(logs: Sequence[RankingLog]) -> list[Judged]:
    """Panels and boards, stars joined by benchmark; a log that ranked nothing has no models."""
    boards: list[Judged] = [panel for log in logs for panel in panels_of(log)]
    boards += [_of_stars(name, parts) for name, parts in star_parts(logs).items()]
    for part in (part for log in logs for part in log.parts() if not part.by_stars):
        if not any(RULES[item.placed_by].reviewed for item in part.items):
            boards.append(_of_log(part))
    return boards


def _of_stars(name: str, parts: Sequence[RankingLog]) -> JudgedBoard:
    stars = star_table(parts)
    linked, clusters = scored(stars), np.array(stars.clusters)
    return JudgedBoard(
        benchmark=name,
        log=files_in_words(stars.logs, "log"),
        name=_name(parts),
        models=stars.models,
        item_ids=tuple(np.unique(clusters).tolist()),
        items=np.unique(clusters),
        scores=linked.table,
        borda=item_means(stars.scores, clusters),
        native=item_means(stars.native, clusters),
        notes=(*stars.notes, *(note for part in parts for note in part.notes)),
    )


def _of_log(log: RankingLog) -> JudgedBoard:
    table = ItemTable.of(log.ranked)
    cells = [
        [or_nan(placement.borda.get(model)) for model in table.models]
        for _, placement in log.ranked
    ]
    return JudgedBoard(
        benchmark=log.benchmark,
        log=log.path,
        name=_name([log]),
        models=table.models,
        item_ids=table.item_ids,
        items=table.items,
        scores=table.borda,
        borda=np.array(cells).reshape(table.borda.shape),
        native=table.native,
        notes=log.notes,
    )


def _name(parts: Sequence[RankingLog]) -> str:
    judges = judges_of(item for part in parts for item in part.items)
    return f"{parts[0].protocol}{' by ' * bool(judges)}{', '.join(judges)}"


def board_order(
    scores: FloatArray,
    people: FloatArray,
    models: Sequence[str],
    *,
    items: ArrayLike | None = None,
    level: float = 0.95,
) -> BoardOrder:
    """Compare the order of a board with people's.

    Args:
        scores: shape (rows, N), higher is better, NaN = absent; a model without any is not ranked.
        people: shape (N,), people's ranks, 1 = best, not all equal.
        models: the N names.
        items: shape (rows,), the item of each row; by default every row is an item.
        level: confidence level of the bounds.
    """
    means = ratio(np.nansum(scores, axis=0), np.sum(~np.isnan(scores), axis=0))
    ranks = within_ballots(-means.round(DECIMALS))
    tests = separation(scores, best_first(ranks, models), items=items, level=level)
    both = [(pair.above, pair.below) for pair in tests.pairs]
    above, below = np.array(both, dtype=np.int64).reshape(-1, 2).T
    apart = np.array([pair.apart is True for pair in tests.pairs], dtype=np.bool_)
    # A test is over the two models' common items, on which their order can differ from the board's.
    tested = np.sign([pair.difference for pair in tests.pairs])
    decided = np.where(apart, tested, np.sign(ranks[below] - ranks[above]))
    alike = decided * np.sign(people[below] - people[above])
    n, same, opposite = (
        int(np.sum(pairs)) for pairs in (people[above] != people[below], alike > 0, alike < 0)
    )
    sure, against = np.sum(apart & (alike > 0)), np.sum(apart & (alike < 0))
    share, least, most = ratio(np.array([same, sure, n - against]), n).tolist()
    lower, upper = np.ones(len(models), np.int64), np.full(len(models), len(models))
    lower[list(tests.order)], upper[list(tests.order)] = tests.rank_lower, tests.rank_upper
    # Models that people tie may have any of the ranks that the tie spans.
    better = np.sum(people[:, None] < people, axis=0)
    not_worse = np.sum(people[:, None] <= people, axis=0)
    return BoardOrder(
        ranks=tuple(ranks.tolist()),
        rank_lower=tuple(lower.tolist()),
        rank_upper=tuple(upper.tolist()),
        higher=tuple(compress(models, upper <= better)),
        lower=tuple(compress(models, lower > not_worse)),
        same=Estimate(share, least, most, len(item_means(scores, items))),
        n_pairs=n,
        n_same=same,
        n_opposite=opposite,
    )
