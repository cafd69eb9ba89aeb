"""The common form of every finding before it is rendered.

A `Sheet` has a title, a verdict, warnings, sections with tables, and notes. It holds only text and
numbers; six renderers decide how they look:

    terminal.show(sheets)       a terminal, with the columns that fit its width
    json.document(…)            the finding's own data as JSON (no sheet is needed)
    csv.text(rows)              the finding's rows as CSV (no sheet is needed)
    markdown.text(sheets)       Markdown as GitHub reads it
    latex.text(sheets)          LaTeX with booktabs
    html.fragment(sheets)       HTML; the report's page uses the same templates

Texts may come from logs and may be hostile, so each renderer escapes all of them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tiebreak.reason import Remark
from tiebreak.report.cells import Cell
from tiebreak.text import visible


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    A `numeric` column is aligned right, unless `left`, and sorts by number. `meaning` explains the
    heading. The other fields matter on terminals that are too narrow for the table: texts fold down
    to the width `folds` (0: never), names of `models` lose their common prefix, and `short` is a
    shorter heading, which may have line breaks. Columns with the highest `spare` (4 to 1) are left
    out first, the last of equal ones before the others; 0 only if nothing else helps.
    """

    heading: str
    numeric: bool = True
    left: bool = False
    folds: int = 0
    models: bool = False
    spare: int = 0
    short: str = ""
    meaning: str = ""


def names(heading: str, width: int = 12) -> Column:
    """A column of names, in which names longer than `width` may fold."""
    return Column(heading, numeric=False, left=True, folds=width)


def model_names(heading: str = "Model") -> Column:
    """A column of model names."""
    return replace(names(heading), models=True)


def numbers(*headings: str) -> tuple[Column, ...]:
    """Columns of numbers."""
    return tuple(map(Column, headings))


def interval_heading(level: float) -> str:
    """The heading of a column of intervals at this confidence level."""
    return f"{level * 100:g}% interval"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells, one cell for each column.

    `rules` are indices of rows that have a rule above them, e.g. the row of a sum. A terminal does
    not show the `caption`. A page shows a `folded` table only on demand.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    rules: tuple[int, ...] = ()
    folded: bool = False

    @classmethod
    def of(
        cls,
        columns: Iterable[Column],
        rows: Iterable[Iterable[Cell]],
        caption: str = "",
        *,
        rules: Iterable[int] = (),
    ) -> "Table":
        """A table from iterables of columns and rows.

        Raises:
            ValueError: a row does not have one cell for each column.
        """
        made = cls(tuple(columns), tuple(map(tuple, rows)), caption, tuple(rules))
        if any(len(row) != len(made.columns) for row in made.rows):
            raise ValueError("every row of a table has one cell for each column")
        return made

    @property
    def headings(self) -> tuple[str, ...]:
        """Unambiguous headings: a repeated "95% interval" after "ρ" becomes "ρ 95% interval"."""
        return tuple(_apart([column.heading for column in self.columns]))

    @property
    def bodies(self) -> tuple[tuple[tuple[Cell, ...], ...], ...]:
        """The rows as groups, which the `rules` separate."""
        bounds = (0, *(n for n in self.rules if 0 < n < len(self.rows)), len(self.rows))
        return tuple(self.rows[start:end] for start, end in pairwise(bounds))


@dataclass(frozen=True, slots=True)
class Section:
    """A table with its legend (how to read it), and `lines`: findings in sentences."""

    table: Table | None = None
    legend: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    heading: str = ""

    @classmethod
    def of(
        cls,
        table: Table | None = None,
        *,
        legend: Iterable[Remark] = (),
        lines: Iterable[Remark] = (),
        heading: str = "",
    ) -> "Section":
        """A section from iterables; a table without rows is left out with its legend."""
        texts = tuple(map(str, lines))
        if table is not None and not table.rows:
            return cls(lines=texts, heading=heading if texts else "")
        return cls(table, tuple(map(str, legend)), texts, heading)

    def __bool__(self) -> bool:
        return bool(self.table or self.legend or self.lines)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A finding in the form that renderers show.

    `subtitle` names the source (judge, log, …), `verdict` states the finding in a sentence,
    `warnings` give reasons not to trust it, `notes` are remarks.
    """

    title: str = ""
    subtitle: tuple[str, ...] = ()
    verdict: str = ""
    warnings: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    notes: tuple[str, ...] = ()

    def plus(self, *sections: Section, notes: Iterable[str] = ()) -> "Sheet":
        """The same sheet with more sections and notes."""
        return replace(self, sections=(*self.sections, *sections), notes=(*self.notes, *notes))


def one_line(text: str) -> str:
    """The text on one line, with control and invisible characters written as visible codes."""
    return visible(" ".join(text.split()))


def _apart(headings: Sequence[str]) -> Iterator[str]:
    # The last unique heading tells what a repeated one after it, e.g. an interval, belongs to.
    times = Counter(headings)
    last = ""
    for place, heading in enumerate(headings):
        if times[heading] > 1 and last and place:
            yield f"{last} {heading}".rstrip()
        else:
            yield heading
        if times[heading] == 1:
            last = heading
