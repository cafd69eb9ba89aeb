"""Strengths from matches: Bradley–Terry, with or without covariates, and Elo.

A match is (first, second, result, item): two columns, 1 / ½ / 0 for the first model, and the item
that was judged. Intervals resample items with all their matches, because matches on the same item
are not independent evidence.

Prefer Bradley–Terry, which does not depend on the order of matches; Elo (by evalica) does, and is
included for comparison with leaderboards that report it. `controlled_bradley_terry` compares models
at equal length or style of their answers:

    log-odds that i beats j = s_i − s_j + Σ_k β_k x_k

where x are differences between the two answers, e.g. (a − b) / (a + b) for their lengths a and b.
This is LMArena's style control (T. Li, A. N. Angelopoulos and W.-L. Chiang 2024, "Does style
matter?", lmsys.org/blog/2024-08-28-style-control); AlpacaEval controls length in the same way (Y.
Dubois et al. 2024, arXiv:2404.04475). The fit is scikit-learn's logistic regression without a
penalty. A covariate absorbs everything correlated with it: if better models write longer answers
because they say more, controlling for length removes that advantage.
"""

import warnings
from collections.abc import Callable
from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.rankers.errors import NoFitError, RankingError, optional
from tiebreak.rankers.intervals import Estimate
from tiebreak.rankers.matches import Matches, bootstrap_matches
from tiebreak.rankers.profile import FloatArray, IntArray, components
from tiebreak.rankers.uncertainty import (
    ItemBootstrap,
    Resampling,
    Statistic,
    bootstrap_leaderboard,
    item_numbers,
)

# A Newton step this short leaves rounding errors only. Results are rounded to `_DECIMALS`, so that
# these errors do not break ties.
_TOLERANCE = 1e-8
_MAX_ITERATIONS = 1000
_DECIMALS = 7


def bradley_terry(
    first: ArrayLike,
    second: ArrayLike,
    result: ArrayLike,
    items: ArrayLike,
    *,
    n_models: int,
    how: Resampling = Resampling(draws=1000),
) -> ItemBootstrap:
    """Estimate Bradley–Terry strengths: P(i beats j) = 1 / (1 + exp(s_j − s_i)).

    R. A. Bradley and M. E. Terry 1952, doi:10.2307/2334029; fitted by Newton's method, all draws at
    once. A tie counts as half a win for each side.

    Finite strengths exist only where the graph "has won or tied against" is strongly connected (L.
    R. Ford 1957, doi:10.2307/2308513): a model that won all its matches has none. A draw of items
    for which this fails gives no strengths and is left out; `undefined` counts these draws. They
    are the extreme draws, so if there are many the intervals are too narrow; `reason` counts them.

    Args:
        first: shape (matches,), columns of the models, 0 … n_models − 1.
        second: shape (matches,), columns of their opponents.
        result: shape (matches,), 1 = the first won, 0 = the second won, ½ = tie. The caller leaves
            out matches without a verdict: they are not ties.
        items: shape (matches,), the label of each match's item.
        n_models: number of models, N.
        how: level, draws and seed of the intervals; a draw takes some 0.1 ms.

    Returns:
        `score` holds the N log-strengths (natural logarithm; their sum is 0), the other fields are
        as `ItemBootstrap` says. The order of the matches does not matter.

    Raises:
        NoFitError: no finite strengths fit the matches (the message names them), or no convergence.
        RankingError: bad input.
    """
    matches = Matches.of(first, second, result, items, n_models)
    strengths = bradley_terry_statistic(matches)
    ones = np.ones(matches.n_items)
    refuse_separable((ones @ matches.wins_per_item()).reshape(n_models, n_models))
    return bootstrap_matches(strengths, matches, how=how)


