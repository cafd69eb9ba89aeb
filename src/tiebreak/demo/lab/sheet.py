"""A study of planted models as a sheet, and as data."""

import math
from collections.abc import Iterator
from statistics import pstdev
from typing import Any

from tiebreak.demo.lab.planted import World
from tiebreak.demo.lab.simulate import Agreement, Figure, Row, Simulation
from tiebreak.report.cells import Cell, decimal, integer, number, share, words
from tiebreak.report.json import document, only
from tiebreak.report.sheet import Column, Section, Sheet, Table, names, numbers
from tiebreak.text import count, percent

NOTE = (
    "Refinement and critique cost calls here and change no verdict: what they gain in a real run "
    "is not simulated."
)


def sheets_of(study: Simulation) -> list[Sheet]:
    """A sheet with a table for each number of items, the numbers needed, and the answer."""
    by_items = [
        Section.of(
            _table([row for row in study.rows if row.n_items == n_items]),
            legend=("Means over the pools, ± standard error.", NOTE) if last else (),
            heading=count(n_items, "item"),
        )
        for n_items in study.items
        for last in [n_items == study.items[-1]]
    ]
    needed = (Section.of(_needed(study)), Section.of(lines=[study.answer]))
    return [
        Sheet(
            _title(study),
            (_judge_line(study.world),),
            sections=(*by_items, *needed),
            notes=tuple(_undefined(study)),
        )
    ]


def data_of(study: Simulation) -> dict[str, Any]:
    """The fields of `Simulation` under "tiebreak/simulation", version 1."""
    world = study.world
    return document(
        "tiebreak/simulation",
        1,
        world={**only(world, "qualities", "ties", "pass_rate"), "judge": world.traits},
        **only(study, "items", "repeats", "seed", "target", "confidence"),
        rows=[_row(row) for row in study.rows],
        items_needed=study.needed,
        answer=study.answer,
        note=NOTE,
    )


def _title(study: Simulation) -> str:
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
        *([f"taste in lists {traits.list_taste:g}"] if traits.list_taste else []),
        f"grading noise {traits.grading_noise:g}",
        f"malformed {percent(traits.malformed)}",
        f"repeated answers {percent(world.ties)}",
    ]
    return f"judge: {', '.join(parts)}"


def _table(rows: list[Row]) -> Table:
    columns = (
        names("Protocol", 14),
        *numbers("ρ full pairwise", "same first", "ρ truth", "right first"),
        *numbers("calls per item", "in a row"),
        Column("worst ρ pairwise", spare=1),
        Column("worst ρ truth", spare=1),
        Column("τ full pairwise", spare=1),
        Column("unscored", spare=1),
    )
    return Table.of(
        columns,
        (
            (
                words(row.protocol),
                _with_error(row.reference.spearman),
                share(row.reference.top1.mean),
                _with_error(row.truth.spearman),
                share(row.truth.top1.mean),
                number(row.calls_per_item, 1),
                number(row.depth, 1),
                number(row.reference.spearman.minimum),
                number(row.truth.spearman.minimum),
                number(row.reference.kendall.mean),
                share(row.unscored),
            )
            for row in rows
        ),
    )


def _undefined(study: Simulation) -> Iterator[str]:
    """Notes on means that leave out pools whose leaderboard ties all models or ranks none."""
    for row in study.rows:
        if left_out := row.truth.spearman.undefined:
            yield (
                f"{row.protocol} with {count(row.n_items, 'item')} orders no models in "
                f"{left_out} of {count(study.repeats, 'pool')}: its ρ leaves these out"
            )


def _needed(study: Simulation) -> Table:
    heading = f"pools with ρ truth ≥ {study.target:g}, by items"
    rows = []
    for label, needed in study.needed.items():
        tried = [row for row in study.rows if row.protocol == label]
        calls = None if needed is None else study.row(label, needed).total_calls
        most = Cell(f"> {study.items[-1]:,}", math.inf) if needed is None else integer(needed)
        recovered = ", ".join(f"{row.n_items:,}: {percent(row.recovered)}" for row in tried)
        rows.append((words(label), words(recovered), most, integer(calls)))
    columns = (names("Protocol", 14), Column(heading, numeric=False))
    return Table.of((*columns, *numbers("items needed", "calls")), rows, "Items needed")


def _row(row: Row) -> dict[str, Any]:
    return {
        **only(row, "protocol", "n_items"),
        "full_pairwise": _agreement(row.reference),
        "truth": _agreement(row.truth),
        "calls_per_item": row.calls_per_item,
        "calls_by_kind": row.calls,
        **only(row, "depth", "unscored", "unranked", "recovered"),
    }


def _agreement(agreement: Agreement) -> dict[str, Any]:
    return {
        name: {
            **only(figure, "mean", "standard_error", "minimum"),
            "undefined_pools": figure.undefined,
        }
        for name, figure in only(agreement, "spearman", "kendall", "top1").items()
    }


def _with_error(figure: Figure) -> Cell:
    if math.isnan(figure.standard_error):
        return number(figure.mean)
    shown = f"{decimal(figure.mean)} ±{figure.standard_error:.3f}"
    return Cell(shown, number(figure.mean).key)
