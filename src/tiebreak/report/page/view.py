"""The report's page as data; the template gets a `Page` and decides how it looks.

All texts are plain and may be hostile, so the template escapes them. It leaves out fields that are
an empty tuple or None. Pictures are in the page, and also files beside it.
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
    """A picture: `alt` describes it in words, `svg` follows the reader's colour scheme.

    `notes` say how to read it. `width` and `height` are in CSS pixels; `file` is the path of the
    picture's file, relative to the page.
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
    """One finding of a section, e.g. a leaderboard: its sheet and its pictures.

    `id` is unique among the ids of parts, figures and sections of a page, and has only ASCII
    letters, digits and hyphens. Of a `folded` part the page shows title, verdict and warnings, and
    the rest on demand.
    """

    id: str
    sheet: Sheet
    figures: tuple[FigureView, ...] = ()
    folded: bool = False

    @property
    def anchor(self) -> str:
        """The id that links use: inside the folded element, so that a browser unfolds it."""
        return f"{self.id}-detail" if self.folded else self.id

    @property
    def tabled(self) -> tuple[Section, ...]:
        """The sections of the sheet that have a table."""
        return tuple(section for section in self.sheet.sections if section.table)

    @property
    def lines(self) -> tuple[str, ...]:
        """All sentences of the sheet except the legends of tables."""
        both = (
            (() if section.table else section.legend, section.lines)
            for section in self.sheet.sections
        )
        return tuple(line for legend, lines in both for line in (*legend, *lines))


@dataclass(frozen=True, slots=True)
class PageSection:
    """Parts under one heading; `lead` explains in one or two sentences what they show.

    `id` is one of leaderboards, stars, native, winrates, protocols, csd, peers, people, stability,
    receipt.
    """

    id: str
    title: str
    lead: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class BoardRow:
    """A model's row on a drawn board.

    `value`, `lower`, `upper` and `native` are positions on the axis, in percent of its length, ""
    if undefined. `bars` has a CSS class for each lane of tiers: whether a tier starts, goes on,
    ends or is alone in this row. `leads` is whether the model is in the first of several tiers.
    `numbers` is the row of the table as text.
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
    """A board that the page itself draws; `ticks` are (number, position on the axis).

    `names` is how much room names need: "short", "medium" or "long"; `axis` explains the marks.
    """

    rows: tuple[BoardRow, ...]
    ticks: tuple[tuple[str, str], ...]
    names: str
    axis: str


@dataclass(frozen=True, slots=True)
class BoardVerdictView:
    """The verdict of the leaderboard called `title` in the part with the id `part`.

    `trust` is fine, unknown or doubtful, "" if nobody judged, and `reason` explains it. `picture`
    is the file of the same drawing, or "". `to_decide` says how many items would tell the two
    leading models apart, "" if they already are.
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
    """Several boards side by side, and sentences on what they say together.

    A board's `part` is the id that its link leads to, and its `sentence` is empty.
    """

    sentences: tuple[str, ...]
    boards: tuple[BoardVerdictView, ...]


@dataclass(frozen=True, slots=True)
class ItemRow:
    """A row of the table of items; it opens item `index` of `ItemsView.index` at `anchor`."""

    index: int
    cells: tuple[Cell, ...]
    anchor: str


@dataclass(frozen=True, eq=False, slots=True)
class ItemsView:
    """The table of all items, and their packed stories.

    `index` is for `{{ page.items.index|tojson }}`: runs, rubrics, and each item with its chunk.
    `chunks` are base64 of gzip of JSON with the stories of items, in the order of the index
    (`tiebreak.report.page.items` has the shape). It is empty if they are too large for one file,
    and then `files` gives the number and size of the files beside the page in words.
    """

    lead: str
    columns: tuple[Column, ...]
    rows: tuple[ItemRow, ...]
    index: Mapping[str, object]
    chunks: tuple[str, ...]
    files: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class Page:
    """The whole report. `made` says how many items were judged, by which judges, and when.

    The page shows `items` after the section `winrates`. A single verdict is at the top of the page;
    of several each is in its part, and the `overview` is at the top.
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
        """The parts that have warnings, each with the heading of its section."""
        parts = ((section.title, part) for section in self.sections for part in section.parts)
        return [(heading, part) for heading, part in parts if part.sheet.warnings]


FOLDER = "plots"

# CSS pixels in an inch.
_PIXELS = 96


class PictureForms(NamedTuple):
    """The formats of the pictures beside a page, and their width in inches.

    Without a width each is as wide as in the page. `titled` pictures contain their title and notes.
    """

    forms: Sequence[Form] = ("svg", "png")
    width: float | None = None
    titled: bool = False

    @property
    def shown(self) -> Form:
        """The format that the page links to: SVG before PNG before PDF."""
        return min(self.forms, key=FORMS.index)


USUAL: Final = PictureForms()


class Gallery:
    """Collects the drawings of a page under unique names."""

    def __init__(self, prints: PictureForms = USUAL) -> None:
        self._prints = prints
        self._drawings: dict[str, Drawing] = {}

    def figure_views(self, drawings: Iterable[Drawing | None]) -> tuple[FigureView, ...]:
        """Add the drawings that are not None, and return them as figures of the page."""
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
