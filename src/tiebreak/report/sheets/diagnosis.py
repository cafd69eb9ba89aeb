"""Sheets and data of a diagnosis: is a benchmark saturated, and could judging help?"""

import math
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any

from tiebreak.analysis.diagnosis import Diagnosis
from tiebreak.rankers.pairwise_tests import Pair
from tiebreak.report.cells import UNDEFINED, Cell, decimal, number, words
from tiebreak.report.json import document, json_ready, only
from tiebreak.report.sheet import Section, Sheet, Table, model_names, numbers
from tiebreak.text import count, percent


def sheets_of(diagnoses: Iterable[Diagnosis]) -> list[Sheet]:
    """One sheet per benchmark: its verdict, its native leaderboard with groups, and counts."""
    return [_sheet(diagnosis) for diagnosis in diagnoses]


def data_of(diagnoses: Iterable[Diagnosis]) -> dict[str, Any]:
    """Findings of `Diagnosis` under "tiebreak/diagnosis", version 1.

    The shape::

    {"format", "version", "benchmarks": [
        {"benchmark", "verdict": {"kind", "judging", "text"}, "evidence": {…}, "power",
         "standings": [{"model", "native", "n_items", "groups": []}],
         "pairs": [{"above", "below", "n_items", "difference", "detectable", "p", "p_adjusted",
                    "apart"}],
         "metrics": [], "n_native", "n_saturated", "n_dropped", "distinct", "n_pairs",
         "n_identical_pairs", "n_tied_pairs", "n_tied_different", "notes": []}]}
    """
    return document("tiebreak/diagnosis", 1, benchmarks=list(map(_data, diagnoses)))


def _sheet(diagnosis: Diagnosis) -> Sheet:
    counted = diagnosis.audit
    size = f"{count(len(counted.models), 'model')} · {count(counted.n_items, 'item')}"
    order = diagnosis.separation.order
    return Sheet(
        f"{diagnosis.benchmark} · {size}",
        (f"native score: {', '.join(_metrics(diagnosis)) or 'none'}",),
        str(diagnosis.verdict.text),
        sections=(
            *([Section.of(_table(diagnosis), legend=_legend(diagnosis))] if order else []),
            Section.of(lines=_facts(diagnosis)),
        ),
        notes=tuple(map(str, diagnosis.notes)),
    )


def _data(diagnosis: Diagnosis) -> dict[str, Any]:
    counted, measured = diagnosis.audit, diagnosis.saturation
    pairs = [
        json_ready(pair)
        | {
            "above": counted.models[pair.above].model,
            "below": counted.models[pair.below].model,
            "detectable": measured.detectable[pair.above, pair.below],
        }
        for pair in diagnosis.separation.pairs
    ]
    return {
        **only(diagnosis, "benchmark", "verdict", "evidence"),
        "power": measured.power,
        "standings": diagnosis.standings,
        "pairs": pairs,
        "metrics": _metrics(diagnosis),
        **only(counted, "n_native", "n_saturated", "n_dropped"),
        "distinct": diagnosis.distinct,
        **only(counted, "n_pairs", "n_identical_pairs"),
        **only(diagnosis, "n_tied_pairs", "n_tied_different", "notes"),
    }


def _metrics(diagnosis: Diagnosis) -> list[str]:
    models = diagnosis.audit.models
    return sorted({metric for entry in models for metric in entry.native_metrics})


def _table(diagnosis: Diagnosis) -> Table:
    """The native leaderboard: each model, its lead over the next, and the detectable lead."""
    leads: dict[int, Pair[int]] = {}
    for pair in diagnosis.separation.pairs:
        leads.setdefault(pair.above, pair)  # the first pair of a model is that with the next one
    rows = []
    for standing, column in zip_longest(diagnosis.standings, diagnosis.separation.order):
        lead = leads.get(column)
        shown = diagnosis.saturation.detectable[lead.above, lead.below] if lead else math.nan
        partly = 0 < standing.n_items < diagnosis.evidence.n_items
        native = decimal(standing.native) + (f" (of {standing.n_items:,})" if partly else "")
        groups = ", ".join(map(str, standing.groups)) or UNDEFINED
        rows.append(
            (
                *(words(standing.model), Cell(native, number(standing.native).key)),
                *(number(lead.difference if lead else math.nan), number(float(shown))),
                Cell(groups, standing.groups[0] if standing.groups else None),
            )
        )
    columns = (model_names(), *numbers("Native", "Lead", "Detectable", "Groups"))
    return Table.of(columns, rows, "Native scores")


def _legend(diagnosis: Diagnosis) -> Iterator[str]:
    measured, n_pairs = diagnosis.saturation, diagnosis.evidence.n_pairs
    if n_pairs:
        level, power = f"{measured.level * 100:g}%", f"{measured.power * 100:g}%"
        yield f"Detectable: the lead over the next that shows in Groups in about {power} of cases"
        tests = f"all {n_pairs} tests" if n_pairs > 1 else "1 paired test"
        yield f"Groups: models that share one are not told apart ({tests}, at {level})"


def _facts(diagnosis: Diagnosis) -> Iterator[str]:
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


def _share(part: int, total: int) -> str:
    return f"{part:,} of {total:,}" + (f" ({percent(part / total)})" if total else "")
