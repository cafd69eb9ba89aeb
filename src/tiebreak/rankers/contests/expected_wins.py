"""Expected win scores: algorithm 2 with standard errors, ranks, rank intervals and tiers.

The paper shows four tiers of models (§4.1, figure 3) and gives no rule. Ours are natural breaks
(Fisher, JASA 53, 1958; Jenks, 1967): of all partitions of the sorted values, the one with the
smallest sum of squares within tiers, found exactly. They show where values are close together, and
test nothing.
"""

import importlib.util
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.extras import to_install
from tiebreak.rankers.contests.rounds import (
    Missing,
    Rounds,
    eliminations,
    round_means,
    round_weights,
    strengths,
)
from tiebreak.rankers.contests.study import SUM_BITS, Study, unit_sums, with_control
from tiebreak.rankers.errors import MissingPackageError, RankingError
from tiebreak.rankers.profile import FloatArray, IntArray
from tiebreak.rankers.ranks import competition_ranks
from tiebreak.reason import Reason

Compiled = bool | Literal["auto"]

# Smallest models × rounds × contests for which "auto" compiles. With the control variate NumPy
# takes about 12 ns per unit, compiled code 6 ns; the first compilation on a machine takes 1 to 2 s.
_COMPILE_FROM = 200_000_000
# Minimum number of contests for rank intervals, which assume that means are about normal.
_ENOUGH = 100
# The control variate rounds probabilities, so differences up to this many wins do not count.
ROUNDING = 1e-6


class CsdOptions(TypedDict, total=False):
    """Keyword arguments of `csd` that related functions pass on."""

    iterations: int
    seed: int
    level: float
    missing: Missing
    weights: ArrayLike | None
    control_variate: bool
    n_jobs: int | None
    compiled: Compiled


@dataclass(frozen=True, eq=False, slots=True)
class CsdResult:
    """Expected win scores of M models; arrays of shape (M,).

    `expected_wins`: estimate of E[S], from 0 to K wins. `standard_error`: its Monte Carlo error,
    which more contests reduce; it does not include the choice of benchmarks or items. `rank`:
    competition ranks of `expected_wins`, 1 = best. `rank_lower` (the better) and `rank_upper`: the
    range of ranks that the Monte Carlo error leaves open. A model is surely ahead of another if
    their difference is significant in a two-sided t test with Bonferroni's correction over all
    pairs, so that all M intervals hold together with probability `level`; the range goes from 1 +
    the number of models surely ahead to M − the number surely behind.

    `reason` says why errors or intervals are NaN, otherwise it is None. `control_variate` is
    whether one was used: below 1,000 contests its pilot does not pay.
    """

    expected_wins: FloatArray
    standard_error: FloatArray
    rank: FloatArray
    rank_lower: FloatArray
    rank_upper: FloatArray
    iterations: int
    seed: int
    eliminate: tuple[int, ...]
    level: float
    control_variate: bool
    reason: Reason | None


def csd(
    scores: ArrayLike,
    rounds: Rounds | None = None,
    eliminate: int | Sequence[int] = 0,
    *,
    iterations: int = 100_000,
    seed: int = 0,
    level: float = 0.95,
    missing: Missing = "error",
    weights: ArrayLike | None = None,
    control_variate: bool = True,
    n_jobs: int | None = None,
    compiled: Compiled = "auto",
) -> CsdResult:
    """Rank models by their expected wins in simulated Swiss-system contests (algorithms 1 and 2).

    The same arguments give identical bytes on every machine, for any `n_jobs` and `compiled`.

    Args:
        scores: shape (M, B), models × benchmarks, higher is better.
        rounds: as in `win_rates`; by default every benchmark is a round, in order.
        eliminate: T, the number of models removed after each round: one number, or one per round.
        iterations: N, the number of contests, at least 1.
        seed: a whole number of 0 or more.
        level: confidence level of the rank intervals, in (0, 1).
        missing: what NaN means, as in `win_rates`.
        weights: shape (K,), above 0: every contest has a random order of rounds in which heavier
            ones tend to come first (`weighted_rounds`). T_k belongs to the k-th round played.
        control_variate: subtract known luck from the scores (`contests.control`), without bias. It
            takes about four times the time of plain contests and divides the variance by 3 to 16:
            about even without elimination, and better the more models are eliminated.
        n_jobs: None = all cores if joblib is installed and there is enough work; 1 = in this
            process; otherwise as in joblib, with the backend that `joblib.parallel_config` sets.
        compiled: True = the numba engine; "auto" = numba if it is installed and the work repays the
            compilation (models × rounds × iterations ≥ 2·10⁸).

    Raises:
        RankingError: the scores, rounds, weights or settings cannot be used.
        MissingPackageError: numba or joblib is requested and not installed.
    """
    study = prepare(
        scores,
        rounds,
        eliminate,
        iterations=iterations,
        seed=seed,
        level=level,
        missing=missing,
        weights=weights,
        control_variate=control_variate,
        compiled=compiled,
    )
    [sums] = unit_sums([study], n_jobs)
    return result_of(study, sums, level)


