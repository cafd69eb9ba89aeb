"""A diagnosis on a terminal, and as data."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import zip_longest
from typing import Any

from rich.console import Console
from rich.table import Table

from tiebreak.analysis.diagnosis import Diagnosis
from tiebreak.candidates import BenchmarkAudit
from tiebreak.rankers.separation import Pair
from tiebreak.report.aggregation import new_table
from tiebreak.report.cells import UNDEFINED, decimal, plain
from tiebreak.report.export import json_ready
from tiebreak.words import count, percent


def diagnosis_as_dict(diagnoses: Iterable[Diagnosis]) -> dict[str, Any]:
    """Diagnoses as data that `json.dumps(…, allow_nan=False)` accepts; undefined is null.

    The shape; what each number means is said at the dataclasses::

        {"benchmarks": [
            {"benchmark", "verdict": {"kind", "judging", "text"}, "evidence": {…}, "power",
             "standings": [{"model", "native", "n_items", "groups": []}],
             "pairs": [{"above", "below", "n_items", "difference", "detectable", "p", "p_adjusted",
                        "apart"}],
             "metrics": [], "n_native", "n_saturated", "n_dropped", "distinct", "n_pairs",
             "n_identical_pairs", "n_tied_pairs", "n_tied_different", "notes": []}]}
    """
    return {"benchmarks": [_as_dict(diagnosis) for diagnosis in diagnoses]}


def _as_dict(diagnosis: Diagnosis) -> dict[str, Any]:
    counted, measured = diagnosis.audit, diagnosis.saturation
    pairs = [
        asdict(pair)
        | {
            "above": counted.models[pair.above].model,
            "below": counted.models[pair.below].model,
            "detectable": float(measured.detectable[pair.above, pair.below]),
        }
        for pair in diagnosis.separation.pairs
    ]
    data: dict[str, Any] = json_ready(
        {
            "benchmark": diagnosis.benchmark,
            "verdict": asdict(diagnosis.verdict),
            "evidence": asdict(diagnosis.evidence),
            "power": measured.power,
            "standings": [asdict(standing) for standing in diagnosis.standings],
            "pairs": pairs,
            "metrics": _metrics(counted),
            "n_native": counted.n_native,
            "n_saturated": counted.n_saturated,
            "n_dropped": counted.n_dropped,
            "distinct": diagnosis.distinct,
            "n_pairs": counted.n_pairs,
            "n_identical_pairs": counted.n_identical_pairs,
            "n_tied_pairs": diagnosis.n_tied_pairs,
            "n_tied_different": diagnosis.n_tied_different,
            "notes": diagnosis.notes,
        }
    )
    return data


def _metrics(counted: BenchmarkAudit) -> list[str]:
    return sorted({metric for entry in counted.models for metric in entry.native_metrics})


def render_diagnosis(diagnoses: Iterable[Diagnosis], console: Console | None = None) -> None:
    """Print each benchmark's verdict, its native leaderboard with groups, and the counts."""
    console = console or Console(highlight=False)
    for number, diagnosis in enumerate(diagnoses):
        if number:
            console.print()
        counted = diagnosis.audit
        size = f"{count(len(counted.models), 'model')} · {count(counted.n_items, 'item')}"
        console.print(plain(f"{diagnosis.benchmark} · {size}", "bold"))
        console.print(plain(f"native score: {', '.join(_metrics(counted)) or 'none'}", "dim"))
        console.print(plain(diagnosis.verdict.text))
        console.print()
        if diagnosis.separation.order:
            console.print(_table(diagnosis))
            for line in _legend(diagnosis):
                console.print(plain(line, "dim"))
            console.print()
        for line in _facts(diagnosis):
            console.print(plain(line))
        for note in diagnosis.notes:
            console.print(plain(f"Note: {note}", "yellow"))


def _table(diagnosis: Diagnosis) -> Table:
    """The native leaderboard: each model, its lead over the next, the lead that would show."""
    table = new_table("Model", "Native", "Lead", "Detectable", "Groups")
    leads: dict[int, Pair] = {}
    for pair in diagnosis.separation.pairs:
        leads.setdefault(pair.above, pair)  # the first is the one with the next model
    for standing, column in zip_longest(diagnosis.standings, diagnosis.separation.order):
        lead = leads.get(column)
        shown = diagnosis.saturation.detectable[lead.above, lead.below] if lead else math.nan
        partly = 0 < standing.n_items < diagnosis.evidence.n_items
        table.add_row(
            plain(standing.model),
            decimal(standing.native) + (f" (of {standing.n_items:,})" if partly else ""),
            decimal(lead.difference if lead else math.nan),
            decimal(shown),
            ", ".join(map(str, standing.groups)) or UNDEFINED,
        )
    return table


def _legend(diagnosis: Diagnosis) -> Iterator[str]:
    measured, n_pairs = diagnosis.saturation, diagnosis.evidence.n_pairs
    if n_pairs:
        level, power = f"{measured.level * 100:g}%", f"{measured.power * 100:g}%"
        yield f"Detectable: the lead over the next that shows with {power} probability (at {level})"
        tests = count(n_pairs, "paired test") + (", Holm" if n_pairs > 1 else "")
        yield f"Groups: models that share one are not told apart ({tests}, at {level})"


def _facts(diagnosis: Diagnosis) -> Iterator[str]:
    """What was counted, one line each."""
    counted, evidence = diagnosis.audit, diagnosis.evidence
    rows = evidence.n_rows
    if evidence.n_pairs:
        yield f"Items with equal native scores: {_share(counted.n_saturated, counted.n_native)}"
    if evidence.n_unscored:
        yield f"Items that lack a native score: {_share(evidence.n_unscored, rows)}"
    if counted.n_dropped:
        yield f"Items left out for want of an answer: {counted.n_dropped:,}"
    if evidence.n_models < 2:
        return
    yield f"Items with identical answers, at no cost: {_share(evidence.n_identical, rows)}"
    yield f"Different answers per item: {diagnosis.distinct:.1f} of {evidence.n_models} on average"
    different = counted.n_pairs - counted.n_identical_pairs
    yield f"Pairs of answers that differ: {_share(different, counted.n_pairs)}"
    if diagnosis.n_tied_pairs:
        share = _share(diagnosis.n_tied_different, diagnosis.n_tied_pairs)
        yield f"Pairs with equal native scores that differ: {share}"


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}" + (f" ({percent(part / whole)})" if whole else "")
