"""Sheets and data of boards of matches: scores, strengths, position bias, raters' agreement."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tiebreak.analysis.votes import VoteBoard, VoteRow
from tiebreak.reason import Reason
from tiebreak.report.cells import (
    Cell,
    bounds,
    decimal,
    number,
    percents,
    rank,
    rank_range,
    span,
    words,
)
from tiebreak.report.json import document, flat
from tiebreak.report.sheet import Column, Section, Sheet, Table, interval_heading, model_names
from tiebreak.report.sheets.leaderboard import tier_lines
from tiebreak.text import count, percent


def sheets_of(boards: Iterable[VoteBoard]) -> list[Sheet]:
    """One sheet per board."""
    return [_sheet(board) for board in boards]


def _sheet(board: VoteBoard) -> Sheet:
    matches = count(board.n_matches, "match", "matches")
    on = f" on {count(board.n_items, 'item')}" if board.n_items else ""
    by = f" by {count(board.n_raters, 'rater')}" if board.n_raters else ""
    return Sheet(
        f"{Path(board.source).name} · {matches}",
        (f"file: {board.source} ({count(len(board.rows), 'model')}, {matches}{on}{by})",),
        str(board.sentence),
        tuple(map(str, board.warnings)),
        (
            Section.of(
                _table(board), legend=[*tier_lines(board.tiers, board.rows), *_legend(board)]
            ),
            Section.of(lines=_raters(board)),
        ),
        tuple(map(str, board.notes)),
    )


def _table(board: VoteBoard) -> Table:
    interval = Column(interval_heading(board.level), left=True)
    spared = Column(interval_heading(board.level), left=True, spare=2)
    columns = (
        *(Column("#"), model_names(), Column("Score"), interval, Column("Ranks", left=True)),
        *(Column("Bradley–Terry", short="Bradley–\nTerry", spare=1), spared),
        *(Column("Least squares", short="Least\nsquares", spare=1), spared),
        Column("W–L–T", spare=3),
    )
    return Table.of(columns, map(_cells, board.rows), "Ranking")


def _cells(row: VoteRow) -> tuple[Cell, ...]:
    return (
        *(rank(row.rank), words(row.model), number(row.score.value)),
        bounds(row.score.lower, row.score.upper),
        rank_range(row.rank_lower, row.rank_upper),
        *(number(row.strength.value), span(row.strength)),
        *(number(row.margin.value), span(row.margin)),
        Cell(f"{row.wins:,}–{row.losses:,}–{row.ties:,}", row.wins),
    )


def _legend(board: VoteBoard) -> Iterator[Reason]:
    yield Reason("scores_by_matches")
    no_items = ", each item has one" if board.n_items else ", the file names no items"
    why = "" if board.by == "item" else no_items
    yield Reason("tests_of_matches", by=board.by, why=why, seed=board.seed)


def _raters(board: VoteBoard) -> Iterator[str]:
    if board.position is None:
        yield "First answer won: unknown, the file does not say which was shown first"
    else:
        share = board.position
        yield (
            f"First answer won: {percent(share.value)} of matches with a winner "
            f"({percents(share.lower, share.upper)}; unbiased: 50%)"
        )
    if board.agreement is not None:
        alpha = board.agreement
        yield (
            f"Raters who judged the same agree by α = {decimal(alpha.value, 2)} "
            f"({decimal(alpha.lower, 2)} to {decimal(alpha.upper, 2)}; 1 = fully, 0 = by chance)"
        )


def data_of(boards: Iterable[VoteBoard]) -> dict[str, Any]:
    """The fields of `VoteBoard` under "tiebreak/votes", version 1."""
    return document("tiebreak/votes", 1, boards=list(boards))


def rows_of(boards: Iterable[VoteBoard]) -> list[dict[str, Any]]:
    """One row per model: its file, and its figures with their bounds."""
    places, counts = ("rank", "model", "rank_lower", "rank_upper"), ("wins", "losses", "ties")
    columns = (*places, "score", "strength", "margin", *counts)
    return [
        {"source": board.source, **flat(row, *columns), "level": board.level}
        for board in boards
        for row in board.rows
    ]