def result_of(study: Study, sums: IntArray, level: float) -> CsdResult:
    """Compute the result of a study from `sums`, shape (units, M), as `unit_sums` returns them."""
    mean, covariance = mean_and_covariance(sums, study.sizes)
    lower, upper = _rank_interval(mean, covariance, len(study.sizes), study.iterations, level)
    return CsdResult(
        # With known luck subtracted, the mean can leave the range for a near-perfect record.
        expected_wins=np.clip(mean, 0, len(study.eliminate)),
        standard_error=np.sqrt(np.diagonal(covariance)),
        rank=competition_ranks(mean),
        rank_lower=lower,
        rank_upper=upper,
        iterations=study.iterations,
        seed=study.seed,
        eliminate=study.eliminate,
        level=level,
        control_variate=study.control is not None,
        reason=_reason(study.iterations),
    )


def prepare(
    scores: ArrayLike,
    rounds: Rounds | None,
    eliminate: int | Sequence[int],
    **options: Unpack[CsdOptions],
) -> Study:
    """Make a checked study from `csd`'s arguments; `n_jobs` is left to the caller."""
    means = round_means(scores, rounds, options.get("missing", "error"))
    n_models, n_rounds = means.shape
    iterations, seed = options.get("iterations", 100_000), options.get("seed", 0)
    _check(iterations, seed, options.get("level", 0.95))
    work = n_models * n_rounds * iterations
    study = Study(
        strength=strengths(means),
        eliminate=eliminations(eliminate, n_rounds),
        iterations=iterations,
        seed=seed,
        weights=round_weights(options.get("weights"), n_rounds),
        compiled=_use_compiled(options.get("compiled", "auto"), work),
    )
    return with_control(study) if options.get("control_variate", True) else study