def bradley_terry_statistic(matches: Matches) -> Statistic:
    """Statistic of Bradley–Terry strengths, from counts of items; NaN if no finite ones fit."""
    per_item = matches.wins_per_item()

    def strengths(counts: FloatArray) -> FloatArray:
        wins = (counts @ per_item).reshape(-1, matches.n_models, matches.n_models)
        fitted = np.full(wins.shape[:2], np.nan)
        connected = [_unbeaten(table) is None for table in wins]
        fitted[connected] = _fit(wins[connected])
        return fitted

    return strengths


def elo(
    first: ArrayLike,
    second: ArrayLike,
    result: ArrayLike,
    items: ArrayLike,
    *,
    n_models: int,
    k: float = 4.0,
    permutations: int = 10,
    how: Resampling = Resampling(draws=200),
) -> ItemBootstrap:
    """Estimate Elo ratings, averaged over random orders of the matches.

    Each match moves k · (result − expected) points from one model to the other, where the first is
    expected to score 1 / (1 + 10^((R_second − R_first) / 400)); all start at 1000 (A. E. Elo 1978;
    computed by evalica). Ratings depend on the order of the matches. That order has no meaning
    here, so ratings are averaged over `permutations` random orders, for every draw of items. With
    few matches ratings stay near 1000; they do not estimate Bradley–Terry strengths.

    Matches are passed as to `bradley_terry`. `k` > 0 is the number of points at stake in a match,
    `permutations` ≥ 1 the number of orders, and the seed of the intervals also draws the orders. A
    draw takes permutations · (0.5 ms + 0.5 µs a match), so that 200 draws of 2,000 matches in 10
    orders take some 4 s.

    Returns:
        `score` holds the N ratings (mean 1000), the other fields are as `ItemBootstrap` says. The
        order in which the matches are given does not matter.

    Raises:
        RankingError: bad input.
        MissingPackageError: evalica is not installed.
    """
    matches = Matches.of(first, second, result, items, n_models)
    ratings = elo_statistic(matches, k=k, permutations=permutations, seed=how.seed)
    return bootstrap_matches(ratings, matches, how=how)


def elo_statistic(
    matches: Matches, *, k: float = 4.0, permutations: int = 10, seed: int = 0
) -> Statistic:
    """Statistic of Elo ratings, from counts of items; each call draws new orders.

    Raises:
        RankingError: `k` or `permutations` is out of range.
        MissingPackageError: evalica is not installed.
    """
    if not k > 0 or permutations < 1:
        raise RankingError(
            f"k must be above 0 and permutations at least 1, got {k}, {permutations}"
        )
    evalica = optional("evalica", "Elo needs evalica", "evalica")
    generator = np.random.default_rng([seed, 1])

    def ratings(counts: FloatArray) -> FloatArray:
        return np.stack([mean_over_orders(times) for times in counts[:, matches.item].astype(int)])

    def mean_over_orders(times: IntArray) -> FloatArray:
        played = np.repeat(np.arange(len(times)), times)
        orders = (generator.permutation(played) for _ in range(permutations))
        rating: FloatArray = np.mean(
            [_elo_ratings(evalica, matches, order, k) for order in orders], axis=0
        )
        return rating

    return ratings


def _fit(wins: FloatArray) -> FloatArray:
    """Fit log-strengths (draws, N) to the wins (draws, N, N) of connected models.

    Newton's method; steps with a component above 1 can lower the likelihood and are shortened.
    """
    n_models = wins.shape[-1]
    losses, strengths = wins.swapaxes(1, 2), np.zeros(wins.shape[:2])
    for _ in range(_MAX_ITERATIONS):
        share = 1 / (1 + np.exp(strengths[:, None] - strengths[:, :, None]))
        others = share.swapaxes(1, 2)
        # Not wins minus expected wins, which is rounding error if all matches go one way.
        slope = np.sum(wins * others - losses * share, axis=2)
        information = (wins + losses) * share * others
        curve = np.eye(n_models) * information.sum(axis=2)[:, None] - information
        curve += curve.max(axis=(1, 2), keepdims=True)  # fixes the sum of strengths at 0
        step = np.linalg.solve(curve, slope[..., None])[..., 0]
        longest = np.abs(step).max(axis=1, keepdims=True, initial=0)
        strengths += step / np.maximum(1, longest)
        if longest.max(initial=0) < _TOLERANCE:
            centred: FloatArray = strengths - strengths.mean(axis=1, keepdims=True)
            return centred.round(_DECIMALS) + 0.0  # no −0
    raise NoFitError(f"Bradley–Terry did not converge in {_MAX_ITERATIONS} iterations")


