"""Scores by stars over several benchmarks, or styles of prompting one (LLMEval-Fair, table 2).

The same questions may have been asked in each style: what two styles differ by is then paired by
question, and so is the mean over styles.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tiebreak.analysis.standing import mean
from tiebreak.analysis.star_table import StarTable
from tiebreak.rankers.intervals import Estimate, mean_in_bounds, paired_interval
from tiebreak.rankers.linked import LinkedScores
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.uncertainty import Resampling

_FULL = 100.0


@dataclass(frozen=True, slots=True)
class StyleRow:
    """One model over benchmarks, all numbers 0 to 100, in the order of `StarStyles.benchmarks`.

    `mean` is the plain mean of the `scores`; `differences` are those of each benchmark from the
    first one, in points.
    """

    model: str
    mean: Estimate
    scores: tuple[float, ...]
    differences: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True)
class StarStyles:
    """The models that were judged on each of several benchmarks, best mean first."""

    benchmarks: tuple[str, ...]
    rows: tuple[StyleRow, ...]
    level: float


def styles_of(
    tables: Mapping[str, StarTable], scores: Mapping[str, LinkedScores], how: Resampling
) -> StarStyles | None:
    """Benchmarks side by side; None unless two have a model in common."""
    names = tuple(tables)
    shared = set.intersection(*(set(table.models) for table in tables.values()))
    if len(names) < 2 or not shared:
        return None
    clusters = sorted({cluster for table in tables.values() for cluster in table.clusters})
    number = {cluster: at for at, cluster in enumerate(clusters)}
    rows = [
        _row(model, [_moves(tables[n], scores[n], model, number) for n in names], how.level)
        for model in sorted(shared)
    ]
    return StarStyles(names, tuple(sorted(rows, key=lambda row: -row.mean.value)), how.level)


def _moves(
    table: StarTable, found: LinkedScores, model: str, number: Mapping[str, int]
) -> tuple[float, FloatArray]:
    """A model's score on one benchmark, and how far each cluster of all benchmarks moves it."""
    column = table.models.index(model)
    moves = np.zeros(len(number))
    # `per_item` numbers clusters by name.
    moves[[number[cluster] for cluster in sorted(set(table.clusters))]] = found.influence[:, column]
    return float(found.score[column]), moves


def _row(model: str, each: Sequence[tuple[float, FloatArray]], level: float) -> StyleRow:
    scores = [score for score, _ in each]
    moves = np.mean([own for _, own in each], axis=0)
    n = int(np.sum(np.any([own != 0 for _, own in each], axis=0)))
    error = float(np.sqrt(np.sum(moves**2) * n / (n - 1))) if n > 1 else float("nan")
    average = mean(scores) if not np.isnan(scores).any() else float("nan")
    first, before = each[0]
    return StyleRow(
        model=model,
        mean=_percent(mean_in_bounds(average, error, n, level=level)),
        scores=tuple(_FULL * score for score in scores),
        differences=tuple(_difference(first, before, *one, level) for one in each[1:]),
    )


def _difference(
    first: float, before: FloatArray, score: float, after: FloatArray, level: float
) -> Estimate:
    """What one benchmark's score is above the first one's, with its interval over clusters."""
    moved = (before != 0) | (after != 0)
    gaps = (score - first) + moved.sum() * (after - before)[moved]
    if np.isnan(gaps).any():
        return Estimate(float("nan"), float("nan"), float("nan"), 0, "no item has a score")
    lower, upper = paired_interval(gaps, level)
    return _percent(Estimate(score - first, lower, upper, int(moved.sum())))


def _percent(found: Estimate) -> Estimate:
    return replace(
        found, value=_FULL * found.value, lower=_FULL * found.lower, upper=_FULL * found.upper
    )
