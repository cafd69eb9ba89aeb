"""What all figures are drawn on: one style, one set of colours, and room measured for names.

A finished figure is a `Drawing`: with its words, and in the forms that a page, a card or a file
needs. Sizes are in inches. Nothing here draws data.
"""

import math
import re
import unicodedata
import warnings
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from html import escape
from io import BytesIO
from itertools import chain, count
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from tiebreak.extras import to_install
from tiebreak.rankers.errors import MissingPackageError
from tiebreak.report import latex
from tiebreak.report.cells import UNDEFINED
from tiebreak.report.sheet import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.figure import Figure


INK, MUTED, GRID, PAPER = "#1b1f24", "#5a626c", "#e3e6ea", "#ffffff"
# Told apart by colour-blind readers too (M. Okabe and K. Ito, "Color Universal Design"). Whatever
# they tell is told by a form or by words as well.
BLUE, PALE, ORANGE, GREEN = "#0072b2", "#a6cbe3", "#d55e00", "#009e73"

STYLE: Final[Any] = {
    # Text stays text, and neither ids nor names that hold a dollar sign change on the way.
    "svg.fonttype": "none",
    "svg.hashsalt": "tiebreak",
    # Outlines that can be edited and searched, as publishers ask for.
    "pdf.fonttype": 42,
    "text.parse_math": False,
    "font.size": 9,
    "text.color": INK,
    "figure.facecolor": PAPER,
    "savefig.facecolor": "auto",
    "axes.facecolor": "none",
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.titlesize": 10,
    "axes.titlecolor": INK,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": GRID,
    "hatch.color": GRID,
    "hatch.linewidth": 0.6,
}

LONGEST = 48
"""Columns of the longest name that is drawn in full."""

SMALL = 7.5
"""Size of remarks, in points."""

# Dots per inch at which text is measured: so many that rounding to dots does not matter.
_FINE = 720
# How much wider letters can be when each is fitted to the dots of a coarse picture.
_ROUNDED = 1.06
_LINE = 0.17
_TITLE = 0.42
# What marks the texts that a caption has, and a figure only where it is titled.
_NOTE = "note"


def require_matplotlib() -> None:
    """Refuse to draw where it is not installed.

    Raises:
        MissingPackageError: matplotlib is not installed.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingPackageError(
            f"A plot needs matplotlib: {to_install('report', 'matplotlib')}"
        ) from error


@contextmanager
def styled() -> Iterator[None]:
    """Draw and save in here: the user's own settings of matplotlib do not count.

    Raises:
        MissingPackageError: matplotlib is not installed.
    """
    require_matplotlib()
    import matplotlib.style

    with matplotlib.style.context(["default", STYLE]), warnings.catch_warnings():
        # A name may be in a script that the font has not; an SVG holds it as text anyway.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


# The width of the paper that is drawn for, None where there is room for all, and whether a figure
# holds its title and its notes, which else stand in its caption.
_PAPER: ContextVar[float | None] = ContextVar("width of the paper", default=None)
_TITLED: ContextVar[bool] = ContextVar("words in figures", default=False)
# A plot, without what is said beside it, is no narrower: then all of it becomes smaller.
_NARROWEST = 1.3


@contextmanager
def drawn_for(width: float | None, *, titled: bool | None = None) -> Iterator[None]:
    """Draw in here for paper of this width: plots become as wide, and words keep their size.

    Figures that are `titled` have their title and notes inside, and not only in their caption.
    """
    paper = _PAPER.set(width)
    words = _TITLED.set(_TITLED.get() if titled is None else titled)
    try:
        yield
    finally:
        _PAPER.reset(paper)
        _TITLED.reset(words)


def titled() -> bool:
    """Whether a figure holds its title and its notes."""
    return _TITLED.get()


def add_notes(figure: "Figure", notes: Iterable[str]) -> None:
    """What the caption of a figure says below its title and `alt`."""
    for note in notes:
        figure.text(0, 0, note, gid=_NOTE, visible=False)


def fitting(width: float, margins: float = 0.0, narrowest: float = _NARROWEST) -> float:
    """The width of a plot on the paper, where all beside it takes the room `margins`."""
    paper = _PAPER.get()
    return width if paper is None else max(paper - margins, narrowest)


def new_figure(width: float, height: float) -> "Figure":
    """An empty figure that belongs to no window."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def panel(
    size: tuple[float, float],
    *,
    title: str,
    left: float,
    right: float = 0.2,
    top: float = 0.0,
    ticks: bool = True,
    below: Sequence[str] = (),
    fixed: bool = False,
) -> "tuple[Figure, Axes]":
    """A figure with one plot of a given size; `titled` ones have a title and notes.

    `left`, `right` and `top` are room for what stands there. The first line `below` is what the
    horizontal axis shows, the others are notes; a line that is too long is broken, and so is the
    title. `ticks` are the numbers below the plot. One that is `fixed` keeps its size on any paper.
    """
    size = size if fixed else (fitting(size[0], left + right), size[1])
    width, height = left + size[0] + right, size[1]
    inside = titled()
    lines = [line for text in below[1:] for line in wrapped(text, width - 0.3)] if inside else []
    label = wrapped(below[0], width - 0.3, 9) if below else []
    first = 0.27 if ticks else 0.1
    foot = first + _LINE * (len(lines) + len(label)) + 0.1
    # Letters of a bold title are wider by a tenth.
    heading = wrapped(title, width - 0.24, 11) if inside else []
    room = _TITLE + _LINE * (len(heading) - 1) if inside else 0.1
    total = foot + height + top + room
    figure = new_figure(width, total)
    axes = figure.add_axes((left / width, foot / total, size[0] / width, height / total))
    figure.text(
        0.12 / width, 1 - 0.13 / total, "\n".join(heading), va="top", weight="bold", size=10,
    )  # fmt: skip
    # The label of the axis stands below the middle of the plot where it has the room.
    middle = left + size[0] / 2
    room = max((text_width(line) for line in label), default=0) / 2
    middle = min(max(middle, room + 0.12), width - room - 0.12)
    for number, line in enumerate(label):
        y = (foot - first - _LINE * number) / total
        figure.text(middle / width, y, line, ha="center", va="top")
    for number, line in enumerate(lines, start=len(label)):
        y = (foot - first - 0.03 - _LINE * number) / total
        figure.text(0.12 / width, y, line, va="top", size=SMALL, color=MUTED)
    add_notes(figure, below[1:])
    return figure, axes


