"""Strengths from matches: Bradley–Terry, with covariates too, and Elo, with intervals over items.

A match is (first, second, result, item): two columns, 1 / ½ / 0 for the first one, and the item
that it was about. Resampling draws items with all their matches: matches about one item are not
independent evidence.

Bradley–Terry is the one to use. It does not depend on the order of matches; Elo, by evalica, does,
and is here for comparison with leaderboards that report it. `controlled_bradley_terry` compares
models whose answers are alike in length or style:

    log-odds that i beats j = s_i − s_j + Σ_k β_k x_k

where x are differences between the two answers, such as (a − b) / (a + b) of their lengths. This is
LMArena's style control (T. Li, A. N. Angelopoulos and W.-L. Chiang 2024, "Does style matter?",
lmsys.org/blog/2024-08-28-style-control); AlpacaEval controls length alike (Y. Dubois et al. 2024,
arXiv:2404.04475). The fit is scikit-learn's logistic regression without a penalty. A covariate
explains what goes with it: where better models write longer answers because they say more, control
for length takes that from them.
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

# A step of Newton's that is so short leaves an error of rounding only, which must not break a tie.
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
    """Bradley–Terry strengths: P(i beats j) = 1 / (1 + exp(s_j − s_i)).

    R. A. Bradley and M. E. Terry 1952, doi:10.2307/2334029; fitted by Newton's method, all draws at
    once. A tie counts as half a win for either side.

    Finite strengths exist only where the graph "has won or tied against" is strongly connected
    (L. R. Ford 1957, doi:10.2307/2308513): a model that won all its matches has none. A draw of
    items for which this fails gives no strengths and is left out; `undefined` counts such draws.
    They are the extreme ones, so with many of them the intervals are too narrow, and `reason` tells
    how many there were.

    Args:
        first: shape (matches,), columns of the models, 0 … n_models − 1.
        second: shape (matches,), columns of their opponents.
        result: shape (matches,), 1 = the first won, 0 = the second won, ½ = tie. A match without a
            verdict is left out by the caller: it is not a tie.
        items: shape (matches,), the label of the item that each match is about.
        n_models: number of models, N.
        how: level, draws and seed of the intervals; a draw takes some 0.1 ms.

    Returns:
        `score` holds the N log-strengths (natural logarithm; their sum is 0), the other fields are
        as `ItemBootstrap` says. The order of the matches does not matter.

    Raises:
        NoFitError: no finite strengths fit the matches (the message names the group), or the fit
            did not converge.
        RankingError: bad input.
    """
    matches = Matches.of(first, second, result, items, n_models)
    strengths = bradley_terry_statistic(matches)
    ones = np.ones(matches.n_items)
    refuse_separable((ones @ matches.wins_per_item()).reshape(n_models, n_models))
    return bootstrap_matches(strengths, matches, how=how)


def bradley_terry_statistic(matches: Matches) -> Statistic:
    """Strengths as a function of how often each item is drawn; NaN where no finite ones fit."""
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
    """Elo ratings, averaged over random orders of the matches.

    Each match moves k · (result − expected) points from one model to the other, where the first is
    expected to score 1 / (1 + 10^((R_second − R_first) / 400)); all start at 1000 (A. E. Elo 1978;
    computed by evalica). The ratings depend on the order in which the matches are played. Here that
    order means nothing, so they are averaged over orders, the same number for every draw of items.
    With few matches ratings stay near 1000: they do not estimate the Bradley–Terry strengths.

    Matches are given as to `bradley_terry`. `k` > 0 are the points at stake in a match,
    `permutations` ≥ 1 is the number of orders, and the seed of the intervals is theirs too. A draw
    takes permutations · (0.5 ms + 0.5 µs a match), so that 200 draws of 2,000 matches in 10 orders
    take some 4 s.

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
    """Elo ratings as a function of how often each item is drawn; each call draws orders anew.

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
    """Log-strengths, shape (draws, N), from wins, shape (draws, N, N), of connected models.

    Newton's method. A step is cut where it is so long that the likelihood may fall.
    """
    n_models = wins.shape[-1]
    losses, strengths = wins.swapaxes(1, 2), np.zeros(wins.shape[:2])
    for _ in range(_MAX_ITERATIONS):
        share = 1 / (1 + np.exp(strengths[:, None] - strengths[:, :, None]))
        others = share.swapaxes(1, 2)
        # Not wins less their expected number: where all go one way, that difference is rounding.
        slope = np.sum(wins * others - losses * share, axis=2)
        information = (wins + losses) * share * others
        curve = np.eye(n_models) * information.sum(axis=2)[:, None] - information
        curve += curve.max(axis=(1, 2), keepdims=True)  # holds the sum of strengths at 0
        step = np.linalg.solve(curve, slope[..., None])[..., 0]
        longest = np.abs(step).max(axis=1, keepdims=True, initial=0)
        strengths += step / np.maximum(1, longest)
        if longest.max(initial=0) < _TOLERANCE:
            centred: FloatArray = strengths - strengths.mean(axis=1, keepdims=True)
            return centred.round(_DECIMALS) + 0.0  # no −0
    raise NoFitError(f"Bradley–Terry did not converge in {_MAX_ITERATIONS} iterations")


def _unbeaten(wins: FloatArray) -> IntArray | None:
    """A group against which no model outside ever won or tied; None when all are connected."""
    label = components(wins > 0)
    groups = (np.flatnonzero(label == first) for first in np.unique(label))
    # Between strongly connected groups wins run one way, so one group at least has none against it.
    unbeaten = next(g for g in groups if not np.any(np.delete(wins, g, axis=0)[:, g]))
    return None if len(unbeaten) == len(wins) else unbeaten


def refuse_separable(wins: FloatArray) -> None:
    """Raise the error that names the models for which no finite strengths fit."""
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
    """Elo ratings, shape (N,), after the matches in this order."""
    import pandas as pd

    if not order.size:  # a draw of items whose models did not meet
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
# A match that is as sure as this (1 : 3,000,000) says that the fit runs off to infinity.
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
    """Strengths at equal covariates, and what the covariates do.

    Matches are given as to `bradley_terry`; a draw of items in which no finite numbers fit is left
    out and counted, as there. A draw takes some 10 ms for 8 models and 4,000 matches. `covariates`,
    shape (matches, K), are finite differences that are positive where the first answer has more, so
    that they change sign with the sides.

    Returns:
        The N log-strengths (their sum is 0) and the K coefficients, log-odds per unit, both with
        intervals over items.

    Raises:
        NoFitError: no finite numbers fit the matches, or a covariate follows from who plays.
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
    # The same draws in the same batches once more: the other half of the same fits.
    halves = iter(drawn)
    board = bootstrap_leaderboard(lambda _: next(halves)[:, n_models:], matches.n_items, how=how)
    effects = tuple(
        Estimate(float(value), float(lower), float(upper), matches.n_items, fitted.reason)
        for value, lower, upper in zip(board.score, board.lower, board.upper, strict=True)
    )
    return fitted, effects


def _design(first: IntArray, second: IntArray, covariates: ArrayLike, n_models: int) -> FloatArray:
    """A row for each match, shape (matches, N − 1 + K): 1 and −1 for its models, then covariates.

    Strengths are known but for their sum: the first model's is held at 0, and has no column.
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
    """Strengths and coefficients, shape (N + K,), as a function of how often each item counts."""
    linear_model = optional(
        "sklearn.linear_model", "Bradley–Terry with covariates needs scikit-learn", "scikit-learn"
    )
    regression = linear_model.LogisticRegression(
        C=np.inf, fit_intercept=False, solver="newton-cholesky", tol=_NEWTON_TOLERANCE
    )
    # A tie is half a win for each.
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
