"""Leaderboards on a terminal.

Everything that comes from logs (names of models and benchmarks, error texts, paths) is printed as
plain text: rich markup and control characters in it have no effect.
"""

from collections.abc import Iterable

from rich.console import Console

from tiebreak.analysis.leaderboard import Leaderboard
from tiebreak.report.board_lines import (
    intervals_line,
    judge_lines,
    receipt_lines,
    settled_line,
    source_line,
    spread_line,
    title_line,
    undefined_views,
    unranked_notes,
    views_line,
)
from tiebreak.report.board_tables import kinds_table, rows_table, usage_table, views_table
from tiebreak.report.cells import UNDEFINED
from tiebreak.report.terminal import plain

__all__ = ["UNDEFINED", "plain", "render"]

# From this width on there is room for the columns that 80 characters have none for.
WIDE = 100


def render(boards: Iterable[Leaderboard], console: Console | None = None) -> None:
    """Print leaderboards: warnings, table, judge, receipt, notes.

    Args:
        boards: what to print.
        console: where to print; standard output by default. At 100 columns and more the tables
            also show rank intervals and the share of draws in which a model came first.
    """
    console = console or Console(highlight=False)
    for number, board in enumerate(boards):
        if number:
            console.print()
        _render_board(board, console)


def _render_board(board: Leaderboard, console: Console) -> None:
    def say(text: str, style: str = "") -> None:
        console.print(plain(text, style))

    say(title_line(board), "bold")
    say(source_line(board), "dim")
    if board.settled is not None:
        say(settled_line(board.settled))
    for warning in board.warnings:
        say(f"WARNING: {warning}", "bold red")
    console.print()
    if board.rows:
        console.print(rows_table(board, wide=console.width >= WIDE))
        say(intervals_line(board), "dim")
        console.print()
        _render_views(board, console)
        say(spread_line(board))
    else:
        say("No item could be ranked.")
    for line in judge_lines(board):
        say(line)
    if board.rule.reviewed:
        say("Who favours itself, and what the panel is worth: tiebreak peers LOG")
    if board.receipt.n_calls:
        console.print()
        console.print(kinds_table(board.receipt))
        console.print()
        console.print(usage_table(board.receipt))
        console.print()
    for line in receipt_lines(board.receipt):
        say(line)
    if board.notes or board.unranked:
        console.print()
    for note in (*board.notes, *unranked_notes(board)):
        say(f"Note: {note}", "yellow")


def _render_views(board: Leaderboard, console: Console) -> None:
    if not board.views:
        return
    table = views_table(board, wide=console.width >= WIDE)
    if table is not None:
        console.print(table)
        console.print(plain(views_line(board), "dim"))
    for line in undefined_views(board):
        console.print(plain(line))
    console.print()
