"""What the report's page shows, as data: the template gets a `Page` and decides how it looks.

All texts are plain and may be hostile: the template escapes them. Whatever a page has nothing of is
an empty tuple or None, and the template leaves it out.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Column:
    """A column's heading; a `numeric` one is set flush right and sorts by `Cell.sort`."""

    title: str
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell's text, and what it sorts by: a number, a text, or None where it is undefined.

    Undefined cells come last in either direction.
    """

    text: str
    sort: float | str | None = None


@dataclass(frozen=True, slots=True)
class TableView:
    """A table; every row has a cell for each column. `filterable` ones are long enough to filter.

    `rules` are the numbers of the rows with a rule above them, such as that of a sum: rows sort
    between the rules, not across them. `id` is unique in the page, as are those of parts, figures
    and sections: ASCII letters, digits and hyphens.
    """

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    filterable: bool = False
    rules: tuple[int, ...] = ()

    @property
    def bodies(self) -> tuple[tuple[tuple[Cell, ...], ...], ...]:
        """The rows from rule to rule."""
        bounds = (0, *self.rules, len(self.rows))
        return tuple(self.rows[start:end] for start, end in pairwise(bounds))


@dataclass(frozen=True, slots=True)
class FigureView:
    """A picture: `alt` says in words what it shows, `svg` follows the reader's colour scheme.

    `width` and `height` are in CSS pixels; `file` is the picture's path beside the page.
    """

    id: str
    title: str
    alt: str
    svg: str
    width: int
    height: int
    file: str

    @property
    def source(self) -> str:
        """The picture as a data URL, for `<img src>`."""
        code = base64.b64encode(self.svg.encode("utf-8", "replace")).decode("ascii")
        return f"data:image/svg+xml;base64,{code}"


@dataclass(frozen=True, slots=True)
class Part:
    """One finding of a section, such as a leaderboard: pictures, tables, sentences.

    `subtitle` says which log it is of. `warnings` say why not to trust it, `lines` are figures in
    sentences, `notes` are remarks.
    """

    id: str
    title: str
    subtitle: str = ""
    warnings: tuple[str, ...] = ()
    figures: tuple[FigureView, ...] = ()
    tables: tuple[TableView, ...] = ()
    lines: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """Parts under one heading; `lead` says in a sentence or two what they show.

    `id` is one of leaderboards, native, winrates, protocols, csd, peers, people, stability,
    receipt.
    """

    id: str
    title: str
    lead: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning at the top of the page: `title` and `part` (an id) say where it belongs."""

    text: str
    title: str
    part: str


@dataclass(frozen=True, slots=True)
class ItemRow:
    """A row of the items' table; it opens item `index` of `ItemsView.index`."""

    index: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True, eq=False, slots=True)
class ItemsView:
    """All items, and their stories, packed.

    `index` is for `{{ page.items.index|tojson }}`: runs, rubrics, and each item with its chunk.
    `chunks` are base64 of gzip of JSON: what was asked and answered for the items of a chunk, by
    their place in the index (`tiebreak.report.page.items` has the shape).
    """

    lead: str
    columns: tuple[Column, ...]
    rows: tuple[ItemRow, ...]
    index: Mapping[str, object]
    chunks: tuple[str, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Page:
    """The whole report. `created` says when its logs were made; `items` stand after `winrates`."""

    title: str
    version: str
    created: str
    warnings: tuple[Warned, ...]
    sections: tuple[Section, ...]
    items: ItemsView | None
