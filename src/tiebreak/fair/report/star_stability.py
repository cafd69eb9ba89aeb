"""Stability of star scores (LLMEval-Fair): rounds and samples of questions as in table 9.

Orders on fewer questions (figure 5), scores by date and against other scores (figure 2 and
finding 5) and causes of errors (figure 3) have sheets of their own.
"""

from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import chain
from typing import Any

from tiebreak.fair.analysis.star_samples import DrawnScores, OrderKept, StarOrders, StarSamples
from tiebreak.fair.analysis.star_stability import ErrorCauses, StarCourse, StarStability
from tiebreak.rankers.intervals import Estimate
from tiebreak.report.cells import (
    UNDEFINED,
    Cell,
    above,
    bounds,
    decimal,
    estimate,
    integer,
    number,
    percents,
    share,
    words,
)
from tiebreak.report.csv import Rows, one_table
from tiebreak.report.json import document, json_ready, only
from tiebreak.report.sheet import (
    Column,
    Section,
    Sheet,
    Table,
    interval_heading,
    model_names,
    names,
    numbers,
)
from tiebreak.text import count, percent


def sheets_of(report: StarStability) -> list[Sheet]:
    """Return the sheets of the parts that were requested; the first one has all notes."""
    sheets = [
        *map(_samples_sheet, report.samples),
        *map(_orders, report.orders),
        *([_elsewhere(report)] if report.elsewhere else []),
        *map(_course, report.courses),
        *([_causes(report.causes)] if report.causes else []),
    ]
    return [sheets[0].plus(notes=report.notes), *sheets[1:]] if sheets else []


def data_of(report: StarStability) -> dict[str, Any]:
    """The fields of `StarStability` under "tiebreak/star-stability", version 1.

    The parts have the fields of `StarSamples`, `StarRound`, `SampleSize`, `SampledModel`,
    `DrawnScores` and `NeighbourPair`, of `StarOrders`, `OrderKept`, `ExternalCorrelation`,
    `StarCourse`, `DatedScore`, and of `ErrorCauses`, `CauseRow` and `RaterPair`.
    """
    parts = ("samples", "orders", "elsewhere", "courses", "causes", "level", "notes")
    return document("tiebreak/star-stability", 1, **only(report, *parts))


def rows_of(report: StarStability) -> Rows:
    """Return the rows of the one table that was requested.

    Samples have one row per benchmark, model and sample: each round, each size of draws, and all.

    Raises:
        ReportError: several tables were requested, or there is none.
    """
    tables = {
        "samples": list(chain.from_iterable(map(_rows, report.samples))),
        "--elo": [
            {"benchmark": orders.benchmark, "method": method, **asdict(point)}
            for orders in report.orders
            for method, points in orders.curves.items()
            for point in points
        ],
        "--dates": [
            {
                "benchmark": course.benchmark,
                **only(row, "model", "series", "date"),
                **only(row.score, *_ENDS),
            }
            for course in report.courses
            for row in course.rows
        ],
        "--against": _elsewhere_rows(report),
        "--causes": _cause_rows(report.causes) if report.causes else [],
    }
    return one_table(tables)


def _rows(samples: StarSamples) -> Iterator[dict[str, Any]]:
    for row in samples.models:
        usual = {"benchmark": samples.benchmark, "model": row.model, "reference": samples.reference}
        for turn, relative in zip(samples.rounds, row.rounds, strict=True):
            yield usual | _flat(turn.name, turn.n_items, relative)
        for size, scores in zip(samples.sizes, row.sizes, strict=True):
            flat = _flat(f"draws of {size.size}", size.n_items, scores.mean)
            variances = {"variance": scores.variance, "independent_variance": scores.independent}
            yield usual | flat | json_ready(variances)
        yield usual | _flat("all", samples.n_items, row.whole)


def _flat(sample: str, n_items: float, relative: float) -> dict[str, Any]:
    return {
        "sample": sample,
        "n_items": n_items,
        "relative": json_ready(relative),
        "variance": None,
        "independent_variance": None,
    }


def _samples_sheet(samples: StarSamples) -> Sheet:
    n_rounds = count(len(samples.rounds), "round")
    sections = [
        Section.of(_rounds_table(samples), legend=_rounds_legend(samples), lines=_kept(samples)),
        Section.of(_sizes_table(samples), legend=_sizes_legend(samples), heading="Draws"),
        Section.of(_neighbours_table(samples), legend=_NEIGHBOURS, heading="Order"),
    ]
    return Sheet(
        f"{samples.benchmark} · stars · {n_rounds}, {count(samples.n_items, 'question')}",
        (f"Scores in percent of {samples.reference}'s (eq. 2)",),
        sections=tuple(section for section in sections if section.table),
        notes=tuple(map(str, samples.notes)),
    )


