"""Stability of star scores, and their course over time (LLMEval-Fair, findings 1, 5 and 7).

The finding has parts: samples of questions and orders on fewer of them (`star_samples`, table 9 and
figure 5), and in this module scores by release date (figure 2), their correlation with static
benchmarks (finding 5), and causes of errors with the agreement of raters (figure 3).

No claim is made that scores approach a ceiling: that would take scores of later models, and a scale
that does not end at the ceiling. Several raters of one answer share its weight equally, so that
each answer counts once. Intervals are clustered by question, variants of a question included.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import combinations, compress

import numpy as np

from tiebreak.analysis.alignment import match_names
from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.finding import Finding, shortened
from tiebreak.analysis.star_table import StarTable, scored, star_parts, star_table
from tiebreak.analysis.stars import MAX_SCORE, check_reference, no_stars, times
from tiebreak.fair.analysis.star_samples import StarOrders, StarSamples, star_orders, star_samples
from tiebreak.paths import Paths
from tiebreak.progress import tracked
from tiebreak.rankers.intervals import Estimate, mean_in_bounds, share_over_items
from tiebreak.rankers.kappa import kappa_estimate
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.stability import ResampledAgreement, mean_statistic, resample_agreement
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.reason import Reason
from tiebreak.tables.dates import ReleaseDate
from tiebreak.tables.human import CauseLabels, HumanLabel
from tiebreak.tables.scores import ScoreTable
from tiebreak.text import count


@dataclass(frozen=True, slots=True)
class CauseRow:
    """Shares of causes among a model's labelled answers; `model` is "" for all models together.

    `n_labelled` answers have a label; `n_below` answers have less than three stars.
    """

    model: str
    n_labelled: int
    n_below: int
    shares: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True)
class RaterPair:
    """Cohen's κ of two raters over the `n` answers that both labelled."""

    first: str
    second: str
    n: int
    kappa: Estimate


@dataclass(frozen=True, slots=True)
class ErrorCauses:
    """Shares by model, the row of all models last, and κ by pair of raters.

    `causes` names the entries of each row's shares.
    """

    source: str
    causes: tuple[str, ...]
    rows: tuple[CauseRow, ...]
    raters: tuple[RaterPair, ...]
    level: float
    notes: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class DatedScore:
    """A model's star score, 0 to 100, and its release date."""

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
    notes: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class ExternalCorrelation:
    """Correlation of star scores on `benchmark` with scores on `other`, over the models with both.

    Intervals of `agreement` resample only the questions of `benchmark`, neither models nor the
    questions of `other`. `agreement` is None if fewer than three models have both scores.
    """

    benchmark: str
    other: str
    models: tuple[str, ...]
    agreement: ResampledAgreement | None


@dataclass(frozen=True, slots=True, repr=False)
class StarStability(Finding):
    """The requested parts, by benchmark; `notes` are about the logs."""

    samples: tuple[StarSamples, ...]
    orders: tuple[StarOrders, ...]
    elsewhere: tuple[ExternalCorrelation, ...]
    courses: tuple[StarCourse, ...]
    causes: ErrorCauses | None
    benchmarks: tuple[str, ...]
    level: float
    notes: tuple[str, ...]

    def __str__(self) -> str:
        n = count(len(self.benchmarks), "benchmark")
        return f"{shortened(list(self.benchmarks))}: {n} judged by stars"