def short(name: str, longest: int = LONGEST) -> str:
    """A name without what steers or hides, and with its middle left out if it is long."""
    text = one_line(name) or "(no name)"
    if columns(text) <= longest:
        return text
    tail = longest * 2 // 5
    return f"{_cut(text, longest - tail - 1)}…{_cut(text[::-1], tail)[::-1]}"


def names_on_paper(names: Sequence[str], letters: float = 6) -> list[str]:
    """Names that leave a plot its room: on paper of so many `letters` an inch without middles."""
    paper = _PAPER.get()
    longest = 0 if paper is None else max(14, int(letters * paper))
    return [short(name, longest) if longest else name for name in names]


def not_shown(names: Sequence[str]) -> list[str]:
    """The remark on what has no place in a figure."""
    if not names:
        return []
    return [f"not shown, {UNDEFINED} in the table: {', '.join(map(short, names))}"]


def columns(text: str) -> int:
    """Length of a text where wide letters, as in Chinese, count two."""
    return len(text) + sum(map(_wide, text))


def text_width(text: str, size: float = 9) -> float:
    """Width in inches; letters of a script that the font has not count as wide ones."""
    from matplotlib.font_manager import FontProperties

    shown = "".join("W" if _wide(char) else char for char in text)
    font = FontProperties(size=size, weight="normal")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        width, _, _ = _renderer().get_text_width_height_descent(  # type: ignore[no-untyped-call]
            shown, font, ismath=False
        )
    return _ROUNDED * float(width) / _FINE


def widest(texts: Sequence[str], size: float = 9) -> float:
    """Width of the widest text, in inches, rounded up to twentieths; 0 without any."""
    width = max((text_width(text, size) for text in texts), default=0.0)
    return math.ceil(width * 20) / 20


def wrapped(text: str, width: float, size: float = SMALL) -> list[str]:
    """A text in lines that fit into a width in inches."""
    import textwrap

    letters = max(20, int(width / text_width("n" * 20, size) * 20))
    return textwrap.wrap(text, letters, break_on_hyphens=False)


@cache
def _renderer() -> "RendererAgg":
    from matplotlib.backends.backend_agg import RendererAgg

    return RendererAgg(1, 1, _FINE)  # type: ignore[no-untyped-call]


def _wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in "WF"


