"""Sheets as a terminal of some width shows them."""

import io
import json
from collections.abc import Iterable
from typing import Any

from rich.console import Console

from tiebreak.report import terminal
from tiebreak.report.sheet import Sheet, Table


def printed(sheets: Iterable[Sheet] | Sheet, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    terminal.show(sheets, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def round_trip(data: object) -> Any:
    """The data after a trip through JSON."""
    return json.loads(json.dumps(data, allow_nan=False))


def texts(table: Table) -> list[list[str]]:
    """The texts of all cells."""
    return [[cell.text for cell in row] for row in table.rows]
