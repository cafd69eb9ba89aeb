"""Sheets and data of a contest over many benchmarks (CSD)."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from tiebreak.analysis.contests import ContestReport, OrderFrom
from tiebreak.analysis.standing import whole
from tiebreak.rankers.contests.expected_wins import CsdResult
from tiebreak.rankers.contests.rounds import Tiers
from tiebreak.rankers.contests.sensitivity import FailureSensitivity, Perturbation
from tiebreak.reason import Reason, Remark
from tiebreak.report.cells import (
    Cell,
    bounds,
    decimal,
    integer,
    number,
    rank,
    rank_range,
    scores,
    words,
)
from tiebreak.report.json import document, only
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
from tiebreak.report.sheets.consensus import cost_line, kemeny_data
from tiebreak.text import count

# Early rounds weigh more, so users who did not choose the order should know where it comes from.
_YOURS = "it is the method's weighting: give your own with --order or --rounds"
_ORDERS: Final[dict[OrderFrom, str]] = {
    "columns": f"Order: that of the table's columns; {_YOURS}",
    "names": f"Order: alphabetical, by the benchmarks' names; {_YOURS}",
    "rounds": "Order: that of the file of rounds",
    "order": "Order: as given",
    "difficulty": "Order: from easy to hard, by the items' mean success rate over the models",
    "weights": "Order: drawn by weight, anew for every contest",
    "given": "Order: as given",
}
_SPOILT = "Each change alone. Mean: of all benchmarks that are played, each with the same weight."
_OVER_ITEMS = ("lower", "upper", "rank_lower", "rank_upper")


def sheets_of(report: ContestReport) -> list[Sheet]:
    """A sheet with expected wins, the cost of elimination, and the effect of changed scores."""
    costs = None
    if report.sensitivity is not None:
        costs = _sensitivity_table(report, report.sensitivity)
    rounds = Section.of(_difficulty_table(report), legend=_difficulty_legend(report))
    sections = (
        *([rounds] if report.difficulty is not None else []),
        Section.of(_wins_table(report, report.result), legend=_legend(report)),
        Section.of(costs, legend=_costs_legend(report)),
        Section.of(_perturbation_table(report), legend=[_SPOILT] if report.spoilt else []),
    )
    return [
        Sheet(
            _title(report),
            (_rounds(report), *([_ORDERS[report.order_from]] if report.rounds[1:] else [])),
            warnings=tuple(map(str, report.warnings)),
            sections=sections,
            notes=tuple(map(str, report.notes)),
        )
    ]


def data_of(report: ContestReport) -> dict[str, Any]:
    """The parts of `ContestReport` under "tiebreak/csd", version 1; rows are sorted best first.

    The shape::

    {"format", "version", "rounds": [[]], "order_from", "weights": null or [],
     "largest_eliminate": null or T, "warnings": [],
     "benchmark": null, or the one benchmark whose tiers of difficulty are the rounds,
     "difficulty": null or [{"tier", "n_items", "lowest", "highest"}], "empty_tiers": [],
     "contest": {"iterations", "seed", "eliminate": [], "level", "control_variate", "reason",
                 "items": null or {"level", "draws", "contests"}, "items_reason": null or why not,
                 "rows": [{"rank", "tier": null or 1 …, "model", "expected_wins",
                           "standard_error", "simulation_rank_lower", "simulation_rank_upper",
                           "lower", "upper", "rank_lower", "rank_upper", "kemeny_rank"}]},
     "kemeny": null or {"order": [], …} as of `tiebreak aggregate`,
     "sensitivity": null or {…, "even_slope", "even_error",
                             "rows": [{"model", "expected_wins": [], "standard_error": [],
                                       "slope", "slope_error", "delta", "delta_error", "label"}]},
     "perturbations": [{"model", "benchmarks": [], "values": [], "expected_wins": [before, after],
                        "csd_rank": [before, after], "mean_rank": [before, after]}],
     "notes": []}

    `standard_error` and `simulation_rank_…` cover the simulation's error alone (`CsdResult`).
    `lower`, `upper` (of expected wins) and `rank_lower`, `rank_upper` (simultaneous) are intervals
    over items (`ItemIntervals`), null if standard errors of the scores are unknown.
    """
    kemeny = report.election and report.election.kemeny
    return document(
        "tiebreak/csd",
        1,
        **only(report, "rounds", "order_from", "weights", "largest_eliminate", "warnings"),
        benchmark=report.benchmark,
        difficulty=report.difficulty and _tiers_of(report.difficulty),
        empty_tiers=report.difficulty.dropped if report.difficulty else (),
        contest=_contest(report, report.result),
        kemeny=kemeny and kemeny_data(kemeny.names, kemeny),
        sensitivity=report.sensitivity and _sensitivity(report, report.sensitivity),
        perturbations=[
            {
                "model": report.models[change.model],
                "benchmarks": [report.benchmarks[column] for column in change.benchmarks],
                "values": change.values,
                "expected_wins": change.expected_wins,
                "csd_rank": change.csd_ranks,
                "mean_rank": change.mean_ranks,
            }
            for change in report.spoilt
        ],
        notes=tuple(map(str, report.notes)),
    )


def _title(report: ContestReport) -> str:
    result = report.result
    sizes = set(result.eliminate)
    removed = str(sizes.pop()) if len(sizes) == 1 else ", ".join(map(str, result.eliminate))
    rounds = count(len(report.rounds), "round")
    if report.benchmark is not None:
        rounds = f"{report.benchmark} in {count(len(report.rounds), 'tier')} of difficulty"
    return (
        f"CSD · {count(len(report.models), 'model')} · {rounds} · T = {removed} · "
        f"{result.iterations:,} contests, seed {result.seed}"
    )


def _rounds(report: ContestReport) -> str:
    between = " → " if report.weights is None else " · "
    return between.join(" + ".join(benchmarks) for benchmarks in report.rounds)


def _tiers_of(tiers: Tiers) -> list[dict[str, Any]]:
    """The tiers of items: size, and the lowest and highest score of a model in each."""
    ends = zip(tiers.scores.min(axis=0), tiers.scores.max(axis=0), strict=True)
    return [
        {"tier": name, "n_items": n, "lowest": float(low), "highest": float(high)}
        for name, n, (low, high) in zip(tiers.names, tiers.n_items.tolist(), ends, strict=True)
    ]


def _difficulty_table(report: ContestReport) -> Table | None:
    if report.difficulty is None:
        return None
    columns = [Column("Success rate"), *numbers("Items", "Models' scores")]
    rows = (
        (words(tier["tier"]), integer(tier["n_items"]), bounds(tier["lowest"], tier["highest"]))
        for tier in _tiers_of(report.difficulty)
    )
    return Table.of(columns, rows, "Tiers of difficulty")


def _difficulty_legend(report: ContestReport) -> Iterator[Remark]:
    difficulty = report.difficulty
    if difficulty is None:
        return
    if difficulty.dropped:
        yield f"Without an item, so no round: {', '.join(difficulty.dropped)}."
    yield Reason("tiers_as_rounds", n_models=len(report.models))


def _perturbation_table(report: ContestReport) -> Table:

    def row(change: Perturbation) -> Iterator[Cell]:
        where = ", ".join(report.benchmarks[column] for column in change.benchmarks)
        yield words(report.models[change.model])
        yield words(f"{scores(change.values)} on {where}")
        yield _change(*(decimal(wins) for wins in change.expected_wins))
        yield _change(*change.csd_ranks)
        yield _change(*change.mean_ranks)

    columns = [model_names(), names("Change", 20), Column("E[wins]", spare=1)]
    columns += numbers("# by CSD", "# by mean")
    return Table.of(columns, map(row, report.spoilt), "Changed scores")


def _change(before: object, after: object) -> Cell:
    return Cell(f"{before} → {after}", float(str(after)))  # sorts by the value after the change


def _legend(report: ContestReport) -> Iterator[Remark]:
    result, items = report.result, report.items
    if items is not None:
        yield Reason("intervals_over_items", level=items.level * 100, draws=items.draws)
        yield Reason("intervals_off_centre")
    elif report.difficulty is not None:
        yield f"These intervals hold the simulation's error only: {report.items_reason}."
    else:
        yield Reason("intervals_of_simulation")
        reason = report.items_reason
        if isinstance(reason, Reason) and reason.kind == "missing_errors":
            yield f"Now {reason}."
    if report.tiers is not None and (n := int(report.tiers.max())) > 1:
        yield Reason("natural_breaks", n=n)
    if result.reason is not None:
        yield f"No interval: {result.reason}"
    if report.election is not None and report.election.kemeny is not None:
        proven = cost_line(report.election.kemeny)
        yield f"Kem: place by Kemeny–Young, each benchmark a ballot. {proven}."
        for note in report.election.notes:
            if note not in report.notes:
                yield f"For Kem: {note}."


def _costs_legend(report: ContestReport) -> Iterator[Reason]:
    sensitivity = report.sensitivity
    if sensitivity is None:
        return
    yield Reason(
        "slopes" if report.items is None else "slopes_over_items",
        slope=number(sensitivity.even_slope).text,
    )


def _wins_table(report: ContestReport, result: CsdResult) -> Table:
    """Expected wins with their Monte Carlo error, and with intervals over items if known."""
    items, heading = report.items, interval_heading(result.level)
    tiers = None if report.tiers is None or report.tiers.max() == 1 else report.tiers
    columns = [Column("#"), model_names(), *([Column("Tier")] if tiers is not None else [])]
    columns += numbers("E[wins]", "± (MC)")
    columns += numbers(heading, "ranks") if items is not None else numbers("ranks (MC)")
    columns += numbers("Kem") if report.election is not None else []
    kemeny = _kemeny_ranks(report)
    over = result if items is None else items

    def row(model: int) -> Iterator[Cell]:
        yield rank(whole(result.rank[model]))
        yield words(report.models[model])
        if tiers is not None:
            yield rank(whole(tiers[model]))
        yield number(float(result.expected_wins[model]))
        yield number(float(result.standard_error[model]), 4)
        if items is not None:
            yield bounds(float(items.lower[model]), float(items.upper[model]))
        yield rank_range(whole(over.rank_lower[model]), whole(over.rank_upper[model]))
        if report.election is not None:
            yield rank(kemeny.get(report.models[model]))

    order = _best_first(result.expected_wins)
    rules = () if tiers is None else (np.flatnonzero(np.diff(tiers[order])) + 1).tolist()
    return Table.of(columns, map(row, order), "Expected wins", rules=rules)


def _kemeny_ranks(report: ContestReport) -> dict[str, int | None]:
    """Ranks in the Kemeny order, without models that no benchmark compares; empty without one."""
    kemeny = report.election and report.election.kemeny
    return dict(zip(kemeny.names, map(whole, kemeny.ranks), strict=True)) if kemeny else {}


def _sensitivity_table(report: ContestReport, result: FailureSensitivity) -> Table:
    wins = numbers(*(f"T = {t}" for t in result.eliminate), "Λ", "± (MC)")
    return Table.of(
        (model_names(), *wins, Column("Label", numeric=False)),
        (
            (
                words(report.models[row]),
                *(number(float(value)) for value in result.expected_wins[:, row]),
                number(float(result.slope[row])),
                number(float(result.slope_error[row]), 4),
                words(result.labels[row]),
            )
            for row in _best_first(result.expected_wins[0])
        ),
        "What elimination costs",
    )


def _contest(report: ContestReport, result: CsdResult) -> dict[str, Any]:
    items = report.items

    def over_items(name: str, row: int) -> Any:
        value = None if items is None else getattr(items, name)[row]
        return value if value is None or not name.startswith("rank") else whole(value)

    kemeny = _kemeny_ranks(report)
    rows = [
        {
            "rank": whole(result.rank[row]),
            "tier": None if report.tiers is None else whole(report.tiers[row]),
            "model": report.models[row],
            "expected_wins": result.expected_wins[row],
            "standard_error": result.standard_error[row],
            "simulation_rank_lower": whole(result.rank_lower[row]),
            "simulation_rank_upper": whole(result.rank_upper[row]),
            **{name: over_items(name, row) for name in _OVER_ITEMS},
            "kemeny_rank": kemeny.get(report.models[row]),
        }
        for row in _best_first(result.expected_wins)
    ]
    settings = ("iterations", "seed", "eliminate", "level", "control_variate", "reason")
    return {
        **only(result, *settings),
        "items": items and only(items, "level", "draws", "contests"),
        "items_reason": report.items_reason,
        "rows": rows,
    }


def _sensitivity(report: ContestReport, result: FailureSensitivity) -> dict[str, Any]:
    by_model = ("slope", "slope_error", "delta", "delta_error")
    rows = [
        {
            "model": report.models[row],
            "expected_wins": result.expected_wins[:, row],
            "standard_error": result.standard_error[:, row],
            **{name: getattr(result, name)[row] for name in by_model},
            "label": result.labels[row],
        }
        for row in _best_first(result.expected_wins[0])
    ]
    return {
        **only(result.contests[0], "iterations", "seed", "level"),
        **only(result, "eliminate", "even_slope", "even_error"),
        "rows": rows,
    }


def _best_first(scores: np.ndarray[Any, Any]) -> list[int]:
    """Row indices by score, highest first; ties keep the order of the table."""
    rows: list[int] = np.argsort(-scores, kind="stable").tolist()
    return rows
