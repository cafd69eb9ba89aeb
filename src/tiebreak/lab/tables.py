"""A study as tables on a terminal, and as data."""

import math
from collections.abc import Iterator
from statistics import pstdev
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from tiebreak.lab.planted import World
from tiebreak.lab.study import Agreement, Figure, Row, Study
from tiebreak.report.cells import UNDEFINED, decimal, plain, rate
from tiebreak.report.console import WIDE
from tiebreak.words import count, percent

NOTE = (
    "Refinement and critique cost calls here and change no verdict: what they gain in a real run "
    "is not simulated."
)


def render_study(study: Study, console: Console | None = None) -> None:
    """Print a table for each number of items, what is needed, and the answer.

    Args:
        study: what to print.
        console: where to print; standard output by default. At 100 columns and more the tables
            also show the worst pool, Kendall's τ and the share of unscored replies.
    """
    console = console or Console(highlight=False)
    console.print(plain(_title(study), "bold"))
    console.print(plain(_judge_line(study.world), "dim"))
    for n_items in study.items:
        console.print()
        console.print(plain(count(n_items, "item"), "bold"))
        rows = [row for row in study.rows if row.n_items == n_items]
        console.print(_rows_table(rows, wide=console.width >= WIDE))
    console.print(plain("Means over the pools, ± standard error.", "dim"))
    console.print(plain(NOTE, "dim"))
    for line in _undefined_lines(study):
        console.print(plain(f"Note: {line}", "yellow"))
    console.print()
    console.print(_needed_table(study))
    console.print()
    console.print(plain(study.answer))


def study_as_dict(study: Study) -> dict[str, Any]:
    """A study as data that `json.dumps(…, allow_nan=False)` accepts; undefined is null."""
    world, traits = study.world, study.world.traits
    return {
        "world": {
            "qualities": list(world.qualities),
            "ties": world.ties,
            "pass_rate": world.pass_rate,
            "judge": {name: getattr(traits, name) for name in traits.__slots__},
        },
        "items": list(study.items),
        "repeats": study.repeats,
        "seed": study.seed,
        "target": study.target,
        "confidence": study.confidence,
        "rows": [_row_as_dict(row) for row in study.rows],
        "items_needed": dict(study.needed),
        "answer": study.answer,
        "note": NOTE,
    }


def _title(study: Study) -> str:
    n, items = len(study.world.qualities), study.items[-1]
    return (
        f"{count(n, 'planted model')} (sd of qualities {pstdev(study.world.qualities):.3g}, of "
        "answers 1) · "
        f"{count(study.repeats, 'pool')} of {count(items, 'item')} · seed {study.seed}"
    )


def _judge_line(world: World) -> str:
    traits = world.traits
    parts = [
        f"resolution {traits.resolution:g}",
        f"noise {traits.noise:g}" + (" (fresh)" if traits.fresh else ""),
        f"position bias {traits.position_bias:g}",
        f"verbosity bias {traits.verbosity_bias:g}",
        f"listwise noise {traits.reading_noise:g}",
        f"grading noise {traits.grading_noise:g}",
        f"malformed {percent(traits.malformed)}",
        f"repeated answers {percent(world.ties)}",
    ]
    return f"judge: {', '.join(parts)}"


def _rows_table(rows: list[Row], *, wide: bool) -> Table:
    """One row per protocol; `wide` also shows Kendall's τ, the worst pool and unscored replies."""
    table = Table(box=box.SIMPLE, pad_edge=False, show_edge=False)
    table.add_column("Protocol", overflow="fold", min_width=14)
    for heading in ("ρ full\npairwise", "same\nfirst", "ρ truth", "right\nfirst"):
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in ("calls\nper item", "in a\nrow"):
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in ("worst ρ\npairwise", "worst ρ\ntruth", "τ full\npairwise", "un-\nscored"):
        if wide:
            table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        extra = (
            decimal(row.reference.spearman.minimum),
            decimal(row.truth.spearman.minimum),
            decimal(row.reference.kendall.mean),
            rate(row.unscored),
        )
        table.add_row(
            plain(row.protocol),
            _with_error(row.reference.spearman),
            rate(row.reference.top1.mean),
            _with_error(row.truth.spearman),
            rate(row.truth.top1.mean),
            decimal(row.calls_per_item, 1),
            decimal(row.depth, 1),
            *(extra if wide else ()),
        )
    return table


def _undefined_lines(study: Study) -> Iterator[str]:
    """Where a mean leaves pools out, because a leaderboard ties, or ranks, nobody."""
    for row in study.rows:
        if left_out := row.truth.spearman.undefined:
            yield (
                f"{row.protocol} with {count(row.n_items, 'item')} orders no models in "
                f"{left_out} of {count(study.repeats, 'pool')}: its ρ leaves these out"
            )


def _needed_table(study: Study) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False, show_edge=False)
    table.add_column("Protocol", overflow="fold", min_width=14)
    table.add_column(f"pools with ρ truth ≥ {study.target:g}, by items", no_wrap=True)
    table.add_column("items needed", justify="right", no_wrap=True)
    table.add_column("calls", justify="right", no_wrap=True)
    for label, needed in study.needed.items():
        own = [row for row in study.rows if row.protocol == label]
        found = ", ".join(f"{row.n_items:,}: {percent(row.recovered)}" for row in own)
        calls = UNDEFINED
        if needed is not None:
            calls = f"{study.row(label, needed).calls_per_item * needed:,.0f}"
        most = f"> {study.items[-1]:,}" if needed is None else f"{needed:,}"
        table.add_row(plain(label), found, most, calls)
    return table


def _row_as_dict(row: Row) -> dict[str, Any]:
    return {
        "protocol": row.protocol,
        "n_items": row.n_items,
        "full_pairwise": _agreement_as_dict(row.reference),
        "truth": _agreement_as_dict(row.truth),
        "calls_per_item": row.calls_per_item,
        "calls_by_kind": dict(row.calls),
        "depth": row.depth,
        "unscored": _or_none(row.unscored),
        "unranked": row.unranked,
        "recovered": row.recovered,
    }


def _agreement_as_dict(agreement: Agreement) -> dict[str, Any]:
    figures = {name: getattr(agreement, name) for name in ("spearman", "kendall", "top1")}
    return {
        name: {
            "mean": _or_none(figure.mean),
            "standard_error": _or_none(figure.standard_error),
            "minimum": _or_none(figure.minimum),
            "undefined_pools": figure.undefined,
        }
        for name, figure in figures.items()
    }


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def _with_error(figure: Figure) -> str:
    if math.isnan(figure.standard_error):
        return decimal(figure.mean)
    return f"{figure.mean:.3f} ±{figure.standard_error:.3f}"
