"""Print sheets on a terminal: choose the columns of tables, their widths, and where texts fold.

All texts are printed as plain text: rich markup and control characters in them have no effect.

A table that is too wide gives up, in this order: the wide gap between columns, headings on one
line, the common prefix of model names, names on one line, columns that it can do without
(`Column.spare`), the remaining gap, names on two lines, and at last other columns. A text folds at
blanks, a long name after one of `/:-_.`; only a word that takes more than half of the width can be
broken anywhere.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from os.path import commonprefix
from typing import Final, Literal, NamedTuple

from rich import box
from rich.cells import cell_len, chop_cells
from rich.console import Console, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from tiebreak.report.cells import UNDEFINED, Cell
from tiebreak.report.sheet import Column, Sheet, Table, one_line
from tiebreak.text import listed


class Layout(NamedTuple):
    """A table fitted to a width, with line breaks in its headings and rows.

    `columns` are the indices of the shown columns, `gap` the number of blanks between two of them,
    `left_out` the headings of the others. `prefix` was removed from all names of models.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    columns: tuple[int, ...]
    gap: int
    left_out: tuple[str, ...] = ()
    prefix: str = ""


_STYLES = {"": "", "good": "blue", "bad": "red"}
# Padding of rich by the gap between two columns; the box itself makes one blank of the gap.
_PADDING = {1: (0, 0, 0, 0), 2: (0, 1, 0, 0), 3: (0, 1, 0, 1)}
# Replacements for encodings that lack these characters, e.g. ASCII.
_PLAIN: Final = str.maketrans({"·": "-", "–": "-", "…": "...", "≤": "<=", "≥": ">=", "×": "x"})
# Of the columns that are left out, the line below the table names this many.
_NAMED = 6


def show(sheets: Iterable[Sheet] | Sheet, console: Console | None = None) -> None:
    """Print one sheet or several.

    Args:
        sheets: the sheets.
        console: where to print; standard output by default. A table that is too wide for it leaves
            out columns and names them below (`Column.spare`). A terminal (not a pipe) with room for
            it also draws the intervals as lines. Characters that its encoding lacks are replaced.
    """
    console = console or Console(highlight=False)
    encoding = console.encoding
    if not encoding.startswith("utf"):
        with console.capture() as captured:
            _show(sheets, console)
        text = captured.get().translate(_PLAIN).encode(encoding, "backslashreplace")
        console.file.write(text.decode(encoding))
        return
    _show(sheets, console)


def _show(sheets: Iterable[Sheet] | Sheet, console: Console) -> None:
    for number, sheet in enumerate([sheets] if isinstance(sheets, Sheet) else sheets):
        if number:
            console.print()
        for place, block in enumerate(filter(None, _blocks(sheet, console))):
            if place:
                console.print()
            for line in block:
                console.print(line, soft_wrap=line.no_wrap if isinstance(line, Text) else None)


def plain(text: str, style: str = "") -> Text:
    """One paragraph without markup; it folds, and control characters are replaced."""
    # An indented line is a command: it must not fold, so that readers can copy it.
    command = text.startswith("  ") or None
    return Text(one_line(text), style=style, overflow="fold", no_wrap=command)


def _blocks(sheet: Sheet, console: Console) -> Iterator[list[RenderableType]]:
    """Blocks of lines that belong together; an empty line is printed between two blocks."""
    yield [
        *_lines([sheet.title], "bold"),
        *_lines(sheet.subtitle, "dim"),
        *_lines([sheet.verdict]),
        *_lines((f"WARNING: {warning}" for warning in sheet.warnings), "bold red"),
    ]
    for section in sheet.sections:
        yield _lines([section.heading], "bold")
        yield [
            *(_table(section.table, console) if section.table else []),
            *_lines(section.legend, "dim"),
            *_lines(section.lines),
        ]
    yield _lines((f"Note: {note}" for note in sheet.notes), "yellow")


def _lines(texts: Iterable[str], style: str = "") -> list[RenderableType]:
    return [plain(text, style) for text in texts if text]


def _table(table: Table, console: Console) -> list[RenderableType]:
    """A table, and lines that name the prefix and the columns that are left out."""
    width = console.width
    layout = lay_out(table, width)
    if console.is_terminal and (
        drawn := _drawn(table, ascii=not console.encoding.startswith("utf"))
    ):
        wider = lay_out(drawn, width)
        if not wider.left_out:
            table, layout = drawn, wider
    made = RichTable(box=box.SIMPLE, pad_edge=False, show_edge=False, padding=_PADDING[layout.gap])
    for place, heading in zip(layout.columns, layout.headings, strict=True):
        column = table.columns[place]
        side: Literal["left", "right"] = "left" if column.left or not column.numeric else "right"
        made.add_column(Text(heading), justify=side, no_wrap=True)
    for number, (row, texts) in enumerate(zip(table.rows, layout.rows, strict=True), start=1):
        tones = (_STYLES[row[place].tone] for place in layout.columns)
        made.add_row(*map(Text, texts, tones), end_section=number in table.rules)
    less = []
    if layout.prefix:
        less.append(f"Models: each name begins with {layout.prefix}, left out here.")
    if layout.left_out:
        named = listed(layout.left_out, most=_NAMED)
        less.append(f"Not shown at {width} columns: {named}; --json has all.")
    return [made, *_lines(less, "dim")]