def star_stability(
    paths: Paths,
    *,
    sizes: Sequence[int] | None = (),
    reference: str | None = None,
    orders: bool = False,
    against: ScoreTable | None = None,
    dates: Sequence[ReleaseDate] = (),
    causes: CauseLabels | None = None,
    n_draws: int = 30,
    seed: int = 0,
    level: float = 0.95,
) -> StarStability:
    """Analyse the star logs among files and folders.

    Args:
        paths: ranking logs, or folders with some; logs of other protocols are skipped.
        sizes: numbers of questions to draw from those at hand; None skips samples altogether.
        reference: the model that scores are relative to; None takes the best of each benchmark.
        orders: whether to compare ranking methods on fewer questions.
        against: scores of the same models on other benchmarks, to correlate with.
        dates: release dates of models, for scores by date.
        causes: labels of the causes of errors.
        n_draws: draws of each size, by the seeds `seed`, `seed` + 1, ….
        seed: seed of the first draw.
        level: confidence level of intervals and tests, in (0, 1).

    Raises:
        RankingLogError: a path holds no ranking log.
        AnalysisError: no log was judged by stars; the reference has no judged answer; `against`,
            `dates` or `causes` has nothing about these models; or too few models for `orders`.
        MissingPackageError: `orders` needs evalica, which is not installed.
    """
    parts = star_parts(read_ranking_logs(paths, with_votes=False))
    judged = {name: logs for name, logs in parts.items() if any(log.items for log in logs)}
    if not judged:
        raise no_stars()
    known = {
        model for logs in judged.values() for log in logs for i in log.items for model in i.models
    }
    check_reference(reference, known)
    tables = {name: star_table(logs) for name, logs in judged.items()}
    samples = [
        star_samples(
            name,
            logs,
            sizes=sizes,
            reference=reference,
            n_draws=n_draws,
            seed=seed,
            level=level,
        )
        for name, logs in tracked(judged.items(), "ranking draws of questions")
        if sizes is not None
    ]
    remarks = (note for logs in judged.values() for log in logs for note in log.notes)
    return StarStability(
        samples=tuple(samples),
        orders=tuple(
            star_orders(name, table, n_draws=n_draws, seed=seed)
            for name, table in tracked(tables.items(), "ordering models by fewer questions")
            if orders
        ),
        elsewhere=elsewhere(tables, against, how=Resampling(level, 1000, seed)) if against else (),
        courses=tuple(
            star_course(name, table, dates, level=level) for name, table in tables.items() if dates
        ),
        causes=error_causes(causes, tables, level=level) if causes else None,
        benchmarks=tuple(tables),
        level=level,
        notes=tuple(dict.fromkeys(remarks)),
    )


LEAST_MODELS = 3


def star_course(
    benchmark: str, table: StarTable, dates: Sequence[ReleaseDate], *, level: float = 0.95
) -> StarCourse:
    """Scores by release date; an AnalysisError if no model has a date or a name is ambiguous."""
    called = match_names([release.model for release in dates], table.models)
    if not called:
        raise AnalysisError(
            f"No model of {benchmark} has a date; there are: {', '.join(table.models)}"
        )
    by_name, fitted = {release.model: release for release in dates}, scored(table)
    rows = []
    for column, model in enumerate(table.models):
        if model in called:
            release = by_name[called[model]]
            n, error = int(fitted.n_clusters[column]), float(fitted.error[column])
            score = mean_in_bounds(float(fitted.score[column]), error, n, level=level)
            rows.append(DatedScore(model, release.series, release.date, times(score, MAX_SCORE)))
    without = [model for model in table.models if model not in called]
    notes = (Reason("no_date_of", models=without),) if without else ()
    ordered = sorted(rows, key=lambda row: (row.date, row.model))
    return StarCourse(benchmark, tuple(ordered), level, notes)


def elsewhere(
    tables: Mapping[str, StarTable],
    static: ScoreTable,
    *,
    how: Resampling = Resampling(draws=1000),
) -> tuple[ExternalCorrelation, ...]:
    """Spearman's ρ and Kendall's τ between star scores and the scores of a file.

    Raises:
        AnalysisError: a name matches several models, or no benchmark shares three models with a
            column.
    """
    parts = []
    for name, table in tables.items():
        called = match_names(static.models, table.models)
        fitted = scored(table)
        rows = [static.models.index(called[m]) if m in called else None for m in table.models]
        for column, other in enumerate(static.benchmarks):
            fixed = np.array([np.nan if k is None else static.scores[k, column] for k in rows])
            known = ~np.isnan(fixed + fitted.score)
            models = tuple(compress(table.models, known))
            agreement = None
            if len(models) >= LEAST_MODELS:
                agreement = _agreement(fitted.pseudo[:, known], fixed[known], how)
            parts.append(ExternalCorrelation(name, other, models, agreement))
    if not any(part.agreement for part in parts):
        raise AnalysisError(
            "A correlation takes three models with scores of both; judged by stars: "
            f"{', '.join(sorted({m for table in tables.values() for m in table.models}))}"
        )
    return tuple(parts)


def _agreement(pseudo: FloatArray, fixed: FloatArray, how: Resampling) -> ResampledAgreement:
    return resample_agreement(
        mean_statistic(pseudo),
        lambda counts: np.tile(fixed, (len(counts), 1)),
        len(pseudo),
        how=how,
    )


_Answer = tuple[str, str, str]
"""Benchmark, item and model."""