def _unbeaten(wins: FloatArray) -> IntArray | None:
    """A group against which no outside model ever won or tied; None if all are connected."""
    label = components(wins > 0)
    groups = (np.flatnonzero(label == first) for first in np.unique(label))
    # Wins between strong components go one way only, so at least one component is unbeaten.
    unbeaten = next(g for g in groups if not np.any(np.delete(wins, g, axis=0)[:, g]))
    return None if len(unbeaten) == len(wins) else unbeaten


def refuse_separable(wins: FloatArray) -> None:
    """Raise NoFitError, naming the models, if no finite Bradley–Terry strengths fit the wins."""
    group = _unbeaten(wins)
    if group is None:
        return
    rest = np.delete(np.arange(len(wins)), group)
    met = np.any(wins[np.ix_(group, rest)])
    raise NoFitError(
        f"models {{group}} never {'lost to or tied with' if met else 'met'} any of {{others}}, so "
        "no finite Bradley–Terry strengths fit the matches",
        group.tolist(),
        rest.tolist(),
    )


def _elo_ratings(evalica: ModuleType, matches: Matches, order: IntArray, k: float) -> FloatArray:
    """Elo ratings, shape (N,), after playing the matches in this order."""
    import pandas as pd

    if not order.size:  # a draw of items without matches
        return np.full(matches.n_models, 1000.0)
    outcomes = {1.0: evalica.Winner.X, 0.5: evalica.Winner.Draw, 0.0: evalica.Winner.Y}
    played = evalica.elo(
        matches.first[order].tolist(),
        matches.second[order].tolist(),
        [outcomes[result] for result in matches.result[order].tolist()],
        index=pd.RangeIndex(matches.n_models),
        k=k,
    )
    ratings: FloatArray = played.scores.sort_index().to_numpy()
    return ratings


_NEWTON_TOLERANCE = 1e-9
# A predicted match as certain as this (1 : 3,000,000) shows that the fit diverges.
_SURE = 15.0


def controlled_bradley_terry(
    first: ArrayLike,
    second: ArrayLike,
    result: ArrayLike,
    items: ArrayLike,
    covariates: ArrayLike,
    *,
    n_models: int,
    how: Resampling = Resampling(draws=200),
) -> tuple[ItemBootstrap, tuple[Estimate, ...]]:
    """Estimate strengths at equal covariates, and the covariates' effects.

    Matches are passed as to `bradley_terry`; a draw of items that no finite numbers fit is left out
    and counted, as there. A draw takes some 10 ms for 8 models and 4,000 matches. `covariates`,
    shape (matches, K), are finite differences, positive if the first answer has more, so that they
    change sign when the sides are swapped.

    Returns:
        The N log-strengths (their sum is 0) and the K coefficients, log-odds per unit, both with
        intervals over items.

    Raises:
        NoFitError: no finite numbers fit the matches, or who meets whom determines a covariate.
        RankingError: bad input.
        MissingPackageError: scikit-learn is not installed.
    """
    matches = Matches.of(first, second, result, items, n_models)
    design = _design(np.asarray(first), np.asarray(second), covariates, n_models)
    item = item_numbers(items, len(design))[1]
    fit = _controlled_fit(design, np.asarray(result, np.float64), item, n_models)
    unfit = np.full(design.shape[1] + 1, np.nan)
    per_item = matches.wins_per_item()
    drawn: list[FloatArray] = []

    def strengths(counts: FloatArray) -> FloatArray:
        wins = (counts @ per_item).reshape(-1, n_models, n_models)
        both = [
            fit(row) if _unbeaten(table) is None else unfit
            for row, table in zip(counts, wins, strict=True)
        ]
        drawn.append(np.stack(both))
        return drawn[-1][:, :n_models]

    ones = np.ones((1, matches.n_items))
    refuse_separable((ones @ per_item).reshape(n_models, n_models))
    if np.linalg.matrix_rank(design) < design.shape[1]:
        raise NoFitError(
            "the differences between answers follow from which models meet, or from one another, "
            "so that what they do cannot be told apart"
        )
    if np.isnan(strengths(ones)).any():
        raise NoFitError(
            "the differences between answers decide all matches of a kind, so no finite strengths "
            "and coefficients fit"
        )
    drawn.clear()
    fitted = bootstrap_matches(strengths, matches, how=how)
    # Draws and batches are the same again, so reuse the coefficients from the fits above.
    halves = iter(drawn)
    board = bootstrap_leaderboard(lambda _: next(halves)[:, n_models:], matches.n_items, how=how)
    effects = tuple(
        Estimate(float(value), float(lower), float(upper), matches.n_items, fitted.reason)
        for value, lower, upper in zip(board.score, board.lower, board.upper, strict=True)
    )
    return fitted, effects


