"""Metrics of ranks that were written back: what a model's own log says about its leaderboard.

A score `{"rank": 2.0, "borda": 0.86}` stands at every sample that was ranked. `evals_df` shows the
metrics as `score_tiebreak_seal_borda`, `…_stderr` and `…_place`, whatever reduces the epochs of the
log: only the epoch that was judged has a score.
"""

import math

import numpy as np
from inspect_ai.scorer import Metric, SampleScore, metric
from numpy.typing import NDArray


@metric(scores="unreduced")
def borda() -> Metric:
    """Mean normalized Borda score over the ranked samples, in [0, 1] (SEAL, §2.3)."""

    def compute(scores: list[SampleScore]) -> float:
        values = _bordas(scores)
        return float(np.mean(values)) if values.size else math.nan

    return compute


@metric(name="stderr", scores="unreduced")
def borda_stderr() -> Metric:
    """Standard error of that mean over samples; NaN below two samples."""

    def compute(scores: list[SampleScore]) -> float:
        values = _bordas(scores)
        if values.size < 2:
            return math.nan
        return float(np.std(values, ddof=1) / math.sqrt(values.size))

    return compute


@metric(scores="unreduced")
def place(value: int | None, of: int) -> Metric:
    """The model's place on the leaderboard, 1 = best: no log of one model could compute it.

    Args:
        value: The place; None where the leaderboard has none, which gives NaN.
        of: Number of models on the leaderboard.
    """

    def compute(scores: list[SampleScore]) -> float:
        return math.nan if value is None else float(value)

    return compute


def _bordas(scores: list[SampleScore]) -> NDArray[np.float64]:
    values = [score.score.value for score in scores]
    return np.array([value["borda"] for value in values if isinstance(value, dict)], np.float64)
