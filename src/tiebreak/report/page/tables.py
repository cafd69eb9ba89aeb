"""The terminal's tables as tables of a page: the same cells, with what each of them sorts by."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rich.table import Column as RichColumn
from rich.table import Table

from tiebreak.report.cells import UNDEFINED
from tiebreak.report.page.view import Cell, Column, TableView

# From so many rows on a reader wants to filter.
FILTERABLE = 12

_NUMBER = re.compile(r"([<>]?)[$+]?(-?)\$?(\d[\d,]*\.?\d*)")


def table_view(table: Table, id: str, caption: str) -> TableView:
    """A table that was made for the terminal; names fold there, and numbers do not.

    Headings that occur twice get the one before them for a first name: "95% interval" after "ρ" is
    "ρ 95% interval".
    """
    columns = [_column(column) for column in table.columns]
    titles = _apart([_heading(column) for column in table.columns])
    rows = zip(*(cells for _, cells in columns), strict=True) if table.row_count else ()
    return TableView(
        id=id,
        caption=caption,
        columns=tuple(
            Column(title, numeric) for title, (numeric, _) in zip(titles, columns, strict=True)
        ),
        rows=tuple(tuple(row) for row in rows),
        filterable=table.row_count >= FILTERABLE,
        rules=tuple(n for n, row in enumerate(table.rows[:-1], start=1) if row.end_section),
    )


def _column(column: RichColumn) -> tuple[bool, list[Cell]]:
    """Whether a column holds numbers, and its cells."""
    texts = [str(cell) for cell in column.cells]
    may_be = column.no_wrap or column.justify == "right"
    numbers = [number_in(text) for text in texts]
    numeric = may_be and all(
        number is not None or text in ("", UNDEFINED)
        for number, text in zip(numbers, texts, strict=True)
    )
    keys: Iterable[float | str | None] = numbers if numeric else map(_word, texts)
    return numeric, [Cell(text, key) for text, key in zip(texts, keys, strict=True)]


def number_in(text: str) -> float | None:
    """The number that a cell begins with: 0.7 in 0.700–0.812, 1200 in $1,200.00; else None.

    "<1%" is a little less than 1.
    """
    found = _NUMBER.match(text)
    if found is None:
        return None
    beyond, minus, digits = found.groups()
    number = float(digits.replace(",", "")) * (-1 if minus else 1)
    return math.nextafter(number, {"<": -math.inf, ">": math.inf}[beyond]) if beyond else number


def _word(text: str) -> str | None:
    return None if text in ("", UNDEFINED) else text.casefold()


def _heading(column: RichColumn) -> str:
    """A heading on one line: the terminal breaks "Unscored" and "Bradley–Terry" in two."""
    text = str(column.header).replace("Un-\n", "Un").replace("–\n", "–")
    return " ".join(text.split())


def _apart(titles: Sequence[str]) -> Iterator[str]:
    times = Counter(titles)
    last = ""
    for place, title in enumerate(titles):
        if times[title] > 1 and last and place:
            yield f"{last} {title}"
        else:
            yield title
        if times[title] == 1:
            last = title
