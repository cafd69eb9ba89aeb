"""Saturation of a pool: what native scores can still tell, benchmark by benchmark."""

import math
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiebreak.candidates import CandidatePool
from tiebreak.rankers.saturation import Saturation
from tiebreak.rankers.saturation import saturation as saturation_of


@dataclass(frozen=True, slots=True)
class BenchmarkSaturation:
    """One benchmark of a pool; columns of `saturation` are `models`, by name."""

    benchmark: str
    models: tuple[str, ...]
    saturation: Saturation


def saturation(
    pool: CandidatePool, *, level: float = 0.95, power: float = 0.8, seed: int = 0
) -> tuple[BenchmarkSaturation, ...]:
    """How saturated each benchmark of a pool is, by its native scores.

    An item that was answered in several epochs counts once, with the mean of its scores; a score
    that the logs do not hold is left out.

    Args:
        pool: aligned candidates.
        level: confidence level, in (0, 1).
        power: probability with which a detectable difference is detected, in (0, 1).
        seed: seed of the test of neighbours.

    Returns:
        One result per benchmark, in the order of the pool. See `tiebreak.rankers.saturation`.

    Raises:
        RankingError: level or power are out of range.
    """
    return tuple(
        BenchmarkSaturation(
            benchmark,
            pool.models_of(benchmark),
            saturation_of(native_scores(pool, benchmark), level=level, power=power, seed=seed),
        )
        for benchmark in pool.benchmarks
    )


def native_scores(pool: CandidatePool, benchmark: str) -> NDArray[np.float64]:
    """Native scores, shape (items, models), means over epochs."""
    models = pool.models_of(benchmark)
    epochs: dict[str, list[list[float]]] = defaultdict(list)
    for item in pool.items_of(benchmark):
        row = pool.candidates[item.key]
        epochs[item.item_id].append([row[model].native_score for model in models])
    return np.array(
        [[_mean(column) for column in zip(*rows, strict=True)] for rows in epochs.values()]
    )


def _mean(scores: tuple[float, ...]) -> float:
    known = [score for score in scores if not math.isnan(score)]
    return math.fsum(known) / len(known) if known else math.nan