# Width of the axis of drawn intervals, in characters.
_AXIS: Final = 28


def _drawn(table: Table, *, ascii: bool) -> Table | None:
    """The table with a last column that draws its intervals on one axis, or None without any."""
    spans = [next((cell.span for cell in row if cell.span), None) for row in table.rows]
    ends = [end for span in spans if span for end in span]
    if not ends or min(ends) == max(ends):
        return None
    low, high = min(ends), max(ends)
    empty, line, dot = ".-o" if ascii else "·─●"

    def cell(span: tuple[float, float, float] | None) -> Cell:
        if span is None:
            return Cell("")
        first, middle, last = (round((end - low) / (high - low) * (_AXIS - 1)) for end in span)
        before, after = line * (middle - first), line * (last - middle)
        return Cell(f"{empty * first}{before}{dot}{after}{empty * (_AXIS - 1 - last)}")

    heading = Column(f"{low:.3g} to {high:.3g}", left=True)
    rows = [(*row, cell(span)) for row, span in zip(table.rows, spans, strict=True)]
    return replace(table, columns=(*table.columns, heading), rows=tuple(rows))


# A word up to this width, e.g. "Top-1", is not broken unless the terminal is very narrow.
_WORD: Final = 12
_PIECE: Final = re.compile(r"[^/:_.-]*[/:_.-]+|[^/:_.-]+")
# A prefix that names lose ends with one of these; a point would split version numbers.
_PREFIX: Final = re.compile(r".*[/_ -]")


class _Widths(NamedTuple):
    """Widths of a column: unfolded; heading folded; cells in two lines; in any number of lines."""

    full: int
    snug: int
    double: int
    least: int


class _Step(NamedTuple):
    """A way of showing a table: gap, whether names lose their prefix, last `_Widths` to use."""

    gap: int
    cut: bool
    folds: int


_STEPS: Final = (
    *(_Step(3, False, 0), _Step(2, False, 0), _Step(2, False, 1)),
    *(_Step(2, True, 1), _Step(2, True, 2)),
)
# The steps to try when no column with `spare` is left.
_LAST: Final = (*_STEPS, _Step(1, True, 2), _Step(1, True, 3))


def lay_out(table: Table, width: int) -> Layout:
    """Lay out a table in the loosest way that is no wider than `width` characters."""
    shared = common_prefix(_models(table))
    prefixes = ("", shared)
    texts = [[_texts(table, place, cut) for place in range(len(table.columns))] for cut in prefixes]
    widths = [list(map(partial(_widths, width), table.columns, text)) for text in texts]
    columns: list[int] = []
    for columns, steps in _with_fewer_columns(table.columns):
        for step in steps:
            room = width - step.gap * (len(columns) - 1)
            given = _fitted_widths([widths[step.cut][place] for place in columns], room, step.folds)
            if given is not None:
                shown = dict(zip(columns, given, strict=True))
                return _table_lines(table, texts[step.cut], shown, step.gap, prefixes[step.cut])
    # Not even the last columns fit, so each of them may fold at the full width.
    return _table_lines(table, texts[1], dict.fromkeys(columns, width), 1, shared)


def fold(text: str, width: int) -> list[str]:
    """Split a text into lines at blanks, and words that are too wide after `/:-_.`."""
    lines = [""]
    for word in text.split(" "):
        for place, piece in enumerate(_pieces(word) if cell_len(word) > width else [word]):
            gap = " " if place == 0 and lines[-1] else ""
            if cell_len(f"{lines[-1]}{gap}{piece}") <= width:
                lines[-1] += gap + piece
            else:
                lines += chop_cells(piece, width)
    return lines[1:] if len(lines) > 1 and not lines[0] else lines


def common_prefix(names: Iterable[str]) -> str:
    """The longest common prefix of the names that ends in a separator and is not a whole name."""
    known = {name for name in names if name not in ("", UNDEFINED)}
    prefix = commonprefix(list(known)) if len(known) > 1 else ""  # noqa: RUF071
    while prefix:
        end = _PREFIX.match(prefix)
        prefix = end[0] if end else ""
        if prefix not in known:
            return prefix
        prefix = prefix[:-1]
    return ""


