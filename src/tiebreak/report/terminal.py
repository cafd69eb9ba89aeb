"""Sheets on a terminal.

All texts are printed as plain text: rich markup and control characters in them have no effect.
"""

from collections.abc import Iterable, Iterator
from typing import Literal

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from tiebreak.report.cells import Cell
from tiebreak.report.sheet import WIDE, Column, Sheet, Table, one_line

_STYLES = {"": "", "good": "blue", "bad": "red"}
# By the blanks between two columns; the box itself makes one of them.
_PADDING = {1: (0, 0, 0, 0), 2: (0, 1, 0, 0), 3: (0, 1, 0, 1)}


def show(sheets: Iterable[Sheet] | Sheet, console: Console | None = None) -> None:
    """Print sheets.

    Args:
        sheets: what to print.
        console: where to print; standard output by default. Some columns are shown on a wide
            console only (`Column.room`).
    """
    console = console or Console(highlight=False)
    for number, sheet in enumerate([sheets] if isinstance(sheets, Sheet) else sheets):
        if number:
            console.print()
        for place, block in enumerate(filter(None, _blocks(sheet, console.width))):
            if place:
                console.print()
            for line in block:
                console.print(line)


def plain(text: str, style: str = "") -> Text:
    """One line of text, shown as it is: it folds, and what would steer a terminal is replaced."""
    return Text(one_line(text), style=style, overflow="fold")


def _blocks(sheet: Sheet, width: int) -> Iterator[list[RenderableType]]:
    """What belongs together; there is an empty line between two blocks."""
    yield [
        *_lines([sheet.title], "bold"),
        *_lines(sheet.subtitle, "dim"),
        *_lines([sheet.verdict]),
        *_lines((f"WARNING: {warning}" for warning in sheet.warnings), "bold red"),
    ]
    for section in sheet.sections:
        yield _lines([section.heading], "bold")
        yield [
            *([_table(section.table, width)] if section.table else []),
            *_lines(section.legend, "dim"),
            *_lines(section.lines),
        ]
    yield _lines((f"Note: {note}" for note in sheet.notes), "yellow")


def _lines(texts: Iterable[str], style: str = "") -> list[RenderableType]:
    return [plain(text, style) for text in texts if text]


def _table(table: Table, width: int) -> RichTable:
    shown = [number for number, column in enumerate(table.columns) if column.room <= width]
    # Columns are closer than two blanks only where there is no room.
    gap = max(table.gap, 2 if width >= WIDE else 1)
    made = RichTable(box=box.SIMPLE, pad_edge=False, show_edge=False, padding=_PADDING[gap])
    for number in shown:
        _add_column(made, table.columns[number], width)
    for number, row in enumerate(table.rows):
        cells = (_cell(row[place], table.columns[place]) for place in shown)
        made.add_row(*cells, end_section=number + 1 in table.rules)
    return made


def _add_column(table: RichTable, column: Column, width: int) -> None:
    short = column.short if width < WIDE or "\n" in column.short else ""
    heading = "\n".join(map(one_line, (short or column.heading).split("\n")))
    side: Literal["left", "right"] = "left" if column.left or not column.numeric else "right"
    if column.folds:
        table.add_column(Text(heading), justify=side, overflow="fold", min_width=column.folds)
    else:
        table.add_column(Text(heading), justify=side, no_wrap=True)


def _cell(cell: Cell, column: Column) -> Text:
    text = one_line(cell.text) + (f"\n{one_line(cell.under)}" if cell.under else "")
    return Text(text, style=_STYLES[cell.tone], overflow="fold" if column.folds else None)
