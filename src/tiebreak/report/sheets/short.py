"""A leaderboard in a few lines: at the end of a run, and where several are to fit on a screen."""

from typing import Final

from tiebreak.analysis.leaderboard import Leaderboard
from tiebreak.report.columns import COLUMNS
from tiebreak.report.sheet import Section, Sheet, Table
from tiebreak.words import count

_SHOWN: Final = ("rank", "model", "borda", "lower", "native")
_COLUMNS: Final = tuple(column for column in COLUMNS if column.fields[0] in _SHOWN)


def short_sheet(
    board: Leaderboard,
    *,
    verdict: str = "",
    most: int | None = None,
) -> Sheet:
    """Rank, model, score, interval and native score of all models, or the first `most`."""
    rows = board.rows[:most]
    left = len(board.rows) - len(rows)
    table = Table.of(
        (column.heading_on(board) for column in _COLUMNS),
        ((column.cell(row, board) for column in _COLUMNS) for row in rows),
    )
    more = [f"… and {count(left, 'more model')}"] if left else []
    return Sheet(
        f"{board.benchmark} · {board.protocol} · {count(board.n_items, 'item')}",
        verdict=verdict,
        sections=(Section.of(table, lines=more),),
    )
