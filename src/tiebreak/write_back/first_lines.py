"""What the terminal shows when a judging run has ended: the first lines of its boards."""

import io
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console

from tiebreak.analysis.leaderboard import Leaderboard
from tiebreak.report import terminal
from tiebreak.report.sheet import Sheet
from tiebreak.report.sheets.short import short_sheet
from tiebreak.words import count

MODELS: Final = 5
BOARDS: Final = 4
"""More than this are counted, not shown."""


def first_lines(boards: Sequence[Leaderboard], log: str, part: str | None = None) -> str:
    """Verdict and first models of each board, and the command for the rest; "" without a board.

    Args:
        boards: of one log.
        log: where it is.
        part: the shard of a run that is judged on several machines.
    """
    ranked = [board for board in boards if board.rows]
    if not ranked:
        return ""
    text = io.StringIO()
    # Not on standard output: Inspect's displays have their own ways there.
    terminal.show(_sheets(ranked, part), Console(file=text, highlight=False))
    return f"\n{text.getvalue()}\nAll of it: tiebreak rank {shlex.quote(_near(log))}\n"


def sentence_of(board: Leaderboard, part: str | None = None) -> str:
    """The verdict; that of a shard is about its part of the items, and says so."""
    sentence = board.verdict.sentence
    return f"About the items of shard {part} only: {sentence}" if part else sentence


def _sheets(boards: Sequence[Leaderboard], part: str | None) -> Iterator[Sheet]:
    for board in boards[:BOARDS]:
        yield short_sheet(board, verdict=sentence_of(board, part), most=MODELS)
    if (left := len(boards) - BOARDS) > 0:
        yield Sheet(f"… and {count(left, 'more board')}")


def _near(log: str) -> str:
    """A log's address as it is typed here."""
    path = log.removeprefix("file://")
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except ValueError:
        return path