def _rounds_table(samples: StarSamples) -> Table:
    columns = [Column(f"{turn.name.capitalize()} ({turn.n_items:,})") for turn in samples.rounds]
    several = len(samples.rounds) > 1
    more = [*numbers("Mean", "Variance", "Expected"), Column("By chance", left=True)]
    rows = []
    for row in samples.models:
        cells = [words(row.model), *(number(relative, 2) for relative in row.rounds)]
        if several:
            variances = (row.variance, row.expected.value)
            cells += [number(row.mean, 2), *(number(variance, 2) for variance in variances)]
            cells.append(bounds(row.expected.lower, row.expected.upper, 2))
        rows.append([*cells, number(row.whole, 2)])
    return Table.of(
        (model_names(), *columns, *(more if several else []), Column("All")),
        rows,
        "Relative scores by round",
    )


def _rounds_legend(samples: StarSamples) -> Iterator[str]:
    yield "All: all questions together, each once"
    if len(samples.rounds) > 1:
        level = f"{samples.level * 100:g}%"
        yield (
            "Variance: over the rounds (n − 1). Expected: what other questions alone do to it. By "
            f"chance: where it lies in {level} of studies in which nothing else changes; a "
            "variance within it is sampling error, and larger samples make it smaller"
        )


def _kept(samples: StarSamples) -> Iterator[str]:
    for turn in samples.rounds:
        if len(samples.rounds) > 1 and turn.pairs:
            order = (
                "the order of all questions"
                if turn.kept == turn.pairs
                else f"{turn.kept} of {turn.pairs} neighbours in the order of all questions"
            )
            yield f"{turn.name.capitalize()}: {order}"


def _sizes_table(samples: StarSamples) -> Table:
    columns = [Column(f"{size.size:,}") for size in samples.sizes]
    rows = [[words(row.model), *map(_drawn, row.sizes)] for row in samples.models if row.sizes]
    same = [words("Same order"), *(share(size.same_order) for size in samples.sizes)]
    return Table.of(
        (model_names(), *columns),
        [*rows, *([same] if rows else [])],
        "Draws by size",
        rules=[len(rows)],
    )


def _drawn(scores: DrawnScores) -> Cell:
    under = f"{decimal(scores.variance, 2)} · {decimal(scores.independent, 2)}"
    return above(number(scores.mean, 2), under)


def _sizes_legend(samples: StarSamples) -> Iterator[str]:
    yield (
        f"Mean over {count(samples.n_draws, 'draw')} without replacement from the questions at "
        "hand; below it their variance · that of independent samples of this size"
    )
    yield (
        "Draws are parts of one pool and no rounds of their own: they vary less by the share of "
        "the pool that they hold. Same order: share of draws in which no neighbours change places"
    )


_NEIGHBOURS = (
    "Neighbours on the board of all questions, and where they stood the other way round: in how "
    "many rounds, in what share of draws. Apart: whether tests of all pairs tell them apart on all "
    "questions",
)


def _neighbours_table(samples: StarSamples) -> Table:
    several = len(samples.rounds) > 1
    sizes = [Column(f"Draws of {size.size:,}") for size in samples.sizes]
    columns = (
        model_names("Above"),
        model_names("Below"),
        Column("Difference"),
        names("Apart"),
        *([Column("Rounds")] if several else []),
        *sizes,
    )
    apart = {True: "yes", False: "no", None: UNDEFINED}
    rows = [
        (
            words(pair.above),
            words(pair.below),
            number(pair.difference, 2),
            words(apart[pair.apart]),
            *([Cell(f"{pair.rounds} of {pair.n_rounds}", pair.rounds)] if several else []),
            *map(share, pair.sizes),
        )
        for pair in samples.neighbours
        if several or pair.sizes
    ]
    return Table.of(columns, rows, "Neighbours")


ALL = "all models"
_ENDS = ("value", "lower", "upper")


def _elsewhere_rows(report: StarStability) -> list[dict[str, Any]]:
    return [
        {
            "benchmark": part.benchmark,
            "other": part.other,
            "n_models": len(part.models),
            "figure": name,
            **only(figure, *_ENDS),
        }
        for part in report.elsewhere
        if part.agreement
        for name, figure in only(part.agreement, "spearman", "kendall").items()
    ]


def _cause_rows(causes: ErrorCauses) -> list[dict[str, Any]]:
    return [
        {
            "model": row.model or ALL,
            "cause": cause,
            "n_labelled": row.n_labelled,
            **only(share, *_ENDS),
        }
        for row in causes.rows
        for cause, share in zip(causes.causes, row.shares, strict=True)
    ]


