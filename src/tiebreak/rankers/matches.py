"""Matches as checked columns: the input of every method that fits strengths.

A match is (first, second, result, item): two columns of models, 1 / ½ / 0 for the first one, and
the item that it was about.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.profile import FloatArray, IntArray
from tiebreak.rankers.uncertainty import ItemBootstrap, Resampling, Statistic, bootstrap_leaderboard
from tiebreak.reason import Reason


@dataclass(frozen=True, eq=False, slots=True)
class Matches:
    """Checked matches in an order of their own; arrays of shape (matches,), items numbered."""

    first: IntArray
    second: IntArray
    result: FloatArray
    item: IntArray
    n_models: int
    n_items: int

    @classmethod
    def of(
        cls,
        first: ArrayLike,
        second: ArrayLike,
        result: ArrayLike,
        items: ArrayLike,
        n_models: int,
        n_items: int | None = None,
    ) -> "Matches":
        """Check the columns, which are as `bradley_terry` takes them, and put them in order.

        Labels of items are numbered as they sort. With `n_items` they are numbers already, from 0
        to n_items − 1, and an item may have no match. Bad input raises `RankingError`.
        """
        one, two, score = np.asarray(first), np.asarray(second), np.asarray(result, np.float64)
        labels = np.asarray(items)
        if one.ndim != 1 or not one.shape == two.shape == score.shape == labels.shape:
            shapes = (one.shape, two.shape, score.shape, labels.shape)
            raise RankingError(f"expected four arrays of one length, got {shapes}")
        if not one.size:
            raise RankingError("there is no match")
        if not _are_numbers(np.stack([one, two]), n_models):
            raise RankingError(f"models must be whole numbers from 0 to {n_models - 1}")
        if np.any(one == two):
            raise RankingError(f"model {one[one == two][0]} meets itself")
        if not np.all(np.isin(score, (0, 0.5, 1))):
            raise RankingError("a result must be 1, ½ or 0")
        if n_items is None:
            names, item = np.unique(labels, return_inverse=True)
            n_items = len(names)
        elif _are_numbers(labels, n_items):
            item = labels
        else:
            raise RankingError(f"items must be whole numbers from 0 to {n_items - 1}")
        # Who is named first, and which match comes first, must not change any number.
        score = np.where(one < two, score, 1 - score)
        one, two = np.minimum(one, two), np.maximum(one, two)
        order = np.lexsort((score, two, one, item))
        return cls(one[order], two[order], score[order], item[order], n_models, n_items)

    def present(self) -> IntArray:
        """Number of items in which each model plays, shape (N,)."""
        plays = np.zeros((self.n_items, self.n_models), dtype=np.int64)
        plays[self.item, self.first] = plays[self.item, self.second] = 1
        count: IntArray = plays.sum(axis=0)
        return count

    def wins_per_item(self) -> Any:
        """Sparse array of shape (items, N²): how often i won against j in an item, ties as ½ each.

        So `(counts @ wins).reshape(-1, N, N)` holds the wins in draws of items.
        """
        from scipy.sparse import coo_array

        n = self.n_models
        pairs = np.concatenate([self.first * n + self.second, self.second * n + self.first])
        wins = np.concatenate([self.result, 1 - self.result])
        shape = (self.n_items, n * n)
        return coo_array((wins, (np.tile(self.item, 2), pairs)), shape=shape).tocsr()


def bootstrap_matches(strengths: Statistic, matches: Matches, *, how: Resampling) -> ItemBootstrap:
    """`bootstrap_leaderboard` over the items of the matches; `reason` counts draws left out."""
    fitted = bootstrap_leaderboard(strengths, matches.n_items, present=matches.present(), how=how)
    left_out = int(fitted.undefined.min())
    if fitted.reason is None and left_out:
        return replace(fitted, reason=Reason("infinite_draws", n=left_out, draws=how.draws))
    return fitted


def _are_numbers(values: NDArray[Any], n: int) -> bool:
    return values.dtype.kind in "iu" and bool(values.min() >= 0 and values.max() < n)
