"""Matches as checked columns, and the points that they give.

A match is (first, second, result, item): two columns of models, 1 / ½ / 0 for the first one, and
the item that it was about. Points say how often each model wins, as the mean over its opponents of
each pair's mean result:

    sᵢ = Σⱼ p̄ᵢⱼ / (N − 1),    p̄ᵢⱼ = (sum of Tᵢⱼ known + Dᵢⱼ · mean of what was judged) / (Tᵢⱼ + Dᵢⱼ)

Where every pair is judged on every item this is the Borda score of exhaustive judging, in [0, 1].
Where only some are, and results have no say in which, it is an unbiased estimate of it: a pair
counts the same however often it met. On Tᵢⱼ items the result is known without a judge: two models
that gave the same answer are tied, and an answer that passed its test beats one that failed. What
was judged stands for the other Dᵢⱼ items.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.profile import FloatArray, IntArray, ratio
from tiebreak.rankers.uncertainty import ItemBootstrap, Resampling, Statistic, bootstrap_leaderboard
from tiebreak.reason import Reason

_DENSE: Final = 10
"""A number of a full array takes a tenth of the time that one of a sparse array takes to add."""


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
        a, b, score = np.asarray(first), np.asarray(second), np.asarray(result, np.float64)
        labels = np.asarray(items)
        if a.ndim != 1 or not a.shape == b.shape == score.shape == labels.shape:
            shapes = (a.shape, b.shape, score.shape, labels.shape)
            raise RankingError(f"expected four arrays of one length, got {shapes}")
        if not a.size:
            raise RankingError("there is no match")
        models = np.stack([a, b])
        if models.dtype.kind not in "iu" or models.min() < 0 or models.max() >= n_models:
            raise RankingError(f"models must be whole numbers from 0 to {n_models - 1}")
        if np.any(a == b):
            raise RankingError(f"model {a[a == b][0]} meets itself")
        if not np.all(np.isin(score, (0, 0.5, 1))):
            raise RankingError("a result must be 1, ½ or 0")
        if n_items is None:
            names, item = np.unique(labels, return_inverse=True)
            n_items = len(names)
        else:
            item = labels
        # Who is named first, and which match comes first, must not change any number.
        score = np.where(a < b, score, 1 - score)
        a, b = np.minimum(a, b), np.maximum(a, b)
        order = np.lexsort((score, b, a, item))
        return cls(a[order], b[order], score[order], item[order], n_models, n_items)

    def averaged(self) -> "Matches":
        """One match for each pair and item, with the mean of its results, any number in [0, 1]."""
        columns = np.stack([self.item, self.first, self.second])
        (item, first, second), place = np.unique(columns, axis=1, return_inverse=True)
        result = np.bincount(place.ravel(), self.result) / np.bincount(place.ravel())
        return replace(self, first=first, second=second, result=result, item=item)

    def present(self) -> IntArray:
        """Number of items in which each model plays, shape (N,)."""
        plays = np.zeros((self.n_items, self.n_models), dtype=np.int64)
        plays[self.item, self.first] = plays[self.item, self.second] = 1
        count: IntArray = plays.sum(axis=0)
        return count

    def wins_per_item(self) -> Any:
        """Array of shape (items, N²): how often i won against j in an item, ties as ½ each.

        So `(counts @ wins).reshape(-1, N, N)` holds the wins in draws of items. It is sparse where
        few of all pairs met in an item.
        """
        from scipy.sparse import coo_array

        n = self.n_models
        pairs = np.concatenate([self.first * n + self.second, self.second * n + self.first])
        wins = np.concatenate([self.result, 1 - self.result])
        shape = (self.n_items, n * n)
        table = coo_array((wins, (np.tile(self.item, 2), pairs)), shape=shape).tocsr()
        return table.toarray() if _DENSE * table.nnz > math.prod(shape) else table


def bootstrap_matches(strengths: Statistic, matches: Matches, *, how: Resampling) -> ItemBootstrap:
    """`bootstrap_leaderboard` over the items of the matches; `reason` counts draws left out."""
    fitted = bootstrap_leaderboard(strengths, matches.n_items, present=matches.present(), how=how)
    left_out = int(fitted.undefined.min())
    if fitted.reason is None and left_out:
        return replace(fitted, reason=Reason("infinite_draws", n=left_out, draws=how.draws))
    return fitted


def pair_points(
    judged: Matches | None,
    known: Matches | None,
    present: NDArray[np.bool_],
    *,
    against: int | None = None,
    regress: bool = True,
) -> FloatArray:
    """A table of items × models whose column means over present cells are the scores sᵢ.

    So whatever resamples or tests means of items serves here as well. A cell is the model's score
    and what its results in the item say beyond what the strengths of both sides made one expect:
    no item speaks for a model because the schedule gave it a weak opponent there.

        xₜᵢ = Σⱼ [eᵢⱼ + wᵢⱼ (rₜᵢⱼ − eᵢⱼ)] / (N − 1),   eᵢⱼ = ½ + (θᵢ − θⱼ) / 2,

    with strengths θ by least squares over all judged results and a tie of each model against an
    average one, drawn towards 0 where they spread little more than chance would let them;
    wᵢⱼ = Dᵢⱼ / (number of their judged matches), 0 where they were not judged on item t, and 1
    where their result is known. Over the items of a pair that met, e cancels; it takes opponents
    out of the spread (a regression estimator: W. G. Cochran 1977, Sampling Techniques, chapter 7),
    and stands for a pair that never met.

    Args:
        judged: matches with a result, at most one for a pair in an item; items are numbered as the
            rows of the table. None without any.
        known: results that took no judge, none of a pair and item that was judged; None without
            any.
        present: shape (items, N), whether the model is judged on the item at all.
        against: the only opponent that counts, where all matches are against one model: sᵢ is then
            the win rate against it, ½ for that model itself.
        regress: False leaves e at ½ for pairs that met. Strengths fitted to few items take out of
            the spread what tests need: of 8 equal models judged on 20 items of 200 some were told
            apart in 14% of worlds instead of 5%.

    Returns:
        Shape (items, N); NaN where a model is absent. Cells may leave [0, 1], and so may their
        means where models are absent, and intervals of them: boards show them cut to it.
    """
    n = present.shape[1]
    here = present.astype(np.float64)
    differ = here.T @ here
    if known is not None:
        settled = _sums(n, known.first, known.second, np.ones_like(known.result))
        differ -= settled + settled.T
    np.fill_diagonal(differ, 0)
    won = met = np.zeros((n, n))
    if judged is not None:
        won = _sums(n, judged.first, judged.second, judged.result)
        met = _sums(n, judged.first, judged.second, np.ones_like(judged.result))
        lost = _sums(n, judged.second, judged.first, 1 - judged.result)
        won, met = won + lost, met + met.T
    expected, fitted = _expected(won, met)
    if not regress:
        expected, fitted = np.where(met > 0, 0.5, expected), 0.0
    counted = np.ones(n) if against is None else (np.arange(n) == against).astype(np.float64)
    total = (here * counted) @ expected.T
    for matches, weight in ((known, np.ones((n, n))), (judged, ratio(differ, met))):
        if matches is None:
            continue
        for first, other, result in (
            (matches.first, matches.second, matches.result),
            (matches.second, matches.first, 1 - matches.result),
        ):
            beyond = counted[other] * weight[first, other] * (result - expected[first, other])
            np.add.at(total, (matches.item, first), beyond)
    if against is not None:
        total[:, against] = 0.5
        differ = differ * (counted[:, None] + counted > 0)
    opponents = (here @ counted)[:, None] - (against is None)
    cells = np.where(present & (opponents > 0), total / np.maximum(opponents, 1), np.nan)
    return _widened(cells, fitted, met.sum() / 2, differ.sum() / 2)


def _widened(cells: FloatArray, fitted: float, n_judged: float, n_differ: float) -> FloatArray:
    """The cells, spread as they would be if their strengths were not fitted to the same results.

    N − 1 strengths take that many degrees of freedom from the matches, as far as expectations rest
    on them (`fitted`) and stand for what was not judged.
    """
    if not 0 < n_judged < n_differ:
        return cells
    lost = fitted * (cells.shape[1] - 1) / n_judged * (1 - n_judged / n_differ)
    counts = np.sum(~np.isnan(cells), axis=0)
    center = ratio(np.nansum(cells, axis=0), counts.astype(np.float64))
    widened: FloatArray = center + np.sqrt(1 + lost) * (cells - center)
    return widened


def _sums(n: int, first: IntArray, other: IntArray, values: FloatArray) -> FloatArray:
    """Sums of values by pair, shape (N, N)."""
    return np.bincount(first * n + other, values, n * n).astype(np.float64).reshape(n, n)


def _expected(won: FloatArray, met: FloatArray) -> tuple[FloatArray, float]:
    """What each model is expected to get against each other one, 0 against itself.

    And the share, in [0, 1], of the fitted strengths that this rests on. Those of equal models
    spread by chance, as χ² of N − 1 degrees of freedom: what chance gives, and two standard
    deviations of it, is taken off, so that equal models are tested as if nothing had been fitted.
    """
    games, freedom = met.sum(axis=1), len(met) - 1
    # One tie against an average model keeps the system regular, and small samples modest.
    lead = 2 * won.sum(axis=1) - games
    strengths = np.linalg.solve(np.diag(games + 1) - met, lead)
    spread = max(float(strengths @ lead), 1e-300)
    believed = max(0.0, 1 - (freedom + 2 * np.sqrt(2 * freedom)) / spread)
    expected: FloatArray = 0.5 + believed * (strengths[:, None] - strengths[None, :]) / 2
    np.fill_diagonal(expected, 0)
    return expected, believed
