"""What the report's page shows, as data: the template gets a `Page` and decides how it looks.

All texts are plain and may be hostile: the template escapes them. Whatever a page has nothing of is
an empty tuple or None, and the template leaves it out.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass

from tiebreak.report.cells import Cell
from tiebreak.report.sheet import Column, Section, Sheet


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
    """One finding of a section, such as a leaderboard: its sheet and its pictures.

    `id` is unique in the page, as are those of figures and sections: ASCII letters, digits and
    hyphens. Of one that is `folded` the page shows title, verdict and warnings, and the rest on
    demand.
    """

    id: str
    sheet: Sheet
    figures: tuple[FigureView, ...] = ()
    folded: bool = False

    @property
    def anchor(self) -> str:
        """Where a link to it leads: what is folded, so that a browser unfolds it by itself."""
        return f"{self.id}-detail" if self.folded else self.id

    @property
    def tabled(self) -> tuple[Section, ...]:
        """The sections of the sheet that have a table."""
        return tuple(one for one in self.sheet.sections if one.table)

    @property
    def lines(self) -> tuple[str, ...]:
        """All sentences but the legends of tables."""
        both = ((() if one.table else one.legend, one.lines) for one in self.sheet.sections)
        return tuple(line for legend, lines in both for line in (*legend, *lines))


@dataclass(frozen=True, slots=True)
class PageSection:
    """Parts under one heading; `lead` says in a sentence or two what they show.

    `id` is one of leaderboards, stars, native, winrates, protocols, csd, peers, people, stability,
    receipt.
    """

    id: str
    title: str
    lead: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """A leaderboard's verdict: `title` and `part` (an id) say of which.

    `tiers` are texts, best first: names, or of many models "places 3–7"; `trust` is fine, unknown
    or doubtful, "" where nobody judged.
    """

    title: str
    part: str
    sentence: str
    tiers: tuple[str, ...] = ()
    trust: str = ""


@dataclass(frozen=True, slots=True)
class BoardHead:
    """A column of the overview: the board's name, where the page has it, and its trust."""

    name: str
    anchor: str
    trust: str = ""


@dataclass(frozen=True, slots=True)
class Overview:
    """Several boards side by side: what they say together, and each model's place on each."""

    sentences: tuple[str, ...]
    boards: tuple[BoardHead, ...]
    rows: tuple[tuple[Cell, ...], ...]
    legend: str


@dataclass(frozen=True, slots=True)
class Warned:
    """How many warnings a part of the page has: `title` and `anchor` say which part."""

    title: str
    anchor: str
    n: int


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
    their place in the index (`tiebreak.report.page.items` has the shape). Where they are too much
    for one file there are none, and `beside` says in words what lies in files beside the page.
    """

    lead: str
    columns: tuple[Column, ...]
    rows: tuple[ItemRow, ...]
    index: Mapping[str, object]
    chunks: tuple[str, ...]
    beside: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class Page:
    """The whole report. `created` says when its logs were made; `items` stand after `winrates`.

    One verdict stands at the top of the page. Of several each stands in its part, and at the top
    the `overview`. `warnings` say which parts have some.
    """

    title: str
    version: str
    created: str
    verdicts: tuple[Found, ...]
    overview: Overview | None
    warnings: tuple[Warned, ...]
    sections: tuple[PageSection, ...]
    items: ItemsView | None
