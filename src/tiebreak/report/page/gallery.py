"""The pictures of a page: each is in the page, and beside it as a file."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from tiebreak.report.figures import Drawing, themed
from tiebreak.report.figures.drawing import free_name
from tiebreak.report.page.view import FigureView
from tiebreak.report.sheet import one_line

FOLDER = "plots"

# CSS pixels in an inch.
_PIXELS = 96


class Gallery:
    """Collects drawings while a page is made: no two have one name."""

    def __init__(self) -> None:
        self._drawings: dict[str, Drawing] = {}
        self._svg: dict[str, str] = {}

    def hang(self, drawings: Iterable[Drawing | None]) -> tuple[FigureView, ...]:
        """The drawings that there are, as figures of the page."""
        return tuple(self._figure(drawing) for drawing in drawings if drawing is not None)

    def save(self, folder: Path) -> Iterator[Path]:
        """Write every drawing into `folder/plots` as SVG and PNG.

        Raises:
            OSError: a file cannot be written.
        """
        for name, drawing in self._drawings.items():
            (folder / FOLDER).mkdir(parents=True, exist_ok=True)
            path = folder / FOLDER / f"{name}.svg"
            path.write_text(self._svg[name], encoding="utf-8", errors="replace", newline="\n")
            yield path
            path = path.with_suffix(".png")
            path.write_bytes(drawing.png())
            yield path

    def _figure(self, drawing: Drawing) -> FigureView:
        name = free_name(drawing.name, self._drawings)
        self._drawings[name] = drawing
        self._svg[name] = drawing.svg()
        width, height = drawing.figure.get_size_inches()
        return FigureView(
            id=f"figure-{name}",
            title=one_line(drawing.title),
            alt=one_line(drawing.alt),
            svg=themed(self._svg[name]),
            width=round(width * _PIXELS),
            height=round(height * _PIXELS),
            file=f"{FOLDER}/{name}.svg",
        )
