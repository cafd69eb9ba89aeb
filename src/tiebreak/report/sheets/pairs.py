"""Sheets and data of the comparison of two models that were chosen beforehand."""

from collections.abc import Iterable
from typing import Any

from tiebreak.analysis.pair import PairComparison
from tiebreak.reason import Reason
from tiebreak.report.cells import Cell, integer, number, signed, span, words
from tiebreak.report.json import document, json_ready, only
from tiebreak.report.sheet import Column, Section, Sheet, Table, interval_heading, model_names


def sheets_of(pairs: Iterable[PairComparison]) -> list[Sheet]:
    """One sheet per comparison."""
    return [
        Sheet(
            f"{pair.benchmark} · {pair.protocol} · {pair.first} and {pair.second}",
            (f"log: {pair.log}",),
            str(pair.sentence),
            sections=(Section.of(_table(pair), lines=[Reason("pair_chosen")]),),
        )
        for pair in pairs
    ]


def _table(pair: PairComparison) -> Table:
    columns = (
        *(model_names("First"), model_names("Second"), Column("Difference")),
        *(Column(interval_heading(pair.level), left=True), Column("p"), Column("Items")),
    )
    p = Cell("< 0.001", pair.p) if pair.p < 0.001 else number(pair.p)
    row = (
        *(words(pair.first), words(pair.second)),
        *(signed(pair.difference.value, 3), span(pair.difference)),
        *(p, integer(pair.difference.n_items)),
    )
    return Table.of(columns, [row], "One pair")


def data_of(pairs: Iterable[PairComparison]) -> dict[str, Any]:
    """The fields of `PairComparison` under "tiebreak/pairs", version 1."""
    return document("tiebreak/pairs", 1, pairs=list(pairs))


def rows_of(pairs: Iterable[PairComparison]) -> list[dict[str, Any]]:
    """One row per comparison, with the fields of `PairComparison`."""
    rows = (
        {
            **only(pair, "benchmark", "protocol", "log", "eval_id", "first", "second"),
            "n_items": pair.difference.n_items,
            "difference": pair.difference.value,
            **only(pair.difference, "lower", "upper"),
            **only(pair, "p", "level", "sentence"),
        }
        for pair in pairs
    )
    return [json_ready(row) for row in rows]
