"""The rounds of a contest: their benchmarks, the models' strengths in them, and their order.

A round is a benchmark or a group of benchmarks; with a single benchmark, a tier of items by
difficulty (§5.1.2). The order of rounds is fixed, or random by weight (§5.1.3).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.rankers.errors import MissingScoreError, RankingError
from tiebreak.rankers.profile import FloatArray, IntArray, ratio
from tiebreak.rankers.ranks import DECIMALS

Rounds = Sequence[Sequence[int]]
Missing = Literal["error", "available", "worst"]

# Models are numbered in 16 bits, and the random words of a block take 16 kB · M · K.
MOST_MODELS = 1_000
MOST_PLACES = 100_000


def win_rates(
    scores: ArrayLike, rounds: Rounds | None = None, *, missing: Missing = "error"
) -> FloatArray:
    """W[i, j, k]: whether model i beats model j in round k (§2.1.1).

    Args:
        scores: shape (M, B), models × benchmarks, higher is better.
        rounds: the benchmarks (columns) of each round, in the order of play; by default every
            benchmark is a round. A round is won by the higher mean score over its benchmarks.
        missing: treatment of NaN scores; "error": raise `MissingScoreError`; "available": average
            over the available benchmarks, and raise if a model has none in a round; "worst": like
            "available", but a model without any loses to all that have one and ties with others.

    Returns:
        Shape (M, M, K), values 0, ½ and 1; ½ is a tie (means that differ by less than 1e-12), as is
        the diagonal. W[i, j, k] + W[j, i, k] = 1.

    Raises:
        RankingError: shapes do not fit, a score is infinite or missing, or a round is empty, names
            no benchmark of the table or names one twice.
    """
    strength = strengths(round_means(scores, rounds, missing))
    sign = np.sign(strength.T[:, None, :] - strength.T[None, :, :])
    return np.asarray((1 + sign) / 2, dtype=np.float64)


def round_means(scores: ArrayLike, rounds: Rounds | None, missing: Missing) -> FloatArray:
    """Mean score of each model in each round, shape (M, K); −inf for missing ones with "worst"."""
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 1:
        raise RankingError(
            "scores must have shape (models, benchmarks), with at least two models and one "
            f"benchmark, got {table.shape}"
        )
    if len(table) > MOST_MODELS:
        raise RankingError(f"at most {MOST_MODELS:,} models can meet, got {len(table):,}")
    if np.isinf(table).any():
        model, benchmark = np.argwhere(np.isinf(table))[0]
        raise RankingError(f"the score of model {model} in benchmark {benchmark} is infinite")
    if missing not in ("error", "available", "worst"):
        raise RankingError(f"missing must be 'error', 'available' or 'worst', not {missing!r}")
    n_rounds = table.shape[1] if rounds is None else len(rounds)
    if len(table) * n_rounds > MOST_PLACES:
        raise RankingError(
            f"{len(table):,} models in {n_rounds:,} rounds are too many: models times rounds may "
            f"be {MOST_PLACES:,}; give fewer models, or put benchmarks together in rounds"
        )
    chosen = _rounds(rounds, table.shape[1])
    played = np.isin(np.arange(table.shape[1]), [column for names in chosen for column in names])
    if missing == "error" and np.isnan(table[:, played]).any():
        model, benchmark = np.argwhere(np.isnan(table) & played)[0].tolist()
        raise MissingScoreError(
            f"model {model} has no score in benchmark {benchmark}; leave one of them out, or say "
            "what a missing score means: missing = available or worst",
            model=model,
            benchmarks=(benchmark,),
        )
    means = (
        table.copy()
        if rounds is None
        else np.stack([_mean(table[:, list(names)]) for names in chosen], axis=1)
    )
    if missing == "worst":
        return np.where(np.isnan(means), -math.inf, means)
    if np.isnan(means).any():
        model, number = np.argwhere(np.isnan(means))[0].tolist()
        raise MissingScoreError(
            f"model {model} has no score in any benchmark of round {number}; leave one of them "
            "out, or let it lose such rounds: missing = worst",
            model=model,
            benchmarks=chosen[number],
        )
    return means


def strengths(means: FloatArray) -> IntArray:
    """Dense ranks of the models in each round, shape (K, M): 0 is the weakest, equal is a tie."""
    # Means of the same numbers added in another order differ in the last bits. + 0.0 removes −0.0.
    rounded = means.round(DECIMALS) + 0.0
    places = [np.unique(column, return_inverse=True)[1] for column in rounded.T]
    return np.stack(places).astype(np.int64)


def eliminations(eliminate: int | Sequence[int], n_rounds: int) -> tuple[int, ...]:
    """Checked T_k of every round; raises RankingError."""
    counts = (
        (eliminate,) * n_rounds if isinstance(eliminate, int | np.integer) else tuple(eliminate)
    )
    if len(counts) != n_rounds:
        raise RankingError(
            f"eliminate must be one number or one per round ({n_rounds}), got {len(counts)}"
        )
    if any(not isinstance(t, int | np.integer) or t < 0 for t in counts):
        raise RankingError(f"eliminate must be whole numbers of 0 or more, got {eliminate}")
    return tuple(int(t) for t in counts)


def round_weights(weights: ArrayLike | None, n_rounds: int) -> FloatArray | None:
    """Checked weights of the rounds, shape (K,), or None; raises RankingError."""
    if weights is None:
        return None
    values = np.asarray(weights, dtype=np.float64)
    if n_rounds == 0:
        raise RankingError("there are no weights; give one for each round")
    if values.shape != (n_rounds,):
        raise RankingError(f"weights must have shape ({n_rounds},), got {values.shape}")
    if not np.all(np.isfinite(values) & (values > 0)):
        raise RankingError(f"weights must be finite and above 0, got {values.tolist()}")
    return values


def _mean(cells: FloatArray) -> FloatArray:
    present = ~np.isnan(cells)
    return ratio(np.where(present, cells, 0.0).sum(axis=1), present.sum(axis=1))


def _rounds(rounds: Rounds | None, n_benchmarks: int) -> list[tuple[int, ...]]:
    if rounds is None:
        return [(column,) for column in range(n_benchmarks)]
    chosen = [tuple(int(column) for column in names) for names in rounds]
    if not chosen:
        raise RankingError("there must be at least one round")
    for number, columns in enumerate(chosen):
        if not columns or len(set(columns)) < len(columns):
            raise RankingError(f"round {number} must name benchmarks, each once: {columns}")
        if min(columns) < 0 or max(columns) >= n_benchmarks:
            raise RankingError(
                f"round {number} names benchmark {columns}, but there are only columns 0 … "
                f"{n_benchmarks - 1}"
            )
    return chosen


def weighted_rounds(weights: ArrayLike, *, draws: int = 1, seed: int = 0) -> IntArray:
    """Draw orders of the rounds in which heavier rounds tend to come first (§5.1.3).

    For each place one of the remaining rounds is drawn with probability proportional to its weight.
    This is the distribution of Efraimidis & Spirakis (2006), whose keys u^(1/w) the paper sorts in
    descending order; powers are avoided because their last bit differs between machines. `csd(…,
    weights=…)` draws a new order for every contest.

    Args:
        weights: shape (K,), above 0; only their ratios count.
        draws: number of orders, at least 1.
        seed: the same seed gives the same orders on every machine.

    Returns:
        Shape (draws, K): each row is a permutation of 0 … K − 1 in the order of play.

    Raises:
        RankingError: a weight is not above 0, infinite or NaN, there is no weight, or `draws` < 1.
    """
    table = np.asarray(weights, dtype=np.float64)
    checked = round_weights(table, table.size)
    if checked is None or draws < 1:
        raise RankingError(f"draws must be at least 1, got {draws}")
    stream = np.random.SFC64(np.random.SeedSequence(seed))
    return weighted_orders(uniforms(stream, draws, checked.size), checked)


def uniforms(stream: np.random.SFC64, rows: int, columns: int) -> FloatArray:
    """Random multiples of 2^-32 in [0, 1), shape (rows, columns), the same on every machine."""
    high = stream.random_raw((rows, columns)) >> np.uint64(32)
    return high.astype(np.float64) * 2.0**-32


def weighted_orders(uniform: FloatArray, weights: FloatArray) -> IntArray:
    """One order for each row of `uniform`; both have shape (rows, K)."""
    rows = np.arange(len(uniform))
    # A weight far below the largest must not underflow to 0, or its round would never be drawn.
    share = np.maximum(weights / weights.max(), np.finfo(np.float64).tiny)
    left = np.tile(share, (len(uniform), 1))
    orders = np.empty(uniform.shape, dtype=np.int64)
    for place in range(weights.size):
        reached = np.cumsum(left, axis=1)
        target = uniform[:, place] * reached[:, -1]
        # The first round whose running sum exceeds the target; rounds already drawn have share 0.
        orders[:, place] = np.sum(reached <= target[:, None], axis=1)
        left[rows, orders[:, place]] = 0.0
    return orders


TENTHS = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)


@dataclass(frozen=True, eq=False, slots=True)
class Tiers:
    """Items of a benchmark grouped by difficulty, the easiest tier first.

    `scores`, shape (M, tiers): mean score of each model over the tier's items, as input to `csd`.
    `names`: the range of success rates of each tier. `n_items`, shape (tiers,). `tier`, shape
    (items,): the tier of each item. `dropped`: names of the tiers without items.
    """

    scores: FloatArray
    names: tuple[str, ...]
    n_items: IntArray
    tier: IntArray
    dropped: tuple[str, ...]


def tiers(item_scores: ArrayLike, bounds: Sequence[float] = TENTHS) -> Tiers:
    """Split one benchmark into tiers by the items' mean success rate over the models (§5.1.2).

    The default is ten tiers: above 90%, 80–90%, …, at most 10%. (The paper asks for ten, but its
    list of ranges goes from "> 90%" to "70%–80%" and ends with the ninth; 80–90% is left out there
    by mistake.) An item exactly on a bound belongs to the harder tier.

    Args:
        item_scores: shape (items, M), in [0, 1].
        bounds: descending success rates, between 0 and 1, that separate the tiers.

    Raises:
        RankingError: the table is not two-dimensional or is empty, has missing scores or scores
            outside [0, 1], or the bounds do not descend within (0, 1).
    """
    table = np.asarray(item_scores, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape:
        raise RankingError(f"item_scores must have shape (items, models), got {table.shape}")
    if np.isnan(table).any():
        item, model = np.argwhere(np.isnan(table))[0]
        raise MissingScoreError(f"model {model} has no score in item {item}")
    if table.min() < 0 or table.max() > 1:
        raise RankingError("item scores must lie between 0 and 1, for success rates")
    edges = (1.0, *(float(bound) for bound in bounds), 0.0)
    if not all(high > low for high, low in pairwise(edges)):
        raise RankingError(f"bounds must descend within (0, 1), got {list(bounds)}")
    rates = table.mean(axis=1).round(DECIMALS)
    place = np.sum(rates[:, None] <= np.array(edges[1:-1]).round(DECIMALS), axis=1)
    kept, tier, n_items = np.unique(place, return_inverse=True, return_counts=True)
    ranges = [f"{low:.4g}–{high:.4g}" for high, low in pairwise(edges)]
    return Tiers(
        scores=np.stack([table[place == number].mean(axis=0) for number in kept], axis=1),
        names=tuple(ranges[number] for number in kept),
        n_items=n_items.astype(np.int64),
        tier=tier.astype(np.int64),
        dropped=tuple(name for number, name in enumerate(ranges) if number not in kept),
    )
