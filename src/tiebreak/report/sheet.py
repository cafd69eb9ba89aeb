"""The form in which every finding is shown.

A `Sheet` has a title, a verdict, warnings, sections with tables, and notes. It holds text and
numbers only; how they look is the matter of six renderers:

    terminal.show(sheets)       a terminal, with the columns that there is room for
    json.document(…)            the finding's own data as JSON (no sheet is needed)
    csv.text(rows)              the finding's rows as CSV (no sheet is needed)
    markdown.text(sheets)       Markdown as GitHub reads it
    latex.text(sheets)          LaTeX with booktabs
    html.fragment(sheets)       HTML; the report's page uses the same templates

Texts may come from logs and may be hostile; each renderer escapes all of them.
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

    A `numeric` one is set flush right, unless `left`, and sorts by number. `meaning` explains the
    heading. The rest is for terminals that have not room for all: texts fold down to the width
    `folds` (0: never), names of `models` lose what all of them begin with, `short` is another
    heading, perhaps with line breaks, and the columns with the highest `spare` are left out first,
    of equal ones the last: from 4, missed least, to 1; one of 0 goes when nothing else helps.
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
    """A column of names, which fold where they are long."""
    return Column(heading, numeric=False, left=True, folds=width)


def model_names(heading: str = "Model") -> Column:
    """A column of the names of models."""
    return replace(names(heading), models=True)


def numbers(*headings: str) -> tuple[Column, ...]:
    """Columns of numbers."""
    return tuple(map(Column, headings))


def interval_heading(level: float) -> str:
    """The heading of intervals of this confidence level."""
    return f"{level * 100:g}% interval"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells, one cell for each column.

    `rules` are the numbers of the rows that have a rule above them, such as that of a sum. A
    terminal needs no `caption`. A page shows one that is `folded` on demand.
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
        """A table of any iterables.

        Raises:
            ValueError: a row has not one cell for each column.
        """
        made = cls(tuple(columns), tuple(map(tuple, rows)), caption, tuple(rules))
        if any(len(row) != len(made.columns) for row in made.rows):
            raise ValueError("every row of a table has one cell for each column")
        return made

    @property
    def headings(self) -> tuple[str, ...]:
        """Headings, each one of a kind: the "95% interval" after "ρ" is "ρ 95% interval"."""
        return tuple(_apart([column.heading for column in self.columns]))

    @property
    def bodies(self) -> tuple[tuple[tuple[Cell, ...], ...], ...]:
        """The rows from rule to rule."""
        bounds = (0, *(n for n in self.rules if 0 < n < len(self.rows)), len(self.rows))
        return tuple(self.rows[start:end] for start, end in pairwise(bounds))


@dataclass(frozen=True, slots=True)
class Section:
    """A table with its legend, which says how to read it, and findings in sentences."""

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
        """A section of any iterables; a table without rows takes its legend and heading along."""
        texts = tuple(map(str, lines))
        if table is not None and not table.rows:
            return cls(lines=texts, heading=heading if texts else "")
        return cls(table, tuple(map(str, legend)), texts, heading)

    def __bool__(self) -> bool:
        return bool(self.table or self.legend or self.lines)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A finding as it is shown.

    `subtitle` says what it is of, `verdict` what was found, in a sentence; `warnings` why not to
    trust it; `notes` are remarks.
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
    """A text on one line; what would steer a terminal, or cannot be seen, is made visible."""
    return visible(" ".join(text.split()))


def _apart(headings: Sequence[str]) -> Iterator[str]:
    times = Counter(headings)
    last = ""
    for place, heading in enumerate(headings):
        if times[heading] > 1 and last and place:
            yield f"{last} {heading}".rstrip()
        else:
            yield heading
        if times[heading] == 1:
            last = heading
