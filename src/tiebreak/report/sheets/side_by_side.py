"""Protocols side by side: every model's rank and score under each, and each on every benchmark."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from tiebreak.analysis.comparison import BenchmarkComparison, ComparedLog, Comparison
from tiebreak.analysis.entries import ScoredModel
from tiebreak.rankers.stability import ResampledAgreement
from tiebreak.report.cells import UNDEFINED, Cell, decimal, number, span, words
from tiebreak.report.sheet import Column, Section, Table, names, numbers

T = TypeVar("T")

SCALES: Final = (
    "Ranks are those of the leaderboard. Scores are the protocol's own, and so is their scale: the "
    "mean result of a model's matches in an item (½ for a tie), its grade, or the Borda score of a "
    "list, with {level} intervals over items"
)
# More of them make a table too wide for 80 characters.
_PROTOCOLS, _BENCHMARKS = 7, 4


def places(one: BenchmarkComparison, level: float) -> Iterator[Section]:
    """Table 9 of SEAL: every model's rank and score under every protocol, the reference's first."""
    models = dict.fromkeys(row.model for log in (one.reference, *one.logs) for row in log.places)
    parts = list(_parts(list(_first_runs(one)), _PROTOCOLS))
    for logs in parts:
        columns = [Column(log.name, left=True, folds=8, short=_folded(log.name)) for log in logs]
        found = [{row.model: row for row in log.places} for log in logs]
        rows = [(words(model), *(_place(own.get(model)) for own in found)) for model in models]
        table = Table.of((names("Rank and score"), *columns), rows, "Ranks and scores")
        legend = [SCALES.format(level=f"{level * 100:g}%")] if logs is parts[-1] else []
        yield Section.of(table, legend=legend)


def _place(row: ScoredModel | None) -> Cell:
    if row is None or row.rank is None:
        return Cell(UNDEFINED)
    ends = "" if math.isnan(row.lower) else f"{_short(row.lower, 2)}–{_short(row.upper, 2)}"
    return Cell(f"#{row.rank} {_short(row.value, 3)}", row.rank, under=ends)


def _short(value: float, digits: int) -> str:
    """A number in [0, 1] without its zero, as the paper has it: seven columns fit into 80."""
    shown = decimal(value, digits).removeprefix("0")
    return shown if shown.startswith(".") else shown[: digits + 1].removesuffix(".0")


def _folded(name: str) -> str:
    """A heading in several short lines."""
    return name.replace("_", "_\n").replace(" ", "\n")


def by_benchmark(comparison: Comparison) -> Iterator[Table]:
    """A row a protocol, a column a benchmark: ρ and gain (SEAL, table 1), top-1 (table 4)."""
    found = [
        (one.benchmark, {log.name: log for log in _first_runs(one)})
        for one in comparison.benchmarks
    ]
    protocols = dict.fromkeys(name for _, logs in found for name in logs)
    shown: dict[str, Callable[[ComparedLog], Cell]] = {
        f"ρ with {comparison.reference}": _rho,
        "Gain": lambda log: number(log.gain.value, 2, unit="×"),
        "Top-1": lambda log: top1(log.agreement),
    }
    for heading, cell in shown.items():
        for part in _parts(found, _BENCHMARKS):
            columns = (names(heading), *numbers(*(benchmark for benchmark, _ in part)))
            rows = [
                (words(p), *(cell(logs[p]) if p in logs else Cell(UNDEFINED) for _, logs in part))
                for p in protocols
            ]
            yield Table.of(columns, rows, f"{heading} by benchmark")


def _rho(log: ComparedLog) -> Cell:
    if log.agreement is None:
        return Cell(UNDEFINED)
    found = log.agreement.spearman
    return replace(number(found.value, 2), under=span(found).text)


def top1(found: ResampledAgreement | None) -> Cell:
    """Whether two boards have the same model first; a share where models are tied for it."""
    if found is None:
        return Cell(UNDEFINED)
    value = found.top1.value
    return Cell({0.0: "no", 1.0: "yes"}.get(value, decimal(value, 2)), number(value).key)


def _first_runs(one: BenchmarkComparison) -> Iterator[ComparedLog]:
    """The reference, and of the others the first run of each."""
    return (
        log
        for log in one.logs
        if log.role == "reference" or (log.role == "protocol" and log.run == 1)
    )


def _parts(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """So many side by side; what a terminal has no room for goes below."""
    return (values[start : start + size] for start in range(0, len(values), size))
