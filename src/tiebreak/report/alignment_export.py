"""Alignment with people as JSON-ready data and as CSV."""

from dataclasses import asdict
from typing import Any

from tiebreak.analysis.alignment.align import Alignment, BenchmarkAlignment
from tiebreak.analysis.alignment.correlations import Correlation, Rater
from tiebreak.report.export import csv_of, json_ready

FORMAT = "tiebreak/alignment"
# Raised when a key is renamed, removed or changes its meaning; new keys do not raise it.
VERSION = 1


def alignment_as_dict(alignment: Alignment, *, items: bool = False) -> dict[str, Any]:
    """An alignment as data that `json.dumps(…, allow_nan=False)` accepts; undefined is null.

    The shape; what each number means is said at the dataclasses::

        {"format": "tiebreak/alignment", "version": 1, "source", "level", "draws", "seed",
         "benchmarks": [
            {"benchmark", "log", "n_items", "n_candidates",
             "models": [{"model", "human_name", "human_rank"}],
             "item_ids": [],
             "raters": [
                {"kind", "name",
                 "pearson": {"n_rows", "n_undefined",
                             "mean": {"value", "lower", "upper", "n_items", "reason"},
                             "sd", "minimum", "lower_quartile", "median", "upper_quartile",
                             "maximum", "macro": {as "mean"}, "values": []},
                 "kendall": {…}}],
             "notes": []}],
         "notes": []}

    Args:
        alignment: what to export.
        items: whether to give `item_ids` and, for every rater, `values`: a correlation for each.
    """
    data: dict[str, Any] = json_ready(
        {
            "format": FORMAT,
            "version": VERSION,
            "source": alignment.source,
            "level": alignment.level,
            "draws": alignment.draws,
            "seed": alignment.seed,
            "benchmarks": [_benchmark(one, items=items) for one in alignment.benchmarks],
            "notes": alignment.notes,
        }
    )
    return data


def alignment_to_csv(alignment: Alignment) -> str:
    """One line per benchmark and rater, with a header line; undefined numbers are empty."""
    rows = [
        {"benchmark": one.benchmark, "log": one.log, "n_models": len(one.models)} | _flat(rater)
        for one in alignment.benchmarks
        for rater in one.raters
    ]
    return csv_of(rows)


def _benchmark(one: BenchmarkAlignment, *, items: bool) -> dict[str, Any]:
    people = zip(one.models, one.human_names, one.human_ranks, strict=True)
    return {
        "benchmark": one.benchmark,
        "log": one.log,
        "n_items": one.n_items,
        "n_candidates": one.n_candidates,
        "models": [
            dict(zip(("model", "human_name", "human_rank"), m, strict=True)) for m in people
        ],
        **({"item_ids": one.item_ids} if items else {}),
        "raters": [
            {
                "kind": rater.kind,
                "name": rater.name,
                "pearson": _correlation(rater.pearson, items=items),
                "kendall": _correlation(rater.kendall, items=items),
            }
            for rater in one.raters
        ],
        "notes": one.notes,
    }


def _correlation(one: Correlation, *, items: bool) -> dict[str, Any]:
    data = asdict(one)
    values = data.pop("values").tolist()
    return data | ({"values": values} if items else {})


def _flat(rater: Rater) -> dict[str, Any]:
    cells: dict[str, Any] = {"kind": rater.kind, "name": rater.name}
    for name, figure in (("pearson", rater.pearson), ("kendall", rater.kendall)):
        data = _correlation(figure, items=False)
        for part in ("mean", "macro"):
            interval = data.pop(part)
            data[part] = interval["value"]
            data |= {f"{part}_{bound}": interval[bound] for bound in ("lower", "upper")}
        cells |= {f"{name}_{key}": value for key, value in data.items()}
    return cells
