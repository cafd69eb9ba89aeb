"""Sheets and data on stability: samples of the items against all items, and repeated runs."""

from typing import Any

from tiebreak.analysis.stability import StabilityReport
from tiebreak.reason import Reason
from tiebreak.report.cells import Cell, integer, number, share, words
from tiebreak.report.csv import Rows, one_table
from tiebreak.report.json import document, json_ready, only
from tiebreak.report.sheet import Section, Sheet, Table, names, numbers
from tiebreak.text import percent


def sheets_of(report: StabilityReport) -> list[Sheet]:
    """A sheet with a table of subsamples, and one of repeated runs if there are any."""
    return [
        Sheet(
            f"A part of the items against all of them, {report.n_seeds} draws",
            sections=(
                Section.of(_subsamples(report), legend=[Reason("parts_inside")]),
                *([Section.of(_runs(report), heading="Run against run")] * bool(report.repeated)),
            ),
            notes=tuple(map(str, report.notes)),
        )
    ]


def data_of(report: StabilityReport) -> dict[str, Any]:
    """The fields of `StabilityReport` under "tiebreak/stability", version 1."""
    parts = ("n_seeds", "subsampled", "repeated", "notes")
    return document("tiebreak/stability", 1, **only(report, *parts))


def rows_of(report: StabilityReport) -> Rows:
    """One row per log and share of its items.

    Raises:
        ReportError: there are repeated runs as well, which need another table.
    """
    parts = [
        {
            **only(part, "benchmark", "name", "log", "share", "n_models"),
            **only(part.stability, "n_drawn", "n_items"),
            "mean_rho": json_ready(part.stability.mean),
            "min_rho": json_ready(part.stability.minimum),
            "top1_recovery": json_ready(part.stability.top1_recovery),
        }
        for part in report.subsampled
    ]
    return one_table({"parts of the items": parts, "run against run": json_ready(report.repeated)})


def _subsamples(report: StabilityReport) -> Table:
    """Agreement of leaderboards over parts of the items with that over all (SEAL, table 2)."""
    return Table.of(
        (*map(names, ("Benchmark", "Protocol")), *numbers("Items", "Mean ρ", "Min ρ", "Top-1")),
        (
            (
                *(words(part.benchmark), words(part.name)),
                Cell(f"{stability.n_drawn:,} of {stability.n_items:,}", stability.n_drawn),
                *(number(stability.mean), number(stability.minimum)),
                share(stability.top1_recovery),
            )
            for part in report.subsampled
            for stability in [part.stability]
        ),
        "Parts of the items",
    )


def _runs(report: StabilityReport) -> Table:
    """Agreement of repeated runs with each other (SEAL, table 3)."""
    figures = numbers("Runs", "Items", "Mean ρ", "Min ρ", "Top-1")
    return Table.of(
        (*map(names, ("Benchmark", "Protocol")), *figures),
        (
            (
                *(words(runs.benchmark), words(runs.label)),
                *(integer(pairs.n_runs), integer(runs.n_items)),
                *(number(pairs.mean), number(pairs.minimum)),
                Cell(f"{same:.3g}/{n} ({percent(same / n)})", same / n),
            )
            for runs in report.repeated
            for pairs in [runs.stability]
            for same, n in [(pairs.top1_matches, pairs.n_pairs)]
        ),
        "Run against run",
    )
