"""What the report's page shows, as data: the template gets a `Page` and decides how it looks.

All texts are plain and may be hostile: the template escapes them. Whatever a page has nothing of is
an empty tuple or None, and the template leaves it out. Pictures are in the page, and beside it as
files.
"""

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from tiebreak.paths import whole_file
from tiebreak.progress import tracked
from tiebreak.report.cells import Cell
from tiebreak.report.figures.canvas import FORMS, Drawing, Form, free_name, themed
from tiebreak.report.sheet import Column, Section, Sheet, one_line


@dataclass(frozen=True, slots=True)
class FigureView:
    """A picture: `alt` says in words what it shows, `svg` follows the reader's colour scheme.

    `notes` say how to read it. `width` and `height` are in CSS pixels; `file` is the picture's path
    beside the page.
    """

    id: str
    title: str
    alt: str
    svg: str
    width: int
    height: int
    file: str
    notes: tuple[str, ...] = ()

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
        return tuple(section for section in self.sheet.sections if section.table)

    @property
    def lines(self) -> tuple[str, ...]:
        """All sentences but the legends of tables."""
        both = (
            (() if section.table else section.legend, section.lines)
            for section in self.sheet.sections
        )
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
class BoardRow:
    """A model on a board that is drawn.

    `value`, `lower`, `upper` and `native` are places on the axis, in percent of its length, ""
    where there is none. `bars` say of every column of tiers whether one starts, goes on, ends or
    stands alone here; `leads` whether the model is in the first tier. `numbers` are the row of the
    table.
    """

    place: str
    model: str
    score: str
    ranks: str
    value: str
    lower: str
    upper: str
    native: str
    bars: tuple[str, ...]
    leads: bool
    numbers: str


@dataclass(frozen=True, slots=True)
class DrawnBoard:
    """A board as a picture that the page itself draws; `ticks` are numbers with their places.

    `names` is how much room names need: "short", "medium" or "long"; `axis` says what is drawn.
    """

    rows: tuple[BoardRow, ...]
    ticks: tuple[tuple[str, str], ...]
    names: str
    axis: str


@dataclass(frozen=True, slots=True)
class BoardVerdictView:
    """A leaderboard's verdict: `title` and `part` (an id) say of which.

    `trust` is fine, unknown or doubtful, "" where nobody judged, and `reason` says why. `picture`
    is the file of the same drawing, "" without. `to_decide` says how many items would tell the two
    in front apart, "" where they are apart.
    """

    title: str
    part: str
    sentence: str
    drawn: DrawnBoard
    trust: str = ""
    reason: str = ""
    picture: str = ""
    to_decide: str = ""


@dataclass(frozen=True, slots=True)
class Overview:
    """Several boards side by side: what they say together, and each with where a link to it leads.

    A board's `part` is that address, and its `sentence` is empty.
    """

    sentences: tuple[str, ...]
    boards: tuple[BoardVerdictView, ...]


@dataclass(frozen=True, slots=True)
class ItemRow:
    """A row of the items' table; at `anchor` it opens item `index` of `ItemsView.index`."""

    index: int
    cells: tuple[Cell, ...]
    anchor: str


@dataclass(frozen=True, eq=False, slots=True)
class ItemsView:
    """All items, and their stories, packed.

    `index` is for `{{ page.items.index|tojson }}`: runs, rubrics, and each item with its chunk.
    `chunks` are base64 of gzip of JSON: what was asked and answered for the items of a chunk, by
    their place in the index (`tiebreak.report.page.items` has the shape). Where they are too much
    for one file there are none, and `files` says in words what lies in files beside the page.
    """

    lead: str
    columns: tuple[Column, ...]
    rows: tuple[ItemRow, ...]
    index: Mapping[str, object]
    chunks: tuple[str, ...]
    files: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class Page:
    """The whole report. `made` says how many items were judged, by whom and when, and by what.

    `items` stand after `winrates`.

    One verdict stands at the top of the page. Of several each stands in its part, and at the top
    the `overview`.
    """

    title: str
    version: str
    made: str
    verdicts: tuple[BoardVerdictView, ...]
    overview: Overview | None
    sections: tuple[PageSection, ...]
    items: ItemsView | None

    @property
    def warned(self) -> list[tuple[str, Part]]:
        """The parts that have warnings, each under the heading of its section."""
        parts = ((section.title, part) for section in self.sections for part in section.parts)
        return [(heading, part) for heading, part in parts if part.sheet.warnings]


FOLDER = "plots"

# CSS pixels in an inch.
_PIXELS = 96


class PictureForms(NamedTuple):
    """What the pictures beside a page are written as: forms, and a width in inches.

    Without a width each is as wide as in the page. Those that are `titled` hold title and notes.
    """

    forms: Sequence[Form] = ("svg", "png")
    width: float | None = None
    titled: bool = False

    @property
    def shown(self) -> Form:
        """What the page leads to: SVG before PNG before PDF."""
        return min(self.forms, key=FORMS.index)


USUAL: Final = PictureForms()


class Gallery:
    """Collects drawings while a page is made: no two have one name."""

    def __init__(self, prints: PictureForms = USUAL) -> None:
        self._prints = prints
        self._drawings: dict[str, Drawing] = {}

    def figure_views(self, drawings: Iterable[Drawing | None]) -> tuple[FigureView, ...]:
        """The drawings that there are, as figures of the page."""
        return tuple(self._figure(drawing) for drawing in drawings if drawing is not None)

    def save(self, folder: Path) -> Iterator[Path]:
        """Write every drawing into `folder/plots`.

        Raises:
            OSError: a file cannot be written.
        """
        for name, drawing in tracked(self._drawings.items(), "writing plots"):
            (folder / FOLDER).mkdir(parents=True, exist_ok=True)
            for form in self._prints.forms:
                path = folder / FOLDER / f"{name}.{form}"
                with whole_file(path) as draft:
                    draft.write_bytes(drawing.printed(form, self._prints.width))
                yield path
        if self._drawings:
            path = folder / FOLDER / "captions.txt"
            with whole_file(path) as draft:
                captions = (f"{name}\n{d.caption}" for name, d in self._drawings.items())
                draft.write_text("\n".join(captions), encoding="utf-8", newline="\n")
            yield path

    def _figure(self, drawing: Drawing) -> FigureView:
        name = free_name(drawing.name, self._drawings)
        self._drawings[name] = drawing
        width, height = drawing.figure.get_size_inches()
        return FigureView(
            id=f"figure-{name}",
            title=one_line(drawing.title),
            alt=one_line(drawing.alt),
            svg=themed(drawing.svg()),
            width=round(width * _PIXELS),
            height=round(height * _PIXELS),
            file=f"{FOLDER}/{name}.{self._prints.shown}",
            notes=tuple(map(one_line, drawing.notes)),
        )
