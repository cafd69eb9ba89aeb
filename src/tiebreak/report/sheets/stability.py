"""Stability: parts of the items against all of them, and run against run."""

from typing import Any

from tiebreak.analysis.stability import RepeatedRun, StabilityReport
from tiebreak.report.cells import Cell, integer, number, share, words
from tiebreak.report.csv import Rows, one_table
from tiebreak.report.json import document, json_ready, only
from tiebreak.report.sheet import Section, Sheet, Table, names, numbers
from tiebreak.words import percent

LEGEND = (
    "A part is inside the whole, so it agrees more than two sets of items would: of eight nearly "
    "tied models half of 100 items has a mean ρ of 0.68, two halves without a common item 0.16"
)


def sheets_of(report: StabilityReport) -> list[Sheet]:
    """The table of subsamples, and that of repeated runs where there are any."""
    return [
        Sheet(
            f"A part of the items against all of them, {report.n_seeds} draws",
            sections=(
                Section.of(_subsamples(report), legend=[LEGEND]),
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
        ReportError: there are repeated runs, whose table is another.
    """
    parts = [
        {
            **{"benchmark": one.benchmark, "name": one.name, "log": one.log, "share": one.share},
            **{"n_models": one.n_models, "n_drawn": one.stability.n_drawn},
            **{"n_items": one.stability.n_items, "mean_rho": json_ready(one.stability.mean)},
            "min_rho": json_ready(one.stability.minimum),
            "top1_recovery": json_ready(one.stability.top1_recovery),
        }
        for one in report.subsampled
    ]
    return one_table({"parts of the items": parts, "run against run": json_ready(report.repeated)})


def _subsamples(report: StabilityReport) -> Table:
    """Leaderboards of parts of the items against that of all (SEAL, table 2)."""
    return Table.of(
        (*map(names, ("Benchmark", "Protocol")), *numbers("Items", "Mean ρ", "Min ρ", "Top-1")),
        (
            (
                *(words(one.benchmark), words(one.name)),
                Cell(f"{found.n_drawn:,} of {found.n_items:,}", found.n_drawn),
                *(number(found.mean), number(found.minimum), share(found.top1_recovery)),
            )
            for one in report.subsampled
            for found in [one.stability]
        ),
        "Parts of the items",
    )


def _runs(report: StabilityReport) -> Table:
    """Repeated runs against each other (SEAL, table 3)."""
    figures = numbers("Runs", "Items", "Mean ρ", "Min ρ", "Top-1")
    return Table.of(
        (*map(names, ("Benchmark", "Protocol")), *figures),
        (
            (
                *(words(runs.benchmark), words(runs.label)),
                *(integer(runs.stability.n_runs), integer(runs.n_items)),
                *(number(runs.stability.mean), number(runs.stability.minimum), _same_first(runs)),
            )
            for runs in report.repeated
        ),
        "Run against run",
    )


def _same_first(runs: RepeatedRun) -> Cell:
    same, n = runs.stability.top1_matches, runs.stability.n_pairs
    return Cell(f"{same:.3g}/{n} ({percent(same / n)})", same / n)
