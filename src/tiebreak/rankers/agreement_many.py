"""Agreement of many pairs of leaderboards at once; the same numbers as `agreement` gives for one.

A correlation is the cosine of two vectors: of the centred numbers (Pearson), of the places
(Spearman), or of the signs of all pairs of models (Kendall). So thousands of pairs are three sums.

All functions take two arrays of shape (…, N), ranks or scores of the same kind on both sides, NaN =
absent. The leading axes are broadcast: (M, N) and (N,) compare M leaderboards with one. They return
the leading axes, with NaN where a figure is undefined. They raise ShapeError where the shapes do
not fit each other, and InfiniteRankError where a number is infinite.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.rankers.agreement import finite
from tiebreak.rankers.errors import ShapeError
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.ranks import DECIMALS


def pearson_many(first: ArrayLike, second: ArrayLike) -> FloatArray:
    """Pearson's correlation, in [-1, 1]."""
    x, y = (_centred(values) for values in _common(first, second))
    return _cosine(np.sum(x * y, axis=-1), np.sum(x * x, axis=-1), np.sum(y * y, axis=-1))


def spearman_many(first: ArrayLike, second: ArrayLike) -> FloatArray:
    """Spearman's ρ, in [-1, 1]."""
    x, y = (_places(values) for values in _common(first, second))
    return _cosine(np.sum(x * y, axis=-1), np.sum(x * x, axis=-1), np.sum(y * y, axis=-1))


def kendall_many(first: ArrayLike, second: ArrayLike) -> FloatArray:
    """Kendall's τ-b, in [-1, 1]. Memory: about 10 · N² bytes a pair of leaderboards."""
    x, y = (_pair_signs(values) for values in _common(first, second))
    return _cosine(np.sum(x * y, axis=-1, dtype=np.int64), _n_untied(x), _n_untied(y))


def top1_many(first: ArrayLike, second: ArrayLike) -> FloatArray:
    """`top1`, in [0, 1], but of scores: higher is better. NaN without a model in common."""
    a, b = (_leaders(values) for values in _common(first, second))
    pairs = a.sum(axis=-1) * b.sum(axis=-1)
    both = np.sum(a & b, axis=-1)
    share: FloatArray = np.divide(both, pairs, out=np.full(pairs.shape, np.nan), where=pairs > 0)
    return share


def _common(first: ArrayLike, second: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Both, broadcast, rounded, and NaN where either is NaN."""
    a, b = finite(first), finite(second)
    if not a.ndim or not b.ndim or a.shape[-1] != b.shape[-1]:
        raise ShapeError(f"expected two arrays of shape (…, N), got {a.shape} and {b.shape}")
    try:
        absent = np.isnan(a) | np.isnan(b)
    except ValueError as error:
        raise ShapeError(f"shapes {a.shape} and {b.shape} do not go together") from error
    return np.where(absent, np.nan, a), np.where(absent, np.nan, b)


def _cosine(
    same: NDArray[np.float64 | np.int64],
    x: NDArray[np.float64 | np.int64],
    y: NDArray[np.float64 | np.int64],
) -> FloatArray:
    """From a product of vectors and their squares; NaN where one of them is zero."""
    norm = np.sqrt(x.astype(np.float64) * y)
    cosine: FloatArray = np.divide(same, norm, out=np.full(norm.shape, np.nan), where=norm > 0)
    return cosine


def _centred(values: FloatArray) -> FloatArray:
    """Differences from the mean of the numbers that are there, 0 for those that are not."""
    there = ~np.isnan(values)
    held = np.where(there, values, 0.0)
    n = np.maximum(there.sum(axis=-1, keepdims=True), 1)
    # Equal numbers must not differ by what their mean was rounded by.
    centred: FloatArray = np.where(there, held - held.sum(axis=-1, keepdims=True) / n, 0.0)
    return centred.round(DECIMALS)


def _places(values: FloatArray) -> FloatArray:
    """Models below minus models above, in whole numbers: twice the mean rank, centred."""
    own, other = values[..., :, None], values[..., None, :]
    places: FloatArray = np.sum(own > other, axis=-1) - np.sum(own < other, axis=-1, dtype=float)
    return places


def _pair_signs(values: FloatArray) -> NDArray[np.int8]:
    """Sign of the difference of every pair of models, shape (…, N(N − 1)/2); 0 with a NaN."""
    i, j = np.triu_indices(values.shape[-1], k=1)
    a, b = values[..., i], values[..., j]
    return (a > b).astype(np.int8) - (a < b).astype(np.int8)


def _n_untied(signs: NDArray[np.int8]) -> NDArray[np.int64]:
    count: NDArray[np.int64] = np.sum(signs != 0, axis=-1, dtype=np.int64)
    return count


def _leaders(values: FloatArray) -> NDArray[np.bool_]:
    best = np.max(values, axis=-1, keepdims=True, initial=-np.inf, where=~np.isnan(values))
    leaders: NDArray[np.bool_] = values == best
    return leaders
