"""Contamination: how many questions each model fills in from memory (LLMEval-Fair, table 4)."""

import math
from typing import Any

from tiebreak.fair.analysis.contamination import Contamination, Recall, RecallGap
from tiebreak.report.cells import UNDEFINED, Cell, Tone, percents, signed, words
from tiebreak.report.json import document, in_columns, json_ready, only
from tiebreak.report.sheet import Section, Sheet, Table, model_names, names, numbers
from tiebreak.text import p_value


def sheets_of(found: Contamination) -> list[Sheet]:
    """Table 4, and each dataset against each baseline."""
    what = {"word": "a word of the question", "option": "an option"}.get(found.mask, found.mask)
    return [
        Sheet(
            "Questions that models fill in from memory",
            (f"taken out: {what}; recalled: two of three attempts right",),
            verdict=verdict_of(found),
            sections=(
                Section.of(_counts(found), legend=[_legend(found)]),
                Section.of(_gaps(found), heading="Beside the baseline", legend=[_TEST]),
            ),
            notes=found.notes,
        )
    ]


def data_of(found: Contamination) -> dict[str, Any]:
    """The fields of `Contamination` under "tiebreak/contamination", version 1."""
    fields = ("mask", "models", "datasets", "baselines", "level", "cells", "gaps", "notes")
    return document("tiebreak/contamination", 1, verdict=verdict_of(found), **only(found, *fields))


def rows_of(found: Contamination) -> list[dict[str, Any]]:
    """One row for each model and dataset, with its difference from each baseline."""
    return [_flat(found, cell) for cell in found.cells]


def verdict_of(found: Contamination) -> str:
    """Who recalls more of what than of the baselines."""
    if not found.baselines:
        return (
            "Without a baseline nothing follows from these counts: some questions can be guessed "
            "(--baseline NAME, questions that were never published)."
        )
    if not found.gaps:
        return "No model has both a dataset and a baseline: nothing can be compared."
    sentences = [_sentence(found, name) for name in found.datasets]
    return " ".join(filter(None, sentences))


def _sentence(found: Contamination, dataset: str) -> str:
    """What is known of one dataset: above each baseline, or not told apart."""
    models = [
        model
        for model in found.models
        if any(gap.model == model and gap.dataset == dataset for gap in found.gaps)
    ]
    above = [model for model in models if all(gap.above for gap in _of(found, model, dataset))]
    below = [
        model
        for model in models
        if any(gap.apart and gap.gap.difference < 0 for gap in _of(found, model, dataset))
    ]
    open_ = [model for model in models if model not in (*above, *below)]
    baselines = " and ".join(found.baselines)
    parts = []
    if above:
        parts.append(f"{', '.join(above)} recall{'s' * (len(above) == 1)} more than of {baselines}")
    if open_:
        parts.append(f"{', '.join(open_)} not told apart from {baselines}")
    if below:
        parts.append(f"{', '.join(below)} less than of {baselines}")
    return f"{dataset}: {'; '.join(parts)}." if parts else ""


def _of(found: Contamination, model: str, dataset: str) -> list[RecallGap]:
    return [gap for gap in found.gaps if (gap.model, gap.dataset) == (model, dataset)]


_TEST = (
    "The share recalled minus that of the baseline; p adjusted for all models and datasets (Holm)"
)


def _legend(found: Contamination) -> str:
    sizes = sorted({cell.n for cell in found.cells})
    n = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
    return (
        f"Recalled questions of {n}; below, the {found.level * 100:g}% interval of their share, "
        "over originals"
    )


def _counts(found: Contamination) -> Table:
    """Models × datasets, baselines last."""
    columns = (*found.datasets, *found.baselines)
    rows = (
        (words(model), *(_count(found.cell(model, dataset)) for dataset in columns))
        for model in found.models
    )
    headings = [f"{name} (baseline)" if name in found.baselines else name for name in columns]
    return Table.of((model_names(), *numbers(*headings)), rows, "Recalled questions")


def _gaps(found: Contamination) -> Table:
    columns = (*map(names, ("Model", "Dataset", "Baseline")), *numbers("Δ points", "p"))
    rows = (
        (
            *(words(gap.model), words(gap.dataset), words(gap.baseline)),
            _points(gap),
            Cell(UNDEFINED)
            if math.isnan(gap.p_adjusted)
            else Cell(p_value(gap.p_adjusted), gap.p_adjusted),
        )
        for gap in found.gaps
    )
    return Table.of(columns, rows, "Datasets beside the baseline")


def _count(one: Recall | None) -> Cell:
    if one is None or not one.n:
        return Cell(UNDEFINED)
    bounds = "" if math.isnan(one.share.lower) else percents(one.share.lower, one.share.upper)
    return Cell(f"{one.recalled:,}", one.share.value, under=bounds)


def _points(gap: RecallGap) -> Cell:
    """The difference in percentage points."""
    shown = signed(100 * gap.gap.difference, 1)
    tone: Tone = "bad" if gap.above else ""
    if math.isnan(gap.gap.lower):
        return Cell(shown.text, shown.key, tone)
    bounds = " to ".join(signed(100 * bound, 1).text for bound in (gap.gap.lower, gap.gap.upper))
    return Cell(shown.text, shown.key, tone, bounds)


def _flat(found: Contamination, one: Recall) -> dict[str, Any]:
    data: dict[str, Any] = json_ready(one)
    del data["share"]
    data |= in_columns("share", one.share)
    for base in found.baselines:
        gap = found.gap(one.model, one.dataset, base)
        for name in ("difference", "lower", "upper"):
            data[f"{name}_from_{base}"] = json_ready(getattr(gap.gap, name)) if gap else None
        data[f"p_adjusted_from_{base}"] = json_ready(gap.p_adjusted) if gap else None
    return data
