"""Comparisons as JSON-ready data and as CSV."""

from dataclasses import asdict
from typing import Any

from tiebreak.analysis.comparison import BenchmarkComparison, ComparedLog, Comparison
from tiebreak.rankers.stability import AgreementInterval
from tiebreak.report.export import csv_of, json_ready

FORMAT = "tiebreak/comparison"
# Raised when a key is renamed, removed or changes its meaning; new keys do not raise it.
VERSION = 1


def comparison_as_dict(comparison: Comparison) -> dict[str, Any]:
    """A comparison as data that `json.dumps(…, allow_nan=False)` accepts; undefined is null.

    The shape; what each number means is said at the dataclasses::

        {"format": "tiebreak/comparison", "version": 1, "reference", "level", "draws", "seed",
         "benchmarks": [
            {"benchmark", "reference", "logs": [
                {"name", "role", "protocol", "log", "eval_id", "created", "judges": [],
                 "n_items", "n_models",
                 "agreement": null or {"spearman": {"value", "lower", "upper", "n", "undefined",
                                                    "reason"},
                                       "kendall": {…}, "top1": {"value", "n", "reason"},
                                       "top1_share", "level", "draws", "seed"},
                 "gain": {"value", "n", "reason"},
                 "price": {"n_items", "calls", "input_tokens", "output_tokens", "cost", "depth",
                           "relative_calls", "relative_tokens", "relative_cost"},
                 "total": {"n_calls", "n_cached", "input_tokens", "output_tokens", "cost", "paid"},
                 "bias": {…}, "length": {…}, "replies": [{…}], "warnings": []}],
             "orders": null or {"n_items", "n_models", "agreement": {…}},
             "warnings": [], "notes": []}],
         "totals": [{"name", "n_benchmarks", "spearman", "kendall", "top1", "calls",
                     "relative_cost"}],
         "notes": []}

    `bias`, `length` and `replies` are those of `tiebreak rank --json`.
    """
    data: dict[str, Any] = json_ready(
        {
            "format": FORMAT,
            "version": VERSION,
            "reference": comparison.reference,
            "level": comparison.level,
            "draws": comparison.draws,
            "seed": comparison.seed,
            "benchmarks": [_benchmark(one) for one in comparison.benchmarks],
            "totals": [asdict(total) for total in comparison.totals],
            "notes": comparison.notes,
        }
    )
    return data


def comparison_to_csv(comparison: Comparison) -> str:
    """One line per benchmark and log, with a header line; undefined numbers are empty.

    The reference's own agreement is empty.
    """
    rows = [
        {"benchmark": one.benchmark} | _flat(log)
        for one in comparison.benchmarks
        for log in one.logs
    ]
    return csv_of(rows)


def _benchmark(one: BenchmarkComparison) -> dict[str, Any]:
    return {
        "benchmark": one.benchmark,
        "reference": one.reference.name,
        "logs": [_log(log) for log in one.logs],
        "orders": None if one.orders is None else asdict(one.orders),
        "warnings": one.warnings,
        "notes": one.notes,
    }


def _log(log: ComparedLog) -> dict[str, Any]:
    board = log.board
    return {
        "name": log.name,
        "role": log.role,
        "protocol": board.protocol,
        "log": board.log,
        "eval_id": board.eval_id,
        "created": board.created,
        "judges": board.judges,
        "n_items": log.n_items,
        "n_models": log.n_models,
        "agreement": None if log.agreement is None else asdict(log.agreement),
        "gain": asdict(log.gain),
        "price": asdict(log.price),
        "total": _total(log),
        "bias": asdict(board.bias),
        "length": asdict(board.length),
        "replies": [asdict(judge) for judge in board.replies],
        "warnings": board.warnings,
    }


def _flat(log: ComparedLog) -> dict[str, Any]:
    board, found = log.board, log.agreement
    figures: list[tuple[str, AgreementInterval | None]] = [
        ("spearman", found.spearman if found else None),
        ("kendall", found.kendall if found else None),
    ]
    cells: dict[str, Any] = {"name": log.name, "role": log.role, "protocol": board.protocol}
    cells |= {"log": board.log, "n_items": log.n_items, "n_models": log.n_models}
    for name, figure in figures:
        cells[name] = figure.value if figure else None
        cells[f"{name}_lower"] = figure.lower if figure else None
        cells[f"{name}_upper"] = figure.upper if figure else None
    price = asdict(log.price)
    return cells | {
        "top1": found.top1.value if found else None,
        "top1_share": found.top1_share if found else None,
        "gain": log.gain.value,
        "n_judged": price.pop("n_items"),
        **price,
        **{f"total_{name}": value for name, value in _total(log).items()},
        "first_rate": board.bias.first_rate,
        "first_lower": board.bias.first_lower,
        "first_upper": board.bias.first_upper,
        "n_first": board.bias.n_first,
        "flip_rate": board.bias.flip_rate,
        "n_swapped": board.bias.n_swapped,
        "length_correlation": board.length.correlation,
        "length_lower": board.length.correlation_lower,
        "length_upper": board.length.correlation_upper,
        "n_questions": sum(judge.n_questions for judge in board.replies),
        "n_unscored": sum(judge.n_unscored for judge in board.replies),
    }


def _total(log: ComparedLog) -> dict[str, float | None]:
    bill = log.board.receipt
    return {
        "n_calls": bill.n_calls,
        "n_cached": bill.n_cached,
        "input_tokens": bill.input_tokens,
        "output_tokens": bill.output_tokens,
        "cost": bill.cost,
        "paid": bill.paid,
    }
