"""Bradley–Terry with covariates: strengths of models whose answers are alike in length or style.

    log-odds that i beats j = s_i − s_j + Σ_k β_k x_k

where x are differences between the two answers, such as (a − b) / (a + b) of their lengths. This is
LMArena's style control (T. Li, A. N. Angelopoulos and W.-L. Chiang 2024, "Does style matter?",
lmsys.org/blog/2024-08-28-style-control); AlpacaEval controls length alike (Y. Dubois et al. 2024,
arXiv:2404.04475). The fit is scikit-learn's logistic regression without a penalty.

A covariate explains what goes with it. Where better models write longer answers because they say
more, control for length takes that from them.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.extras import to_install
from tiebreak.rankers.errors import MissingPackageError, NoFitError, RankingError
from tiebreak.rankers.intervals import Estimate
from tiebreak.rankers.matches import Matches, bootstrap_matches
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.strength import finite_fit_exists, refuse_separable
from tiebreak.rankers.uncertainty import (
    ItemBootstrap,
    Resampling,
    bootstrap_leaderboard,
    item_numbers,
)

_TOLERANCE = 1e-9
_DECIMALS = 7
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
    out and counted, as there. A draw takes some 10 ms for 8 models and 4,000 matches.

    Args:
        first: shape (matches,), columns of the models, 0 … n_models − 1.
        second: shape (matches,), columns of their opponents.
        result: shape (matches,), 1 = the first won, 0 = the second won, ½ = tie.
        items: shape (matches,), the label of the item that each match is about.
        covariates: shape (matches, K), finite; a difference that is positive where the first
            answer has more, so that it changes sign with the sides.
        n_models: number of models, N.
        how: level, draws and seed of the intervals.

    Returns:
        The N log-strengths (their sum is 0) and the K coefficients, log-odds per unit, both with
        intervals over items.

    Raises:
        NoFitError: no finite numbers fit the matches, or a covariate follows from who plays.
        RankingError: bad input.
        MissingPackageError: scikit-learn is not installed.
    """
    matches = Matches.of(first, second, result, items, n_models)
    fit = _Fit(first, second, result, items, covariates, n_models)
    per_item = matches.wins_per_item()
    drawn: list[FloatArray] = []

    def strengths(counts: FloatArray) -> FloatArray:
        wins = (counts @ per_item).reshape(-1, n_models, n_models)
        both = [
            fit(row) if finite_fit_exists(table) else fit.none
            for row, table in zip(counts, wins, strict=True)
        ]
        drawn.append(np.stack(both))
        return drawn[-1][:, :n_models]

    ones = np.ones((1, matches.n_items))
    refuse_separable((ones @ per_item).reshape(n_models, n_models))
    fit.refuse_aliases()
    if np.isnan(strengths(ones)).any():
        raise NoFitError(
            "the differences between answers decide all matches of a kind, so no finite strengths "
            "and coefficients fit"
        )
    drawn.clear()
    fitted = bootstrap_matches(strengths, matches, how=how)
    # The same draws in the same batches once more: the other half of the same fits.
    halves = iter(drawn)
    found = bootstrap_leaderboard(lambda _: next(halves)[:, n_models:], matches.n_items, how=how)
    effects = tuple(
        Estimate(float(value), float(lower), float(upper), matches.n_items, fitted.reason)
        for value, lower, upper in zip(found.score, found.lower, found.upper, strict=True)
    )
    return fitted, effects


class _Fit:
    """Strengths and coefficients, shape (N + K,), as a function of how often each item counts."""

    def __init__(
        self,
        first: ArrayLike,
        second: ArrayLike,
        result: ArrayLike,
        items: ArrayLike,
        covariates: ArrayLike,
        n_models: int,
    ) -> None:
        one, two, score = np.asarray(first), np.asarray(second), np.asarray(result, np.float64)
        known = np.asarray(covariates, dtype=np.float64)
        if known.ndim != 2 or len(known) != len(one) or not known.shape[1]:
            raise RankingError(f"expected covariates of {len(one)} matches, got {known.shape}")
        if not np.isfinite(known).all():
            raise RankingError("covariates must be finite")
        self.n_models = n_models
        self.none = np.full(n_models + known.shape[1], np.nan)
        design = np.zeros((len(one), n_models + known.shape[1]))
        rows = np.arange(len(one))
        design[rows, one], design[rows, two] = 1, -1
        design[:, n_models:] = known
        # Strengths are known but for their sum: the first model's is held at 0.
        self._design = design[:, 1:]
        # A tie is half a win for each.
        self._rows = np.concatenate([np.flatnonzero(score > 0), np.flatnonzero(score < 1)])
        self._won = np.repeat([1, 0], [np.sum(score > 0), np.sum(score < 1)])
        self._share = np.where(self._won, score[self._rows], 1 - score[self._rows])
        self._item = item_numbers(items, len(one))[1]
        self._regression = _logistic_regression()

    def refuse_aliases(self) -> None:
        """Refuse covariates that follow from the two models, or from one another."""
        if np.linalg.matrix_rank(self._design) < self._design.shape[1]:
            raise NoFitError(
                "the differences between answers follow from which models meet, or from one "
                "another, so that what they do cannot be told apart"
            )

    def __call__(self, counts: FloatArray) -> FloatArray:
        weight = counts[self._item[self._rows]] * self._share
        there = weight > 0
        rows, won, weight = self._rows[there], self._won[there], weight[there]
        design = self._design[rows]
        spread = np.linalg.eigvalsh(design.T @ (weight[:, None] * design))
        if len(np.unique(won)) < 2 or spread[0] < 1e-9 * spread[-1]:
            return self.none
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = self._regression.fit(design, won, sample_weight=weight)
        found = model.coef_[0]
        if not np.isfinite(found).all() or np.abs(design @ found).max() > _SURE:
            return self.none
        n = self.n_models
        strengths = np.concatenate([[0], found[: n - 1]])
        both: FloatArray = np.concatenate([strengths - strengths.mean(), found[n - 1 :]])
        return both.round(_DECIMALS)


def _logistic_regression() -> Any:
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise MissingPackageError(
            "Bradley–Terry with covariates needs scikit-learn: "
            + to_install("rankings", "scikit-learn")
        ) from error
    return LogisticRegression(
        C=np.inf, fit_intercept=False, solver="newton-cholesky", tol=_TOLERANCE
    )
