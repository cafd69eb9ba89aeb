"""The pictures of a page: each is in the page, and beside it as a file."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tiebreak.paths import whole_file
from tiebreak.progress import tracked
from tiebreak.report.figures.canvas import FORMS, Drawing, Form, free_name, themed
from tiebreak.report.page.view import FigureView
from tiebreak.report.sheet import one_line

FOLDER = "plots"

# CSS pixels in an inch.
_PIXELS = 96


@dataclass(frozen=True, slots=True)
class Prints:
    """What the pictures beside a page are written as: forms, and a width in inches.

    Without a width each is as wide as in the page.
    """

    forms: Sequence[Form] = ("svg", "png")
    width: float | None = None

    @property
    def shown(self) -> Form:
        """What the page leads to: SVG before PNG before PDF."""
        return min(self.forms, key=FORMS.index)


USUAL: Final = Prints()


class Gallery:
    """Collects drawings while a page is made: no two have one name."""

    def __init__(self, prints: Prints = USUAL) -> None:
        self._prints = prints
        self._drawings: dict[str, Drawing] = {}

    def hang(self, drawings: Iterable[Drawing | None]) -> tuple[FigureView, ...]:
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
        )
