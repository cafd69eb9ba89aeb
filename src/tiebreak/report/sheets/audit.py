"""Sheets and data of the audit of a pool: native scores, saturation, identical answers, holes."""

import math
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from tiebreak.candidates import Audit, BenchmarkAudit, CandidatePool
from tiebreak.candidates import audit as audit_of
from tiebreak.report.cells import UNDEFINED, Cell, integer, words
from tiebreak.report.json import document, json_ready
from tiebreak.report.sheet import Section, Sheet, Table, model_names, names, numbers
from tiebreak.text import count

_SHOWN_PER_KIND = 5


def sheets_of(held: Audit | CandidatePool) -> list[Sheet]:
    """One sheet per benchmark, then a few notes of each kind; a pool is audited first."""
    audit = audit_of(held) if isinstance(held, CandidatePool) else held
    sheets = [_sheet(benchmark) for benchmark in audit.benchmarks]
    if sections := tuple(_note_sections(audit)):
        sheets.append(Sheet(sections=sections))
    return sheets


def data_of(audit: Audit) -> dict[str, Any]:
    """The fields of `Audit` under "tiebreak/audit", version 1, with all notes."""
    return document("tiebreak/audit", 1, **json_ready(audit))


def _sheet(benchmark: BenchmarkAudit) -> Sheet:
    rows = []
    for model in benchmark.models:
        mean = UNDEFINED if math.isnan(model.native_mean) else f"{model.native_mean:.4f}"
        partly = f" (of {model.n_native})" if 0 < model.n_native < model.n else ""
        score = Cell(mean + partly, None if math.isnan(model.native_mean) else model.native_mean)
        rows.append(
            (words(model.model), integer(model.n), score, words(", ".join(model.native_metrics)))
        )
    columns = (model_names(), *numbers("Answers", "Native score"), names("Metric"))
    return Sheet(
        f"{benchmark.benchmark}: {count(benchmark.n_items, 'item')}",
        sections=(
            Section.of(Table.of(columns, rows, "Native scores")),
            Section.of(lines=_facts(benchmark)),
        ),
    )


def _facts(benchmark: BenchmarkAudit) -> Iterator[str]:
    items = benchmark.n_items
    yield (
        f"saturated: {_share(benchmark.n_saturated, benchmark.n_native)} items "
        "have equal native scores for all models"
    )
    if benchmark.n_pairs:
        yield (
            f"identical: {_share(benchmark.n_identical_pairs, benchmark.n_pairs)} pairs of "
            f"answers; in {_share(benchmark.n_all_identical, items)} items all answers"
        )
    yield f"holes: {count(benchmark.n_dropped, 'item')} left out"
    if missing := items - benchmark.n_native:
        yield f"undefined: {count(missing, 'item')} without a native score for every model"


def _share(part: int, total: int) -> str:
    return f"{part} of {total}" + (f" ({part / total:.1%})" if total else "")


def _note_sections(audit: Audit) -> Iterator[Section]:
    by_kind = sorted(audit.notes, key=lambda note: note.kind)
    for kind, group in groupby(by_kind, key=lambda note: note.kind):
        notes = [f"- {note}" for note in group]
        more = len(notes) - _SHOWN_PER_KIND
        yield Section.of(
            lines=[
                f"{kind.replace('_', ' ')} ({len(notes)}):",
                *notes[:_SHOWN_PER_KIND],
                *([f"- and {more} more"] if more > 0 else []),
            ]
        )
