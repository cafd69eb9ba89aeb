"""Contamination: how many questions each model fills in from memory (LLMEval-Fair, table 4)."""

import math
from typing import Any

from tiebreak.fair.analysis.contamination import Contamination, Recall, RecallGap
from tiebreak.report.cells import UNDEFINED, Cell, above, share_bounds, signed, words
from tiebreak.report.json import document, in_columns, json_ready, only
from tiebreak.report.sheet import Section, Sheet, Table, model_names, names, numbers
from tiebreak.text import p_value


def sheets_of(table: Contamination) -> list[Sheet]:
    """One sheet: counts of recalled questions (table 4), and each dataset against each baseline."""
    taken_out = {"word": "a word of the question", "option": "an option"}.get(
        table.mask, table.mask
    )
    return [
        Sheet(
            "Questions that models fill in from memory",
            (f"taken out: {taken_out}; recalled: two of three attempts right",),
            verdict=verdict_of(table),
            sections=(
                Section.of(_counts(table), legend=[_legend(table)]),
                Section.of(_gaps(table), heading="Beside the baseline", legend=[_TEST]),
            ),
            notes=tuple(map(str, table.notes)),
        )
    ]


def data_of(table: Contamination) -> dict[str, Any]:
    """The fields of `Contamination` under "tiebreak/contamination", version 1."""
    fields = ("mask", "models", "datasets", "baselines", "level", "cells", "gaps", "notes")
    return document("tiebreak/contamination", 1, verdict=verdict_of(table), **only(table, *fields))


def rows_of(table: Contamination) -> list[dict[str, Any]]:
    """One row for each model and dataset, with its difference from each baseline."""
    return [_flat(table, cell) for cell in table.cells]


def verdict_of(table: Contamination) -> str:
    """Say which models recall more of which dataset than of the baselines."""
    if not table.baselines:
        return (
            "Without a baseline nothing follows from these counts: some questions can be guessed "
            "(--baseline NAME, questions that were never published)."
        )
    if not table.gaps:
        return "No model has both a dataset and a baseline: nothing can be compared."
    sentences = [_sentence(table, name) for name in table.datasets]
    return " ".join(filter(None, sentences))


def _sentence(table: Contamination, dataset: str) -> str:
    """Name the models above all baselines, not told apart, and below one, for one dataset."""
    by_model: dict[str, list[RecallGap]] = {}
    for gap in sorted(table.gaps, key=lambda gap: table.models.index(gap.model)):
        if gap.dataset == dataset:
            by_model.setdefault(gap.model, []).append(gap)
    above, below, open_ = list[str](), list[str](), list[str]()
    for model, gaps in by_model.items():
        less = any(gap.apart and gap.difference.value < 0 for gap in gaps)
        group = above if all(gap.above for gap in gaps) else below if less else open_
        group.append(model)
    baselines = " and ".join(table.baselines)
    parts = []
    if above:
        parts.append(f"{', '.join(above)} recall{'s' * (len(above) == 1)} more than of {baselines}")
    if open_:
        parts.append(f"{', '.join(open_)} not told apart from {baselines}")
    if below:
        parts.append(f"{', '.join(below)} less than of {baselines}")
    return f"{dataset}: {'; '.join(parts)}." if parts else ""


_TEST = (
    "The share recalled minus that of the baseline; p adjusted for all models and datasets (Holm)"
)


def _legend(table: Contamination) -> str:
    sizes = sorted({cell.n for cell in table.cells})
    n = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
    return (
        f"Recalled questions of {n}; below, the {table.level * 100:g}% interval of their share, "
        "over originals"
    )


def _counts(table: Contamination) -> Table:
    columns = (*table.datasets, *table.baselines)
    rows = (
        (words(model), *(_count(table.cell(model, dataset)) for dataset in columns))
        for model in table.models
    )
    headings = [f"{name} (baseline)" if name in table.baselines else name for name in columns]
    return Table.of((model_names(), *numbers(*headings)), rows, "Recalled questions")


def _gaps(table: Contamination) -> Table:
    columns = (*map(names, ("Model", "Dataset", "Baseline")), *numbers("Δ points", "p"))
    rows = (
        (
            *map(words, (gap.model, gap.dataset, gap.baseline)),
            _points(gap),
            Cell(UNDEFINED)
            if math.isnan(gap.p_adjusted)
            else Cell(p_value(gap.p_adjusted), gap.p_adjusted),
        )
        for gap in table.gaps
    )
    return Table.of(columns, rows, "Datasets beside the baseline")


def _count(recall: Recall | None) -> Cell:
    if recall is None or not recall.n:
        return Cell(UNDEFINED)
    bounds = share_bounds(recall.share.lower, recall.share.upper)
    return above(Cell(f"{recall.recalled:,}", recall.share.value), bounds.text)


def _points(gap: RecallGap) -> Cell:
    shown = signed(100 * gap.difference.value, 1, tone="bad" if gap.above else "")
    if math.isnan(gap.difference.lower):
        return shown
    bounds = (signed(100 * bound, 1).text for bound in (gap.difference.lower, gap.difference.upper))
    return above(shown, " to ".join(bounds))


def _flat(table: Contamination, recall: Recall) -> dict[str, Any]:
    data: dict[str, Any] = json_ready(recall)
    del data["share"]
    data |= in_columns("share", recall.share)
    for base in table.baselines:
        gap = table.gap(recall.model, recall.dataset, base)
        for name, end in (("difference", "value"), ("lower", "lower"), ("upper", "upper")):
            data[f"{name}_from_{base}"] = json_ready(getattr(gap.difference, end)) if gap else None
        data[f"p_adjusted_from_{base}"] = json_ready(gap.p_adjusted) if gap else None
    return data