def _cut(text: str, longest: int) -> str:
    while columns(text) > longest:
        text = text[:longest] if len(text) > longest else text[:-1]
    return text


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
_UNDRAWN: Final = re.compile(r"\A.*?(?=<svg\b)|<metadata>.*?</metadata>|(?<=\n) +", re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")
_COLOUR = re.compile("|".join(_THEME))
_LONGEST_WORD = 40
_LENGTH: Final = re.compile(r'\b(width|height)="([0-9.]+)pt"')
# Dots per inch of a picture for print.
_PRINTED: Final = 300

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

    @property
    def notes(self) -> list[str]:
        """How to read it, and what it leaves out."""
        return [text.get_text() for text in self.figure.texts if text.get_gid() == _NOTE]

    @property
    def caption(self) -> str:
        """What a paper says below it, in LaTeX and in Markdown."""
        title, notes = one_line(self.title), "; ".join(map(one_line, self.notes))
        notes = f" {notes[0].upper()}{notes[1:]}." if notes else ""
        text = f"{title}. {one_line(self.alt)}{notes}"
        return (
            f"\\caption{{{latex.escape(text)}}}\n\n**{title}.**{text.removeprefix(f'{title}.')}\n"
        )

    def svg(self) -> str:
        """As SVG: the same drawing gives the same text; words stay words."""
        text = _saved(
            self.figure, "svg", {"Date": None, "Creator": None, "Title": self.title}
        ).decode()
        return text.replace("</title>", f"</title>\n <desc>{escape(self.alt)}</desc>", 1)

    def png(self) -> bytes:
        """As PNG on white paper, 150 dots per inch."""
        return _saved(self.figure, "png", {"Software": None})

    def printed(self, form: Form, width: float | None = None) -> bytes:
        """As a file for a paper or a talk: the same drawing gives the same bytes.

        An SVG or a PDF has words that stay words, a PNG 300 dots per inch. It is no wider than the
        width, in inches; what is narrower keeps its size, and its words theirs.
        """
        drawn = float(self.figure.get_figwidth())
        scale = min(width or drawn, drawn) / drawn
        if form == "png":
            return _saved(self.figure, form, {"Software": None}, dots=_PRINTED, scale=scale)
        if form == "pdf":
            return _pdf(self.figure, self.title, scale)
        # What is in an SVG keeps its own units.
        head, opening, rest = re.split(r"(<svg\b[^>]*>)", self.svg(), maxsplit=1)
        sized = _LENGTH.sub(lambda m: f'{m[1]}="{float(m[2]) * scale:.6g}pt"', opening)
        return f"{head}{sized}{rest}".encode("utf-8", "replace")


def themed(svg: str) -> str:
    """What `Drawing.svg` gives, in the colours that the reader prefers, light or dark.

    The choice is made by CSS inside the SVG, so it also works in an `<img>`. Cells of a heat map
    keep their colours. What no browser draws is left out.
    """
    svg = _UNDRAWN.sub("", svg)
    # Only in tags: a name that holds a colour keeps it.
    variables = {colour: f"var(--{name})" for colour, (name, _) in _THEME.items()}
    text = _TAG.sub(lambda tag: _COLOUR.sub(lambda colour: variables[colour[0]], tag[0]), svg)
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


def free_name(name: str, taken: Container[str], form: str = "{}-{}") -> str:
    """The name itself, or name-2, name-3, … where it is taken."""
    numbered = (form.format(name, number) for number in count(2))
    return next(free for free in chain([name], numbered) if free not in taken)


def distinct(drawings: Iterable[Drawing | None]) -> list[Drawing]:
    """The drawings that there are; of several with one name the second is called name-2."""
    kept: list[Drawing] = []
    taken: set[str] = set()
    for drawing in drawings:
        if drawing is not None:
            name = free_name(drawing.name, taken)
            taken.add(name)
            kept.append(drawing if name == drawing.name else replace(drawing, name=name))
    return kept


def _saved(
    figure: "Figure", form: str, metadata: dict[str, Any], *, dots: int = 150, scale: float = 1.0
) -> bytes:
    target = BytesIO()
    # A PNG says how large it is: so many dots, and so many of these in an inch.
    more: dict[str, Any] = {"pil_kwargs": {"dpi": (dots, dots)}} if form == "png" else {}
    with styled():
        figure.savefig(target, format=form, dpi=dots * scale, metadata=metadata, **more)
    return target.getvalue()


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
            # Lines are cut at the edge of the page, which is drawn on before it is scaled.
            file.width, file.height = width, height
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


def _sheet() -> str:
    light = "".join(f"--{name}:{colour};" for colour, (name, _) in _THEME.items())
    dark = "".join(f"--{name}:{colour};" for name, colour in _THEME.values())
    return f"<style>:root{{{light}}}@media (prefers-color-scheme: dark){{:root{{{dark}}}}}</style>"


_STYLE_SHEET: Final = _sheet()
