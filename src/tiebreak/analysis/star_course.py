"""Scores by stars beside what others know of the models: dates, and scores elsewhere.

LLMEval-Fair, figure 2 (scores by release date) and finding 5 (correlation with static benchmarks).
Whether scores approach a ceiling is not said: that takes scores of later models, and a scale whose
end is not the ceiling itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from tiebreak.analysis.alignment.align import match_names
from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.star_table import StarTable
from tiebreak.analysis.stars import scored
from tiebreak.rankers.intervals import Estimate, mean_in_bounds
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.stability import ResampledAgreement, mean_statistic, resample_agreement
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.tables.dates import ReleaseDate
from tiebreak.tables.scores import ScoreTable
from tiebreak.words import listed

_FULL = 100.0
LEAST_MODELS = 3


@dataclass(frozen=True, slots=True)
class DatedScore:
    """A model's score by stars, 0 to 100, and its date."""

    model: str
    series: str
    date: date
    score: Estimate


@dataclass(frozen=True, slots=True)
class StarCourse:
    """Scores on one benchmark by date, the earliest first; models without a date are noted."""

    benchmark: str
    rows: tuple[DatedScore, ...]
    level: float
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """How scores on one benchmark go with those on another, `other`, over the models of both.

    Intervals of `agreement` are over the questions of the first alone: neither models nor the
    other's questions are drawn again. None where fewer than three models have both.
    """

    benchmark: str
    other: str
    models: tuple[str, ...]
    agreement: ResampledAgreement | None


def star_course(
    benchmark: str, table: StarTable, dates: Sequence[ReleaseDate], *, level: float = 0.95
) -> StarCourse:
    """Scores by date.

    Raises:
        AnalysisError: no model has a date; a name could be several models.
    """
    called = match_names([one.model for one in dates], table.models)
    if not called:
        raise AnalysisError(
            f"No model of {benchmark} has a date; there are: {', '.join(table.models)}"
        )
    by_name, found = {one.model: one for one in dates}, scored(table)
    rows = []
    for column, model in enumerate(table.models):
        if model in called:
            own = by_name[called[model]]
            n, error = int(found.n_clusters[column]), float(found.error[column])
            score = mean_in_bounds(float(found.score[column]), error, n, level=level)
            value, lower, upper = (_FULL * one for one in (score.value, score.lower, score.upper))
            score = Estimate(value, lower, upper, n, score.reason)
            rows.append(DatedScore(model, own.series, own.date, score))
    without = [model for model in table.models if model not in called]
    notes = (f"No date of {listed(without)}",) if without else ()
    ordered = sorted(rows, key=lambda row: (row.date, row.model))
    return StarCourse(benchmark, tuple(ordered), level, notes)


def elsewhere(
    tables: Mapping[str, StarTable], others: ScoreTable, *, how: Resampling = Resampling(draws=1000)
) -> tuple[Elsewhere, ...]:
    """Spearman's ρ and Kendall's τ of scores by stars with scores in a file.

    Raises:
        AnalysisError: a name could be several models; no benchmark shares three models with a
            column.
    """
    found = []
    for name, table in tables.items():
        called = match_names(others.models, table.models)
        scores = scored(table)
        for column, other in enumerate(others.benchmarks):
            theirs = {
                model: float(others.scores[others.models.index(own), column])
                for model, own in called.items()
            }
            models = tuple(
                model
                for k, model in enumerate(table.models)
                if not np.isnan(theirs.get(model, np.nan) + scores.score[k])
            )
            agreement = None
            if len(models) >= LEAST_MODELS:
                columns = [table.models.index(model) for model in models]
                fixed = np.array([theirs[model] for model in models])
                agreement = _agreement(scores.pseudo[:, columns], fixed, how)
            found.append(Elsewhere(name, other, models, agreement))
    if not any(one.agreement for one in found):
        raise AnalysisError(
            "A correlation takes three models with scores of both; judged by stars: "
            f"{', '.join(sorted({m for table in tables.values() for m in table.models}))}"
        )
    return tuple(found)


def _agreement(pseudo: FloatArray, fixed: FloatArray, how: Resampling) -> ResampledAgreement:
    return resample_agreement(
        mean_statistic(pseudo),
        lambda counts: np.tile(fixed, (len(counts), 1)),
        len(pseudo),
        how=how,
    )