def mean_and_covariance(
    sums: IntArray, sizes: IntArray, divisor: int = 1
) -> tuple[FloatArray, FloatArray]:
    """Mean scores and the covariance matrix of the means, from independent units of contests.

    Integers until the last step, so that neither the order of summation nor BLAS changes a bit.

    Args:
        sums: shape (units, M), as multiples of 2^-SUM_BITS / divisor.
        sizes: shape (units,), contests in each unit.
        divisor: divisor in the unit of `sums`.

    Returns:
        Shapes (M,) and (M, M); the covariance is NaN if there is only one unit.
    """
    contests, units = int(sizes.sum()), len(sizes)
    # Sum high bits and low 16 bits separately, so that neither sum can overflow.
    halves = (sums >> 16).sum(axis=0), (sums & 0xFFFF).sum(axis=0)
    totals = [int(high) * 2**16 + int(low) for high, low in zip(*halves, strict=True)]
    scale = divisor * 2.0**SUM_BITS
    mean = np.array([total / contests / scale for total in totals])
    if units == 1:
        return mean, np.full((len(mean), len(mean)), math.nan)
    centre = np.array([total // contests for total in totals])
    deviation = sums - sizes[:, None] * centre
    # Keep so many bits that sums of products of two deviations stay below 2^53 and are exact.
    spare = int(np.abs(deviation).max()).bit_length() - (52 - units.bit_length()) // 2
    shift = max(0, spare)
    exact = (deviation >> shift).astype(np.float64)
    products = np.einsum("ui,uj->ij", exact, exact) * (2.0**shift / scale) ** 2
    # Unbiased for units of any sizes n: variance of a contest = Σ dd' / (N − Σ n² / N).
    return mean, products / float(contests**2 - int(np.sum(sizes**2)))


def critical_value(level: float, comparisons: int, units: int) -> float:
    """Two-sided quantile of Student's t with Bonferroni's correction."""
    from scipy.special import stdtrit

    return float(stdtrit(units - 1, 1 - (1 - level) / (2 * comparisons)))


def _rank_interval(
    mean: FloatArray, covariance: FloatArray, units: int, iterations: int, level: float
) -> tuple[FloatArray, FloatArray]:
    n_models = len(mean)
    if iterations < _ENOUGH:
        return np.full(n_models, np.nan), np.full(n_models, np.nan)
    variance = np.diagonal(covariance)
    error = np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2 * covariance, 0))
    bound = critical_value(level, n_models * (n_models - 1) // 2, units) * error
    ahead: NDArray[np.bool_] = mean[:, None] - mean[None, :] > bound + ROUNDING
    return 1.0 + ahead.sum(axis=0), n_models - ahead.sum(axis=1).astype(np.float64)


def _reason(iterations: int) -> Reason | None:
    if iterations == 1:
        return Reason("one_contest")
    if iterations < _ENOUGH:
        return Reason("few_contests", least=_ENOUGH)
    return None


def _check(iterations: int, seed: int, level: float) -> None:
    if iterations < 1:
        raise RankingError(f"iterations must be at least 1, got {iterations}")
    if seed < 0:
        raise RankingError(f"seed must be 0 or more, got {seed}")
    if not 0 < level < 1:
        raise RankingError(f"level must lie between 0 and 1, got {level}")


def _use_compiled(compiled: Compiled, work: int) -> bool:
    if compiled is False or (compiled == "auto" and work < _COMPILE_FROM):
        return False
    installed = importlib.util.find_spec("numba") is not None
    if compiled is True and not installed:
        raise MissingPackageError(f"Compiled contests need numba: {to_install('numba', 'numba')}")
    return installed


def natural_breaks(values: ArrayLike, tiers: int = 4) -> IntArray:
    """Tier of each value, 1 = the highest, shape (n,). Equal values share a tier.

    Args:
        values: shape (n,), finite; higher is better.
        tiers: number of tiers, from 1 to the number of distinct values.

    Raises:
        RankingError: a value is not finite, or there are fewer distinct values than tiers.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 1 or not np.isfinite(table).all():
        raise RankingError(f"values must be finite, of shape (n,), got {table}")
    distinct, group, n = np.unique(-table, return_inverse=True, return_counts=True)
    if not 1 <= tiers <= len(distinct):
        raise RankingError(
            f"{len(distinct)} different values cannot be put into {tiers} tiers; ask for 1 to "
            f"{len(distinct)}"
        )
    within = _squares(distinct, n)
    # least[end]: sum of squares within tiers of the best partition of the first `end` values.
    least, cuts = np.r_[0.0, np.full(len(distinct), np.inf)], []
    for _ in range(tiers):
        sums = least[:-1, None] + within
        cuts.append(np.argmin(sums, axis=0))
        least = np.r_[np.inf, sums.min(axis=0)]
    tier, end = np.empty(len(distinct), dtype=np.int64), len(distinct)
    for number in range(tiers, 0, -1):
        start = int(cuts[number - 1][end - 1])
        tier[start:end], end = number, start
    return tier[group]


def _squares(values: FloatArray, n: IntArray) -> FloatArray:
    """Sum of squares about the mean of values start … last, [start, last]; inf if last < start."""
    centred = values - values.mean()
    sums = [np.r_[0.0, np.cumsum(n * centred**power)] for power in range(3)]
    weight, total, square = (running[None, 1:] - running[:-1, None] for running in sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        within = np.maximum(square - total**2 / weight, 0)
    return np.where(weight > 0, within, np.inf)