def _models(table: Table) -> Iterator[str]:
    for row in table.rows:
        yield from (
            one_line(cell.text)
            for cell, column in zip(row, table.columns, strict=True)
            if column.models
        )


def _texts(table: Table, place: int, prefix: str) -> list[list[str]]:
    """The lines of each cell of a column; a column of models loses the prefix."""
    cut = prefix if table.columns[place].models else ""
    cells = (row[place] for row in table.rows)
    return [
        [one_line(line).removeprefix(cut) for line in (cell.text, *filter(None, [cell.under]))]
        for cell in cells
    ]


def _with_fewer_columns(columns: Sequence[Column]) -> Iterator[tuple[list[int], Sequence[_Step]]]:
    """All columns, then one less each time, with the steps to try; the first of names stays."""
    stays = next((place for place, column in enumerate(columns) if column.folds and column.left), 0)
    places = list(range(len(columns)))
    removable = sorted(places, key=lambda place: (columns[place].spare, place))
    removable.remove(stays)
    yield places, _STEPS if removable and columns[removable[-1]].spare else _LAST
    while removable:
        gone = removable.pop()
        places = [place for place in places if place != gone]
        yield places, _STEPS if removable and columns[removable[-1]].spare else _LAST


def _widths(width: int, column: Column, cells: Sequence[Sequence[str]]) -> _Widths:
    texts = {line for lines in cells for line in lines}
    natural = max(map(cell_len, texts), default=0)
    heading = one_line(column.heading)
    half = max(width // 2, 2)
    short = max(_longest(one_line(line)) for line in (column.short or heading).split("\n"))
    short = min(short, half)
    least = double = natural
    if column.folds:
        longest = max(map(_longest, texts), default=0)
        least = min(natural, max(column.folds, min(longest, half)))
        double = next(
            wide
            for wide in range(least, natural + 1)
            # Widths beyond twice the terminal's never fit, so there is no need to fold for them.
            if wide > 2 * width or all(len(fold(text, wide)) <= 2 for text in texts)
        )
    snug = max(natural, short)
    sizes = (max(snug, cell_len(heading)), snug, max(double, short), max(least, short))
    # Widths beyond twice the terminal's make no difference, but cost time in `_fitted_widths`.
    return _Widths(*(min(size, 2 * width) for size in sizes))


def _longest(text: str) -> int:
    """The width of the widest part of a text that should not be broken."""
    return max(
        cell_len(part)
        for word in text.split(" ")
        for part in ([word] if cell_len(word) <= _WORD else _pieces(word))
    )


def _pieces(word: str) -> list[str]:
    """The parts of a word that may be broken after separators and between ideographs."""
    return [part for piece in _PIECE.findall(word) for part in _apart(piece)] or [word]


def _apart(piece: str) -> Iterator[str]:
    for wide, chars in groupby(piece, key=lambda char: cell_len(char) == 2):
        part = "".join(chars)
        yield from part if wide else [part]


def _fitted_widths(columns: Sequence[_Widths], room: int, folds: int) -> list[int] | None:
    """A width for each column so that all fit into `room`, or None if they cannot.

    Headings fold first (1), then cells, too (2 and 3); the widest column is narrowed next.
    """
    widths = [column.full for column in columns]
    if sum(column[folds] for column in columns) > room:
        return None
    for step in range(1, folds + 1):
        floor = [column[step] for column in columns]
        while sum(widths) > max(room, sum(floor)):
            wider = [place for place, low in enumerate(floor) if widths[place] > low]
            widths[max(wider, key=widths.__getitem__)] -= 1
    return widths


def _table_lines(
    table: Table,
    texts: Sequence[Sequence[Sequence[str]]],
    widths: Mapping[int, int],
    gap: int,
    prefix: str,
) -> Layout:
    sides = [
        [_heading(table.columns[place], width), *(_folded(cell, width) for cell in texts[place])]
        for place, width in widths.items()
    ]
    headings, *rows = zip(*sides, strict=True)
    gone = (heading for place, heading in enumerate(table.headings) if place not in widths)
    return Layout(headings, tuple(rows), tuple(widths), gap, tuple(gone), prefix)


def _heading(column: Column, width: int) -> str:
    heading = one_line(column.heading)
    if cell_len(heading) > width and column.short:
        return _folded(map(one_line, column.short.split("\n")), width)
    return _folded([heading], width)


def _folded(lines: Iterable[str], width: int) -> str:
    return "\n".join(part for line in lines for part in _balanced(line, width))


def _balanced(text: str, width: int) -> list[str]:
    """Split a text into as few lines as it needs, of about equal width."""
    best = lines = fold(text, width)
    floor = _longest(text)
    while len(lines) == len(best) > 1:
        best = lines
        width = max(map(cell_len, lines)) - 1
        if width < floor:
            break
        lines = fold(text, width)
    return best
