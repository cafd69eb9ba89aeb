"""Render sheets as Markdown for GitHub and the Hugging Face Hub."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from tiebreak.report.cells import Cell
from tiebreak.report.sheet import Sheet, Table, one_line

# Characters that can begin markup, a link, a mention, a formula, HTML or a cell of a table. As
# character references they are never read as markup (CommonMark, section 2.5). Harmless ones stay,
# to keep the source readable: an underscore inside a word (section 6.2), a colon that begins
# neither "//" nor an emoji, a dot that does not follow "www".
_ANYWHERE: Final = r"[\\`*\[\]<>#|~&$@]|(?<![^\W_])_|_(?![^\W_])|:(?=//|[\w+-]+:)|(?<=www)\."
_MARKUP: Final = re.compile(rf"{_ANYWHERE}|^[-+=.]|^[0-9]+(?=[.)])", re.I)
_WITHIN: Final = re.compile(_ANYWHERE, re.I)


def text(sheets: Iterable[Sheet]) -> str:
    """All sheets in order, each under a heading of the second level."""
    return "\n".join(f"{block}\n" for sheet in sheets for block in _blocks(sheet))


def table(made: Table) -> str:
    """A table with all its columns."""
    sides = [":--" if column.left or not column.numeric else "--:" for column in made.columns]
    rows = [[inline(heading, None) for heading in made.headings], sides]
    rows += [[_cell(cell) for cell in row] for row in made.rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def inline(text: str, longest: int | None = 120, *, begins: bool = True) -> str:
    """One line of Markdown that renders as exactly this text.

    Line ends become spaces; other control, bidi and zero-width characters become visible codes, so
    that a name cannot imitate another. A text over `longest` characters is cut. If it does not
    stand at the beginning of a line (`begins` is False), a leading sign or number is not escaped.
    """
    shown = one_line(text)
    if longest is not None and len(shown) > longest:
        shown = f"{shown[: longest - 1]}…"
    markup = _MARKUP if begins else _WITHIN
    return markup.sub(lambda match: "".join(f"&#{ord(c)};" for c in match[0]), shown) or "–"


def _blocks(sheet: Sheet) -> Iterator[str]:
    if sheet.title:
        yield f"## {_line(sheet.title)}"
    yield from map(_line, (*sheet.subtitle, *filter(None, [sheet.verdict])))
    yield from (f"> **Warning:** {_line(warning)}" for warning in sheet.warnings)
    for section in sheet.sections:
        if section.heading:
            yield f"### {_line(section.heading)}"
        if section.table:
            if section.table.caption and section.table.caption != section.heading:
                yield f"**{_line(section.table.caption)}**"
            yield table(section.table)
        yield from map(_line, section.legend)
        if section.lines:
            yield "\n".join(f"- {_line(line)}" for line in section.lines)
    yield from (f"> **Note:** {_line(note)}" for note in sheet.notes)


def _cell(cell: Cell) -> str:
    shown = f"{cell.text} ({cell.under})" if cell.under else cell.text
    return inline(shown, None, begins=False) if shown else ""


def _line(text: str) -> str:
    return inline(text, None)
