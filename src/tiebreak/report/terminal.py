"""Sheets on a terminal.

All texts are printed as plain text: rich markup and control characters in them have no effect.
"""

from collections.abc import Iterable, Iterator
from typing import Literal

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from tiebreak.report.layout import Layout, lay_out
from tiebreak.report.sheet import Sheet, Table, one_line

_STYLES = {"": "", "good": "blue", "bad": "red"}
# By the blanks between two columns; the box itself makes one of them.
_PADDING = {1: (0, 0, 0, 0), 2: (0, 1, 0, 0), 3: (0, 1, 0, 1)}
# So many of the columns that there is no room for are named.
_NAMED = 6


def show(sheets: Iterable[Sheet] | Sheet, console: Console | None = None) -> None:
    """Print sheets.

    Args:
        sheets: what to print.
        console: where to print; standard output by default. Of a table that is too wide for it
            columns are left out, and named below (`Column.spare`).
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
            *(_table(section.table, width) if section.table else []),
            *_lines(section.legend, "dim"),
            *_lines(section.lines),
        ]
    yield _lines((f"Note: {note}" for note in sheet.notes), "yellow")


def _lines(texts: Iterable[str], style: str = "") -> list[RenderableType]:
    return [plain(text, style) for text in texts if text]


def _table(table: Table, width: int) -> list[RenderableType]:
    """A table, and a line that says what of it there is no room for."""
    layout = lay_out(table, width)
    made = RichTable(box=box.SIMPLE, pad_edge=False, show_edge=False, padding=_PADDING[layout.gap])
    for place, heading in zip(layout.columns, layout.headings, strict=True):
        column = table.columns[place]
        side: Literal["left", "right"] = "left" if column.left or not column.numeric else "right"
        made.add_column(Text(heading), justify=side, no_wrap=True)
    for number, (row, texts) in enumerate(zip(table.rows, layout.rows, strict=True), start=1):
        tones = (_STYLES[row[place].tone] for place in layout.columns)
        made.add_row(*map(Text, texts, tones), end_section=number in table.rules)
    return [made, *_lines(_less(layout, width), "dim")]


def _less(layout: Layout, width: int) -> Iterator[str]:
    if layout.prefix:
        yield f"Models: each name begins with {layout.prefix}, left out here."
    if layout.left_out:
        first, rest = layout.left_out[:_NAMED], layout.left_out[_NAMED:]
        more = [f"{len(rest)} more"] if rest else []
        yield f"Not shown at {width} columns: {', '.join([*first, *more])}; --json has all."
