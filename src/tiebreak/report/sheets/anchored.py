"""Sheets and data of anchored boards: scores by people and judge, by people, by the judge."""

from collections.abc import Iterable
from typing import Any

from tiebreak.analysis.anchored import AnchoredBoard, AnchoredRow
from tiebreak.reason import Reason
from tiebreak.report.cells import Cell, number, rank, rank_range, signed_with_bounds, span, words
from tiebreak.report.json import document, flat, only
from tiebreak.report.sheet import Column, Section, Sheet, Table, interval_heading, model_names
from tiebreak.text import count


def sheets_of(boards: Iterable[AnchoredBoard]) -> list[Sheet]:
    """One sheet per board."""
    return [_sheet(board) for board in boards]


def _sheet(board: AnchoredBoard) -> Sheet:
    labels = f"{count(board.n_labels, 'label')} on {count(board.n_labelled, 'item')}"
    judged = f"{labels} of {board.n_items:,}"
    by = f"judged by {', '.join(board.judges)}" if board.judges else "no judge"
    return Sheet(
        f"{board.benchmark} · {board.protocol} · anchored by people",
        (f"people: {board.source} ({judged})", by, f"log: {board.log}"),
        str(board.sentence),
        sections=(Section.of(_table(board), legend=[_legend(board)]),),
        notes=tuple(map(str, board.notes)),
    )


def _table(board: AnchoredBoard) -> Table:
    interval = interval_heading(board.level)
    columns = (
        *(Column("#"), Column("Ranks"), model_names(), Column("Score")),
        *(Column(interval, left=True), Column("People", meaning="by people's labels alone")),
        *(Column(f"{interval} alone", left=True, spare=2), Column("Judge", spare=1)),
        Column("Judge − people", left=True, spare=3),
    )
    return Table.of(columns, map(_cells, board.rows), "Scores by people and judge")


def _cells(row: AnchoredRow) -> tuple[Cell, ...]:
    return (
        rank(row.rank),
        rank_range(row.rank_lower, row.rank_upper),
        words(row.model),
        number(row.score.value),
        span(row.score),
        number(row.people.value),
        span(row.people),
        number(row.judge),
        signed_with_bounds(row.excess),
    )


def _legend(board: AnchoredBoard) -> Reason:
    common, apart = board.weights
    if board.kind == "stars":
        return Reason("anchored_by_stars", apart=apart, common=common)
    return Reason("anchored_by_pairs", apart=apart)


def data_of(boards: Iterable[AnchoredBoard]) -> dict[str, Any]:
    """The fields of `AnchoredBoard` under "tiebreak/anchored", version 1."""
    return document("tiebreak/anchored", 1, boards=list(boards))


def rows_of(boards: Iterable[AnchoredBoard]) -> list[dict[str, Any]]:
    """One row per model: its board, and its figures with their bounds."""
    columns = ("rank", "model", "rank_lower", "rank_upper", "score", "people", "excess", "judge")
    return [
        {**only(board, "benchmark", "protocol", "log"), **flat(row, *columns)}
        for board in boards
        for row in board.rows
    ]