def _orders(orders: StarOrders) -> Sheet:
    sizes = [point.n_clusters for point in next(iter(orders.curves.values()), ())]
    rows = [(words(way), *map(_order_kept, points)) for way, points in orders.curves.items()]
    undefined = [
        f"{method}: ρ is undefined in {point.undefined} of {orders.n_draws} draws of "
        f"{point.n_clusters:,}, which are left out"
        for method, points in orders.curves.items()
        for point in points
        if point.undefined
    ]
    columns = (names("Ranked by"), *(Column(f"{size:,}") for size in sizes))
    return Sheet(
        f"{orders.benchmark} · stars · the order with fewer of {orders.n_clusters:,} questions",
        sections=(
            Section.of(
                Table.of(columns, rows, "Order with fewer questions"),
                legend=[
                    "Spearman's ρ with the same way's order on all questions, mean over "
                    f"{orders.n_draws} draws, the same for all ways; below it the middle 90% of "
                    "the draws",
                    "Draws are parts of the whole: ρ comes near 1 whatever the order is worth. "
                    "Elo plays its matches in one random order",
                ],
            ),
        ),
        notes=tuple(undefined),
    )


def _order_kept(point: OrderKept) -> Cell:
    span = f"{decimal(point.lower, 2)} to {decimal(point.upper, 2)}"
    return replace(number(point.mean), under=span)


def _elsewhere(report: StarStability) -> Sheet:
    interval = Column(interval_heading(report.level), left=True)
    columns = (
        *map(names, ("Benchmark", "Other")),
        *numbers("Models", "ρ"),
        interval,
        Column("τ"),
        interval,
    )
    rows = []
    for part in report.elsewhere:
        correlations = (Cell(UNDEFINED),) * 4
        if part.agreement:
            correlations = *estimate(part.agreement.spearman), *estimate(part.agreement.kendall)
        n_models = integer(len(part.models))
        rows.append((words(part.benchmark), words(part.other), n_models, *correlations))
    legend = (
        "Spearman's ρ and Kendall's τ over the models that have both scores. Intervals are over "
        "the questions judged by stars alone: the models are taken as they are, and so are the "
        "others' scores; with few models ρ says little about models that are not here"
    )
    return Sheet(
        "Scores by stars and scores elsewhere",
        sections=(Section.of(Table.of(columns, rows, "Correlations"), legend=[legend]),),
    )


def _course(course: StarCourse) -> Sheet:
    interval = Column(interval_heading(course.level), left=True)
    rows = [
        (
            Cell(row.date.isoformat(), row.date.isoformat()),
            words(row.series or UNDEFINED),
            words(row.model),
            number(row.score.value, 2),
            bounds(row.score.lower, row.score.upper, 1),
        )
        for row in course.rows
    ]
    columns = (names("Date"), names("Series"), model_names(), Column("Score"), interval)
    legend = "Share of all stars, 0 to 100 (eq. 1). Whether there is a ceiling is not tested"
    return Sheet(
        f"{course.benchmark} · stars by date",
        sections=(Section.of(Table.of(columns, rows, "Scores by date"), legend=[legend]),),
        notes=tuple(map(str, course.notes)),
    )


def _causes(causes: ErrorCauses) -> Sheet:
    columns = (model_names(), *numbers("Labelled", "Below 3 ★"), *map(Column, causes.causes))
    rows = [
        (
            words(row.model or ALL),
            integer(row.n_labelled),
            integer(row.n_below),
            *map(_share, row.shares),
        )
        for row in causes.rows
    ]
    raters = [
        (words(rater.first), words(rater.second), integer(rater.n), *estimate(rater.kappa))
        for rater in causes.raters
    ]
    interval = interval_heading(causes.level)
    pairs = (names("Rater"), names("Rater"), *numbers("Answers", "κ"), Column(interval, left=True))
    legend = (
        f"Share of labelled answers, below it the {interval}, for this cell alone. Of several "
        "raters of an answer each has an equal part. Shares are of what was labelled: draw answers "
        "at random to label, or they say nothing of the others"
    )
    kappa = ["Cohen's κ: 1 is full agreement, 0 what chance gives"] if raters else []
    undefined = (
        f"κ of {rater.first} and {rater.second}: {rater.kappa.reason}"
        for rater in causes.raters
        if rater.kappa.reason
    )
    return Sheet(
        "Causes of errors",
        (f"labels: {causes.source}",),
        sections=(
            Section.of(Table.of(columns, rows, "Causes", rules=[len(rows) - 1]), legend=[legend]),
            Section.of(Table.of(pairs, raters, "Raters"), legend=kappa),
        ),
        notes=(*map(str, causes.notes), *undefined),
    )


def _share(figure: Estimate) -> Cell:
    shown = percent(figure.value) if figure.value == figure.value else UNDEFINED
    if figure.lower != figure.lower:
        return Cell(shown)
    return Cell(shown, figure.value, under=percents(figure.lower, figure.upper))