def _design(first: IntArray, second: IntArray, covariates: ArrayLike, n_models: int) -> FloatArray:
    """A row for each match, shape (matches, N − 1 + K): 1 and −1 for its models, then covariates.

    Strengths are determined up to a constant: the first model's is fixed at 0 and has no column.
    """
    known = np.asarray(covariates, dtype=np.float64)
    if known.ndim != 2 or len(known) != len(first) or not known.shape[1]:
        raise RankingError(f"expected covariates of {len(first)} matches, got {known.shape}")
    if not np.isfinite(known).all():
        raise RankingError("covariates must be finite")
    models, rows = np.zeros((len(first), n_models)), np.arange(len(first))
    models[rows, first], models[rows, second] = 1, -1
    return np.hstack([models[:, 1:], known])


def _controlled_fit(
    design: FloatArray, result: FloatArray, item: NDArray[np.intp], n_models: int
) -> Callable[[FloatArray], FloatArray]:
    """Function from counts of items to strengths and coefficients, shape (N + K,)."""
    linear_model = optional(
        "sklearn.linear_model", "Bradley–Terry with covariates needs scikit-learn", "scikit-learn"
    )
    regression = linear_model.LogisticRegression(
        C=np.inf, fit_intercept=False, solver="newton-cholesky", tol=_NEWTON_TOLERANCE
    )
    # A tie gives both sides a row with weight ½.
    won, lost = np.flatnonzero(result > 0), np.flatnonzero(result < 1)
    rows, label = np.concatenate([won, lost]), np.repeat([1, 0], [len(won), len(lost)])
    share = np.where(label, result[rows], 1 - result[rows])
    unfit = np.full(design.shape[1] + 1, np.nan)

    def fit(counts: FloatArray) -> FloatArray:
        weight = counts[item[rows]] * share
        drawn = weight > 0
        x, y, weight = design[rows[drawn]], label[drawn], weight[drawn]
        spread = np.linalg.eigvalsh(x.T @ (weight[:, None] * x))
        if len(np.unique(y)) < 2 or spread[0] < 1e-9 * spread[-1]:
            return unfit
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            coefficients = regression.fit(x, y, sample_weight=weight).coef_[0]
        if not np.isfinite(coefficients).all() or np.abs(x @ coefficients).max() > _SURE:
            return unfit
        strengths = np.concatenate([[0], coefficients[: n_models - 1]])
        strengths -= strengths.mean()
        return np.concatenate([strengths, coefficients[n_models - 1 :]]).round(_DECIMALS)

    return fit