def error_causes(
    labels: CauseLabels, tables: Mapping[str, StarTable], *, level: float = 0.95
) -> ErrorCauses:
    """Shares of the causes of errors in answers judged by stars; `tables` is by benchmark.

    Raises:
        AnalysisError: no label belongs to a judged answer, a label's item is in several benchmarks
            and it does not say in which, or a name matches several models.
    """
    answers, notes = _answers(labels, tables)
    if not answers:
        raise AnalysisError(
            "\n".join([f"Nothing in {labels.source} was judged by stars.", *map(str, notes)])
        )
    cluster = {
        (name, item): cluster
        for name, table in tables.items()
        for item, cluster in zip(table.item_ids, table.clusters, strict=True)
    }
    keys = list(answers)
    items = [cluster[benchmark, item] for benchmark, item, _ in keys]
    parts = np.zeros((len(keys), len(labels.causes)))
    for row, key in zip(parts, keys, strict=True):
        for label in answers[key]:
            row[label.value] += 1 / len(answers[key])
    below: Counter[str] = Counter()
    for table in tables.values():
        below.update(dict(zip(table.models, (table.scores < 1).sum(axis=0).tolist(), strict=True)))
    models = sorted({model for _, _, model in keys})
    rows = []
    for model in [*models, ""]:
        chosen = np.array([model in ("", key[2]) for key in keys])
        n, of_model = int(chosen.sum()), list(compress(items, chosen))
        none = Reason("no_answer_labelled")
        shares = tuple(
            share_over_items(part, 1, of_model, level=level, undefined=none)
            for part in parts[chosen].T
        )
        rows.append(CauseRow(model, n, below[model] if model else below.total(), shares))
    more = _more_notes(keys, tables)
    pairs = tuple(_raters_agree(answers, cluster, len(labels.causes), level))
    return ErrorCauses(labels.source, labels.causes, tuple(rows), pairs, level, (*notes, *more))


def _answers(
    labels: CauseLabels, tables: Mapping[str, StarTable]
) -> tuple[dict[_Answer, list[HumanLabel]], list[Reason]]:
    """Labels by answer, and notes on labels that match no answer."""
    known = sorted({model for table in tables.values() for model in table.models})
    names = list(dict.fromkeys(name for label in labels.labels for name in label.models))
    called = {name: model for model, name in match_names(names, known).items()}
    places: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, table in tables.items():
        for item, asked in zip(table.item_ids, table.asked, strict=True):
            for model, answered in zip(table.models, asked, strict=True):
                if answered and name not in places[item, model]:
                    places[item, model].append(name)
    by_answer: dict[_Answer, list[HumanLabel]] = defaultdict(list)
    lost = 0
    for label in labels.labels:
        model = called.get(label.models[0], "")
        where = [
            name for name in places.get((label.item_id, model), ()) if label.benchmark in ("", name)
        ]
        if len(where) > 1:
            raise AnalysisError(
                f"{labels.source}, line {label.line}: item {label.item_id!r} is in "
                f"{' and '.join(where)}; add a column benchmark"
            )
        if where:
            by_answer[where[0], label.item_id, model].append(label)
        lost += not where
    strangers = [name for name in names if name not in called]
    notes = [Reason("labels_left_out", n=lost, why=Reason("labels_of_no_answer"))] if lost else []
    if strangers:
        notes.append(Reason("models_not_judged", models=sorted(strangers)))
    return dict(by_answer), notes


def _more_notes(keys: Sequence[_Answer], tables: Mapping[str, StarTable]) -> Iterator[Reason]:
    full = 0
    for name, table in tables.items():
        row = {item: number for number, item in enumerate(table.item_ids)}
        full += sum(
            table.scores[row[item], table.models.index(model)] == 1
            for benchmark, item, model in keys
            if benchmark == name
        )
    if full:
        yield Reason("labelled_without_error", n=int(full))


def _raters_agree(
    answers: Mapping[_Answer, Sequence[HumanLabel]],
    cluster: Mapping[tuple[str, str], str],
    n_causes: int,
    level: float,
) -> Iterator[RaterPair]:
    raters = sorted({label.rater for labels in answers.values() for label in labels if label.rater})
    for first, second in combinations(raters, 2):
        tables, items = [], []
        for (benchmark, item, _), labels in answers.items():
            causes = {label.rater: label.value for label in labels}
            if first in causes and second in causes:
                table = np.zeros((n_causes, n_causes))
                table[causes[first], causes[second]] = 1
                tables.append(table)
                items.append(cluster[benchmark, item])
        if tables:
            kappa = kappa_estimate(np.array(tables), items=items, level=level)
        else:
            kappa = Estimate(math.nan, math.nan, math.nan, 0, Reason("no_answer_of_both"))
        yield RaterPair(first, second, len(tables), kappa)
