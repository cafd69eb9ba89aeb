"""CSD: a contest over many benchmarks."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tiebreak.analysis.contests import ContestReport
from tiebreak.analysis.standing import whole
from tiebreak.rankers.contests.expected_wins import CsdResult
from tiebreak.rankers.contests.sensitivity import FailureSensitivity
from tiebreak.report.cells import number, rank, rank_range, words
from tiebreak.report.json import json_ready, only
from tiebreak.report.sheet import Column, Section, Sheet, Table, names, numbers
from tiebreak.words import count


def sheets_of(report: ContestReport) -> list[Sheet]:
    """Expected wins, what elimination costs, what a spoilt score does."""
    costs = None
    if report.sensitivity is not None:
        costs = _sensitivity_table(report, report.sensitivity)
    legend = ["Rank intervals are for the Monte Carlo error alone."]
    if report.result.reason is not None:
        legend.append(f"No interval: {report.result.reason}")
    sections = (
        Section.of(_wins_table(report, report.result), legend=legend),
        Section.of(costs, lines=_spoilt_lines(report)),
    )
    return [Sheet(_title(report), (_rounds(report),), sections=sections, notes=report.notes)]


def data_of(report: ContestReport) -> dict[str, Any]:
    """One row a model, the best first, with the fields of `CsdResult` and `FailureSensitivity`.

    The shape::

    {"rounds": [[]], "weights": null or [],
     "contest": {"iterations", "seed", "eliminate": [], "level", "control_variate", "reason",
                 "rows": [{"rank", "model", "expected_wins", "standard_error", "rank_lower",
                           "rank_upper"}]},
     "sensitivity": null or {…, "rows": [{"model", "expected_wins": [], "standard_error": [],
                                          "slope", "slope_error", "delta", "delta_error",
                                          "label"}]},
     "perturbation": null or {"model", "benchmarks": [], "value", "csd_rank": [before, after],
                              "mean_rank": [before, after]},
     "notes": []}
    """
    spoilt = report.spoilt
    data: dict[str, Any] = json_ready(
        {
            **only(report, "rounds", "weights"),
            "contest": _contest(report, report.result),
            "sensitivity": report.sensitivity and _sensitivity(report, report.sensitivity),
            "perturbation": spoilt
            and {
                "model": report.models[spoilt.model],
                "benchmarks": [report.benchmarks[column] for column in spoilt.benchmarks],
                "value": spoilt.value,
                "csd_rank": spoilt.csd_ranks,
                "mean_rank": spoilt.mean_ranks,
            },
            "notes": report.notes,
        }
    )
    return data


def _title(report: ContestReport) -> str:
    result = report.result
    every = set(result.eliminate)
    removed = str(every.pop()) if len(every) == 1 else ", ".join(map(str, result.eliminate))
    return (
        f"CSD · {count(len(report.models), 'model')} · {count(len(report.rounds), 'round')} · "
        f"T = {removed} · {result.iterations:,} contests, seed {result.seed}"
    )


def _rounds(report: ContestReport) -> str:
    """The benchmarks of each round, in the order of the contest."""
    between = " → " if report.weights is None else " · "
    order = "" if report.weights is None else " (in an order drawn by weight for every contest)"
    return between.join(" + ".join(benchmarks) for benchmarks in report.rounds) + order


def _spoilt_lines(report: ContestReport) -> Iterator[str]:
    spoilt = report.spoilt
    if spoilt is None:
        return
    where = ", ".join(report.benchmarks[column] for column in spoilt.benchmarks)
    before, after = spoilt.csd_ranks
    mean_before, mean_after = spoilt.mean_ranks
    yield (
        f"With {spoilt.value:g} on {where}, {report.models[spoilt.model]} goes from rank {before} "
        f"to {after} by CSD, and from {mean_before} to {mean_after} by mean score"
    )


def _wins_table(report: ContestReport, result: CsdResult) -> Table:
    """Expected wins with their Monte Carlo error and the ranks that it leaves open."""
    columns = (Column("#"), names("Model"), *numbers("E[wins]", "± (MC)"))
    return Table.of(
        (*columns, Column(f"{result.level * 100:g}% ranks")),
        (
            (
                rank(whole(result.rank[row])),
                words(report.models[row]),
                number(float(result.expected_wins[row])),
                number(float(result.standard_error[row]), 4),
                rank_range(whole(result.rank_lower[row]), whole(result.rank_upper[row])),
            )
            for row in _best_first(result.expected_wins)
        ),
        "Expected wins",
    )


def _sensitivity_table(report: ContestReport, result: FailureSensitivity) -> Table:
    """Expected wins for every T, the slope Λ with its Monte Carlo error, and the label."""
    wins = numbers(*(f"T = {t}" for t in result.eliminate), "Λ", "± (MC)")
    return Table.of(
        (names("Model"), *wins, Column("Label", numeric=False)),
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
    rows = [
        {
            "rank": whole(result.rank[row]),
            "model": report.models[row],
            "expected_wins": result.expected_wins[row],
            "standard_error": result.standard_error[row],
            "rank_lower": whole(result.rank_lower[row]),
            "rank_upper": whole(result.rank_upper[row]),
        }
        for row in _best_first(result.expected_wins)
    ]
    settings = ("iterations", "seed", "eliminate", "level", "control_variate", "reason")
    return {**only(result, *settings), "rows": rows}


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
    return {**only(result, "iterations", "seed", "eliminate", "level"), "rows": rows}


def _best_first(scores: np.ndarray[Any, Any]) -> list[int]:
    """Rows by score, the highest first; equal ones in the order of the table."""
    rows: list[int] = np.argsort(-scores, kind="stable").tolist()
    return rows
