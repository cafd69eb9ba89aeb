"""What a contest is played with: round scores, who is stronger in each round, and settings."""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.rankers.errors import (
    InfiniteRankError,
    MissingScoreError,
    RankingError,
    ShapeError,
)
from tiebreak.rankers.ranks import DECIMALS

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Rounds = Sequence[Sequence[int]]
Missing = Literal["error", "available", "worst"]

# The engine numbers models in 16 bits, and a block of its random words takes 16 kB · M · K.
MOST_MODELS = 1_000


class ContestSettingError(RankingError):
    """A setting of a contest (rounds, eliminations, weights, iterations, …) is out of range."""


def win_rates(
    scores: ArrayLike, rounds: Rounds | None = None, *, missing: Missing = "error"
) -> FloatArray:
    """W[i, j, k]: whether model i beats model j in round k (§2.1.1).

    Args:
        scores: shape (M, B), models × benchmarks, higher is better.
        rounds: the benchmarks (columns) of each round, in the order of play; by default every
            benchmark is a round. A round is won by the higher mean score over its benchmarks.
        missing: what a score that is NaN means; "error": `MissingScoreError`; "available": the
            mean is over the benchmarks that are present, and a model without any in a round is an
            error; "worst": like "available", but a model without any loses to all that have one
            and ties with the others.

    Returns:
        Shape (M, M, K), values 0, ½ and 1; ½ is a tie (means that differ by less than 1e-12) and
        stands on the diagonal. W[i, j, k] + W[j, i, k] = 1.

    Raises:
        RankingError: shapes do not fit, a score is infinite or missing, or a round is empty, names
            no benchmark of the table or names one twice.
    """
    strength = strengths(round_means(scores, rounds, missing))
    sign = np.sign(strength.T[:, None, :] - strength.T[None, :, :])
    return np.asarray((1 + sign) / 2, dtype=np.float64)


def round_means(scores: ArrayLike, rounds: Rounds | None, missing: Missing) -> FloatArray:
    """Mean score of each model in each round, shape (M, K); −inf where "worst" says so."""
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 1:
        raise ShapeError(
            "scores must have shape (models, benchmarks), with at least two models and one "
            f"benchmark, got {table.shape}"
        )
    if len(table) > MOST_MODELS:
        raise ContestSettingError(f"at most {MOST_MODELS:,} models can meet, got {len(table):,}")
    if np.isinf(table).any():
        model, benchmark = np.argwhere(np.isinf(table))[0]
        raise InfiniteRankError(f"the score of model {model} in benchmark {benchmark} is infinite")
    if missing not in ("error", "available", "worst"):
        raise ContestSettingError(
            f"missing must be 'error', 'available' or 'worst', not {missing!r}"
        )
    chosen = _rounds(rounds, table.shape[1])
    played = np.isin(np.arange(table.shape[1]), [column for names in chosen for column in names])
    if missing == "error" and np.isnan(table[:, played]).any():
        model, benchmark = np.argwhere(np.isnan(table) & played)[0].tolist()
        raise MissingScoreError(
            f"model {model} has no score in benchmark {benchmark}; leave one of them out, or say "
            "what a missing score means: missing='available' or missing='worst'",
            model=model,
            benchmarks=(benchmark,),
        )
    columns = [_mean(table[:, list(names)]) for names in chosen]
    means = np.stack(columns, axis=1)
    if missing == "worst":
        return np.where(np.isnan(means), -math.inf, means)
    if np.isnan(means).any():
        model, number = np.argwhere(np.isnan(means))[0].tolist()
        raise MissingScoreError(
            f"model {model} has no score in any benchmark of round {number}; leave one of them "
            "out, or let it lose such rounds: missing='worst'",
            model=model,
            benchmarks=chosen[number],
        )
    return means


def strengths(means: FloatArray) -> IntArray:
    """Dense ranks of the models in each round, shape (K, M): 0 is the weakest, equal is a tie."""
    return np.stack(
        [np.unique(column, return_inverse=True)[1].astype(np.int64) for column in _rounded(means).T]
    )


def eliminations(eliminate: int | Sequence[int], n_rounds: int) -> tuple[int, ...]:
    """T_k of every round."""
    each = (eliminate,) * n_rounds if isinstance(eliminate, int | np.integer) else tuple(eliminate)
    if len(each) != n_rounds:
        raise ContestSettingError(
            f"eliminate must be one number or one per round ({n_rounds}), got {len(each)}"
        )
    if any(not isinstance(t, int | np.integer) or t < 0 for t in each):
        raise ContestSettingError(f"eliminate must be whole numbers of 0 or more, got {eliminate}")
    return tuple(int(t) for t in each)


def round_weights(weights: ArrayLike | None, n_rounds: int) -> FloatArray | None:
    """Checked weights of the rounds, shape (K,)."""
    if weights is None:
        return None
    values = np.asarray(weights, dtype=np.float64)
    if values.shape != (n_rounds,) or n_rounds == 0:
        raise ShapeError(f"weights must have shape ({n_rounds},), got {values.shape}")
    if not np.all(np.isfinite(values) & (values > 0)):
        raise ContestSettingError(f"weights must be finite and above 0, got {values.tolist()}")
    return values


def _mean(cells: FloatArray) -> FloatArray:
    present = ~np.isnan(cells)
    count = present.sum(axis=1)
    total = np.where(present, cells, 0.0).sum(axis=1)
    mean: FloatArray = np.divide(total, count, out=np.full(len(cells), np.nan), where=count > 0)
    return mean


def _rounded(means: FloatArray) -> FloatArray:
    # Means of the same numbers, added in another order, differ in the last bits.
    return means.round(DECIMALS) + 0.0  # no −0.0


def _rounds(rounds: Rounds | None, n_benchmarks: int) -> list[tuple[int, ...]]:
    if rounds is None:
        return [(column,) for column in range(n_benchmarks)]
    chosen = [tuple(int(column) for column in names) for names in rounds]
    if not chosen:
        raise ContestSettingError("there must be at least one round")
    for number, columns in enumerate(chosen):
        if not columns or len(set(columns)) < len(columns):
            raise ContestSettingError(f"round {number} must name benchmarks, each once: {columns}")
        if min(columns) < 0 or max(columns) >= n_benchmarks:
            raise ContestSettingError(
                f"round {number} names benchmark {columns}, but there are only columns 0 … "
                f"{n_benchmarks - 1}"
            )
    return chosen
