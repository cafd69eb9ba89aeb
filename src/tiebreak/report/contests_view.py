"""A contest on a terminal, and as data."""

from collections.abc import Iterator
from typing import Any

from rich.console import Console

from tiebreak.analysis.contests import ContestReport
from tiebreak.report.aggregation import (
    csd_as_dict,
    csd_table,
    sensitivity_as_dict,
    sensitivity_table,
)
from tiebreak.report.terminal import plain
from tiebreak.words import count


def contest_as_dict(report: ContestReport) -> dict[str, Any]:
    """A contest as data that `json.dumps(…, allow_nan=False)` accepts; undefined is null."""
    spoilt = report.spoilt
    return {
        "rounds": [list(names) for names in report.rounds],
        "weights": None if report.weights is None else list(report.weights),
        "contest": csd_as_dict(report.models, report.result),
        "sensitivity": (
            None
            if report.sensitivity is None
            else sensitivity_as_dict(report.models, report.sensitivity)
        ),
        "perturbation": None
        if spoilt is None
        else {
            "model": report.models[spoilt.model],
            "benchmarks": [report.benchmarks[column] for column in spoilt.benchmarks],
            "value": spoilt.value,
            "csd_rank": list(spoilt.csd_ranks),
            "mean_rank": list(spoilt.mean_ranks),
        },
        "notes": list(report.notes),
    }


def render_contest(report: ContestReport, console: Console | None = None) -> None:
    """Print the ranking, the sensitivity table and the notes."""
    console = console or Console(highlight=False)
    console.print(plain(title_line(report), "bold"))
    console.print(plain(rounds_line(report), "dim"))
    console.print()
    console.print(csd_table(report.models, report.result))
    for line in intervals_lines(report):
        console.print(plain(line, "dim"))
    if report.sensitivity is not None:
        console.print()
        console.print(sensitivity_table(report.models, report.sensitivity))
    for line in spoilt_lines(report):
        console.print(plain(line))
    for note in report.notes:
        console.print(plain(f"Note: {note}", "yellow"))


def title_line(report: ContestReport) -> str:
    """What was played, and how often."""
    result = report.result
    every = set(result.eliminate)
    removed = str(every.pop()) if len(every) == 1 else ", ".join(map(str, result.eliminate))
    return (
        f"CSD · {count(len(report.models), 'model')} · {count(len(report.rounds), 'round')} · "
        f"T = {removed} · {result.iterations:,} contests, seed {result.seed}"
    )


def rounds_line(report: ContestReport) -> str:
    """The benchmarks of each round, in the order of the contest."""
    between = " → " if report.weights is None else " · "
    order = "" if report.weights is None else " (in an order drawn by weight for every contest)"
    return between.join(" + ".join(names) for names in report.rounds) + order


def intervals_lines(report: ContestReport) -> Iterator[str]:
    """What the intervals are of, and why there are none."""
    yield "Rank intervals are for the Monte Carlo error alone."
    if report.result.reason is not None:
        yield f"No interval: {report.result.reason}"


def spoilt_lines(report: ContestReport) -> Iterator[str]:
    """What the spoilt score does, here and in the plain mean."""
    if report.spoilt is None:
        return
    spoilt = report.spoilt
    names = ", ".join(report.benchmarks[column] for column in spoilt.benchmarks)
    before, after = spoilt.csd_ranks
    mean_before, mean_after = spoilt.mean_ranks
    yield (
        f"With {spoilt.value:g} on {names}, {report.models[spoilt.model]} goes from rank {before} "
        f"to {after} by CSD, and from {mean_before} to {mean_after} by mean score"
    )
