"""What the true scores of a table may be, given their standard errors over items.

A score is a mean over items. To add noise of its size to it would count the noise twice: nearly
tied models would look further apart than they are. So tables of true scores are drawn from their
posterior, which takes the part of the spread that is noise out first. In a benchmark k, for a
model i:

    score[i, k] = m[k] + σ[k]·(√ρ·g[i] + √(1 − ρ)·e[i, k]) + error[i, k],    g, e ~ N(0, 1)

σ, by benchmark, comes from the posterior of a component of variance (Box & Tiao, Bayesian Inference
in Statistical Analysis, 1973, §5.2) under a prior that is even in σ (Gelman, Bayesian Analysis 1,
2006), ρ from its likelihood.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.profile import FloatArray, IntArray

DRAWS = 400
# Shares of the signal that models have in common over benchmarks, to look for ρ among.
_SHARES = (np.arange(10) + 0.5) / 10
# Draws of a component of variance that one is taken of.
_CANDIDATES = 12


def drawn_scores(
    scores: ArrayLike, errors: ArrayLike, *, draws: int = DRAWS, seed: int = 0
) -> FloatArray:
    """Tables of true scores from their posterior, shape (draws, M, B); NaN where a score is.

    Args:
        scores: shape (M, B), models × benchmarks; NaN is a missing score.
        errors: shape (M, B), standard errors of the scores, in their units, independent between
            models and benchmarks. (What models that answer the same items have in common moves no
            rank: `tiebreak.tables.pool_scores` leaves it out.)
        draws: number of tables.
        seed: a whole number of 0 or more.

    Raises:
        RankingError: the shapes differ, or a score has no standard error, or one below 0.
    """
    table, error = np.asarray(scores, dtype=np.float64), np.asarray(errors, dtype=np.float64)
    if error.shape != table.shape:
        raise RankingError(f"errors must have the shape of the scores, {table.shape}")
    present = ~np.isnan(table)
    if not np.all(np.isfinite(error[present]) & (error[present] >= 0)):
        raise RankingError("every score needs a standard error, finite and 0 or more")
    rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(0, 2))))
    n = np.maximum(present.sum(axis=0), 1)
    centre = np.where(present, table, 0).sum(axis=0) / n
    apart = np.where(present, table - centre, 0)
    noise = np.where(present, error**2, 0)
    mean_noise = noise.sum(axis=0) / n
    floor = 1e-6 * mean_noise + 1e-18 * np.abs(centre) ** 2 + 1e-200  # a variance above 0
    signal = _signal(apart, n, mean_noise, floor, draws, rng)
    share = _shared(apart, present, mean_noise, signal, rng)[:, None]
    # g given the scores of all benchmarks, then e given g and the score.
    common, own = np.sqrt(share * signal)[:, None], ((1 - share) * signal)[:, None]
    weight = present / (own + noise)
    precision = 1 + (common**2 * weight).sum(axis=2)
    ability = (common * weight * apart).sum(axis=2) / precision
    ability += rng.standard_normal(ability.shape) / np.sqrt(precision)
    expected = common * ability[:, :, None]
    kept = own * weight
    drawn = centre + expected + kept * (apart - expected)
    drawn += np.sqrt(kept * noise) * rng.standard_normal(drawn.shape)
    return np.where(present, drawn, np.nan)


def _signal(
    apart: FloatArray,
    n: IntArray,
    noise: FloatArray,
    floor: FloatArray,
    draws: int,
    rng: np.random.Generator,
) -> FloatArray:
    """σ² of each benchmark, shape (draws, B), given the squares of what models are apart.

    With a prior that is even in log(σ² + noise), σ² + noise is Σ d² / χ², and at least the noise.
    Out of some such draws one is taken, weighted for a prior that is even in σ.
    """
    from scipy.special import gammainc, gammaincinv

    squares, half = (apart**2).sum(axis=0), np.maximum(n - 1, 1) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        most = np.nan_to_num(gammainc(half, squares / noise / 2), nan=1.0)
    chi = 2 * gammaincinv(half, most * rng.random((_CANDIDATES, draws, len(n))))
    signal = np.maximum(squares / np.maximum(chi, 1e-12) - noise, floor)
    weight = ((signal + noise) / np.sqrt(signal)).cumsum(axis=0)
    chosen = (weight < rng.random(weight.shape[1:]) * weight[-1]).sum(axis=0)
    return np.asarray(np.take_along_axis(signal, chosen[None], axis=0)[0])


def _shared(
    apart: FloatArray,
    present: NDArray[np.bool_],
    noise: FloatArray,
    signal: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """ρ, shape (draws,), by its likelihood given σ; the noise of a benchmark is that of all."""
    likelihood = np.empty((len(signal), len(_SHARES)))
    for column, share in enumerate(_SHARES):
        own, common = (1 - share) * signal + noise, np.sqrt(share * signal)
        loading = 1 + (common**2 / own) @ present.T  # of each model; Woodbury's identity
        fit = ((common / own) @ apart.T) ** 2 / loading - (1 / own) @ (apart**2).T
        scale = np.log(own) @ present.T + np.log(loading)
        likelihood[:, column] = (fit - scale).sum(axis=1) / 2
    likelihood *= (len(apart) - 1) / len(apart)  # the means of the benchmarks are estimated
    weight = np.exp(likelihood - likelihood.max(axis=1, keepdims=True)).cumsum(axis=1)
    reached = rng.random((len(signal), 1)) * weight[:, -1:]
    return np.asarray(_SHARES[(weight < reached).sum(axis=1)])
