"""Stability on a terminal and as JSON-ready data."""

from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table

from tiebreak.analysis.stability import StabilityReport
from tiebreak.report.cells import decimal, rate
from tiebreak.report.comparison_view import new_table
from tiebreak.report.export import json_ready
from tiebreak.report.terminal import plain
from tiebreak.words import percent

FORMAT = "tiebreak/stability"
# Raised when a key is renamed, removed or changes its meaning; new keys do not raise it.
VERSION = 1


def stability_as_dict(report: StabilityReport) -> dict[str, Any]:
    """A report as data that `json.dumps(…, allow_nan=False)` accepts; undefined is null.

    The shape; what each number means is said at the dataclasses::

        {"format": "tiebreak/stability", "version": 1, "n_seeds",
         "subsampled": [{"benchmark", "name", "log", "share", "n_models",
                         "stability": {"rhos": [], "mean", "minimum", "top1_recovery", "n_drawn",
                                       "n_items", "reason"}}],
         "repeated": [{"benchmark", "label", "logs": [], "n_items", "n_models",
                       "stability": {"rhos": [], "mean", "minimum", "top1_matches", "n_pairs",
                                     "n_runs", "reason"}}],
         "notes": []}
    """
    data: dict[str, Any] = json_ready(
        {
            "format": FORMAT,
            "version": VERSION,
            "n_seeds": report.n_seeds,
            "subsampled": [_listed(asdict(one)) for one in report.subsampled],
            "repeated": [_listed(asdict(one)) for one in report.repeated],
            "notes": report.notes,
        }
    )
    return data


def _listed(row: dict[str, Any]) -> dict[str, Any]:
    inner = row["stability"]
    return row | {"stability": inner | {"rhos": inner["rhos"].tolist()}}


def render_stability(report: StabilityReport, console: Console | None = None) -> None:
    """Print the table of subsamples, and that of repeated runs where there are any."""
    console = console or Console(highlight=False)
    console.print(plain(subsamples_line(report), "bold"))
    console.print()
    console.print(subsamples_table(report))
    console.print()
    if report.repeated:
        console.print(plain("Run against run", "bold"))
        console.print()
        console.print(runs_table(report))
        console.print()
    for note in report.notes:
        console.print(plain(f"Note: {note}", "yellow"))


def subsamples_line(report: StabilityReport) -> str:
    """What the table of subsamples compares."""
    return f"A part of the items against all of them, {report.n_seeds} draws"


def subsamples_table(report: StabilityReport) -> Table:
    """Leaderboards of parts of the items against that of all (SEAL, table 2)."""
    table = new_table("Benchmark", "Protocol", "Items", "Mean ρ", "Min ρ", "Top-1", names=2)
    for one in report.subsampled:
        found = one.stability
        table.add_row(
            plain(one.benchmark),
            plain(one.name),
            f"{found.n_drawn:,} of {found.n_items:,}",
            decimal(found.mean),
            decimal(found.minimum),
            rate(found.top1_recovery),
        )
    return table


def runs_table(report: StabilityReport) -> Table:
    """Repeated runs against each other (SEAL, table 3)."""
    headings = ("Benchmark", "Protocol", "Runs", "Items", "Mean ρ", "Min ρ", "Top-1")
    table = new_table(*headings, names=2)
    for runs in report.repeated:
        pairs = runs.stability
        table.add_row(
            plain(runs.benchmark),
            plain(runs.label),
            f"{pairs.n_runs}",
            f"{runs.n_items:,}",
            decimal(pairs.mean),
            decimal(pairs.minimum),
            f"{pairs.top1_matches:.3g}/{pairs.n_pairs} "
            f"({percent(pairs.top1_matches / pairs.n_pairs)})",
        )
    return table
