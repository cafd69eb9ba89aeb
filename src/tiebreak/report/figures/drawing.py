"""A finished figure with its words: what a page, a card or a file needs of it."""

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from html import escape
from io import BytesIO
from itertools import chain, count
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from tiebreak.report.figures.canvas import (
    BLUE,
    GREEN,
    GRID,
    INK,
    MUTED,
    ORANGE,
    PALE,
    PAPER,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Each colour of the style as a variable of CSS: name, and what it is on a dark screen.
_THEME: Final = {
    INK: ("ink", "#e7e9ec"),
    MUTED: ("muted", "#a7aeb8"),
    GRID: ("grid", "#363c44"),
    PAPER: ("paper", "#15181c"),
    BLUE: ("blue", "#56b4e9"),
    PALE: ("pale", "#2d5f83"),
    ORANGE: ("orange", "#f0913c"),
    GREEN: ("green", "#35c79c"),
}
_TAG = re.compile(r"<[^<>]*>")
_COLOUR = re.compile("|".join(_THEME))
_LONGEST_WORD = 40
_LENGTH: Final = re.compile(r'\b(width|height)="([0-9.]+)pt"')
# Dots per inch of a picture for print.
_FINE: Final = 300

Form = Literal["svg", "png", "pdf"]
"""What a picture can be written as."""

FORMS: Final[tuple[Form, ...]] = get_args(Form)


@dataclass(frozen=True, eq=False, slots=True)
class Drawing:
    """A figure and what is to be said of it.

    `name` is the stem of its file: lower-case letters, digits and hyphens. `title` is plain text.
    `alt` says in one to three sentences what the picture shows, for those who do not see it.
    """

    name: str
    title: str
    alt: str
    figure: "Figure"

    def svg(self) -> str:
        """As SVG: the same drawing gives the same text; words stay words."""
        text = _saved(
            self.figure, "svg", {"Date": None, "Creator": None, "Title": self.title}
        ).decode()
        return text.replace("</title>", f"</title>\n <desc>{escape(self.alt)}</desc>", 1)

    def themed_svg(self) -> str:
        """As SVG in the colours that the reader prefers; see `themed`."""
        return themed(self.svg())

    def png(self) -> bytes:
        """As PNG on white paper, 150 dots per inch."""
        return _saved(self.figure, "png", {"Software": None})

    def printed(self, form: Form, width: float | None = None) -> bytes:
        """As a file for a paper or a talk: the same drawing gives the same bytes.

        Args:
            form: an SVG or a PDF whose words stay words, or a PNG of 300 dots per inch.
            width: in inches; by default that of the drawing.
        """
        scale = 1.0 if width is None else width / float(self.figure.get_figwidth())
        if form == "png":
            return _saved(self.figure, form, {"Software": None}, dots=_FINE, scale=scale)
        if form == "pdf":
            return _pdf(self.figure, self.title, scale)
        return _sized(self.svg(), scale).encode("utf-8", "replace")


def themed(svg: str) -> str:
    """What `Drawing.svg` gives, in the colours that the reader prefers, light or dark.

    The choice is made by CSS inside the SVG, so it also works in an `<img>`. Cells of a heat map
    keep their colours.
    """
    # Only in tags: a name that holds a colour keeps it.
    text = _TAG.sub(lambda tag: _COLOUR.sub(_variable, tag[0]), svg)
    head, opening, rest = re.split(r"(<svg\b[^>]*>)", text, maxsplit=1)
    return f"{head}{opening}\n{_STYLE_SHEET}{rest}"


def slug(*parts: str) -> str:
    """A name for a file out of any names: lower-case ASCII letters, digits and hyphens.

    A part that loses letters by this, or is cut, ends in a hash of it.
    """
    words = []
    for part in parts:
        word = re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-")
        if re.sub(r"[\W_]", "", part.lower()) != word.replace("-", "") or len(word) > _LONGEST_WORD:
            digest = sha256(part.encode("utf-8", "surrogatepass")).hexdigest()[:8]
            word = f"{word[:_LONGEST_WORD].rstrip('-')}-{digest}".lstrip("-")
        words.append(word)
    return "-".join(word for word in words if word)


def free_name(name: str, taken: Container[str]) -> str:
    """The name itself, or name-2, name-3, … where it is taken."""
    numbered = (f"{name}-{number}" for number in count(2))
    return next(one for one in chain([name], numbered) if one not in taken)


def distinct(drawings: Iterable[Drawing | None]) -> list[Drawing]:
    """The drawings that there are; of several with one name the second is called name-2."""
    found: list[Drawing] = []
    taken: set[str] = set()
    for one in drawings:
        if one is not None:
            name = free_name(one.name, taken)
            taken.add(name)
            found.append(one if name == one.name else replace(one, name=name))
    return found


def _saved(
    figure: "Figure", form: str, metadata: dict[str, Any], *, dots: int = 150, scale: float = 1.0
) -> bytes:
    target = BytesIO()
    # A PNG says how large it is: so many dots, and so many of these in an inch.
    more: dict[str, Any] = {"pil_kwargs": {"dpi": (dots, dots)}} if form == "png" else {}
    with styled():
        figure.savefig(target, format=form, dpi=dots * scale, metadata=metadata, **more)
    return target.getvalue()


def _sized(svg: str, scale: float) -> str:
    """An SVG of another size: what is in it keeps its own units."""

    def size(found: re.Match[str]) -> str:
        return f'{found[1]}="{float(found[2]) * scale:.6g}pt"'

    head, opening, rest = re.split(r"(<svg\b[^>]*>)", svg, maxsplit=1)
    return f"{head}{re.sub(_LENGTH, size, opening)}{rest}"


def _pdf(figure: "Figure", title: str, scale: float) -> bytes:
    """A PDF, whose sizes are in points: drawn as `savefig` does, but under a scale."""
    from matplotlib.backend_bases import RendererBase
    from matplotlib.backends.backend_mixed import MixedModeRenderer
    from matplotlib.backends.backend_pdf import Op, PdfFile, RendererPdf

    target, dots = BytesIO(), figure.dpi
    width, height = map(float, figure.get_size_inches())
    metadata = {"Title": title, "Creator": None, "Producer": None, "CreationDate": None}
    with styled():
        figure.dpi = 72
        try:
            file: Any = PdfFile(target, metadata=metadata)  # type: ignore[no-untyped-call]
            file.newPage(width * scale, height * scale)
            file.output(scale, 0, 0, scale, 0, 0, Op.concat_matrix)
            page = RendererPdf(file, 72, height, width)  # type: ignore[no-untyped-call]
            renderer: RendererBase = MixedModeRenderer(figure, width, height, 72, page)  # type: ignore[no-untyped-call,assignment]
            figure.draw(renderer)
            page.finalize()  # type: ignore[no-untyped-call]
            file.finalize()
            file.close()
        finally:
            figure.dpi = dots
    return target.getvalue()


def _variable(colour: re.Match[str]) -> str:
    return f"var(--{_THEME[colour[0]][0]})"


def _sheet() -> str:
    light = "".join(f"--{name}:{colour};" for colour, (name, _) in _THEME.items())
    dark = "".join(f"--{name}:{colour};" for name, colour in _THEME.values())
    return f"<style>:root{{{light}}}@media (prefers-color-scheme: dark){{:root{{{dark}}}}}</style>"


_STYLE_SHEET: Final = _sheet()
