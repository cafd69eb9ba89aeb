"""The common base of all figures: style, colours, empty plots with room measured for names.

A finished figure is a `Drawing`, which has a description and can be saved in the formats that a
page, a card or a file needs. Sizes are in inches. Nothing here draws data.
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
# Colour-blind readers can distinguish these, too (M. Okabe and K. Ito, "Color Universal Design").
# Whatever a colour shows is also shown by a marker's form or by words.
BLUE, PALE, ORANGE, GREEN = "#0072b2", "#a6cbe3", "#d55e00", "#009e73"

STYLE: Final[Any] = {
    # Text stays text in an SVG, ids are the same in every run, and a dollar sign in a name does
    # not start a formula.
    "svg.fonttype": "none",
    "svg.hashsalt": "tiebreak",
    # TrueType fonts, whose text can be edited and searched, as publishers ask for.
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
"""Names of up to this many columns are drawn in full."""

SMALL = 7.5
"""Size of remarks, in points."""

# Dots per inch at which text is measured: enough that rounding to dots does not matter.
_FINE = 720
# Letters can be this much wider when each is fitted to the dots of a coarse picture.
_ROUNDED = 1.06
_LINE = 0.17
_TITLE = 0.42
# gid of invisible texts of a figure that hold its notes for the caption.
_NOTE = "note"


def require_matplotlib() -> None:
    """Raise an error if matplotlib is not installed.

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
    """Draw and save inside this context with our style, whatever the user's matplotlib settings.

    Raises:
        MissingPackageError: matplotlib is not installed.
    """
    require_matplotlib()
    import matplotlib.style

    with matplotlib.style.context(["default", STYLE]), warnings.catch_warnings():
        # A name may use a script that the font lacks; an SVG contains it as text anyway.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


# The width of the paper to draw for, None without a limit, and whether figures contain their title
# and notes, which otherwise are only in their caption.
_PAPER: ContextVar[float | None] = ContextVar("width of the paper", default=None)
_TITLED: ContextVar[bool] = ContextVar("words in figures", default=False)
# Least width of a plot without the room beside it; on narrower paper the whole figure is scaled.
_NARROWEST = 1.3


@contextmanager
def drawn_for(width: float | None, *, titled: bool | None = None) -> Iterator[None]:
    """Draw inside this context for paper of this width: plots fill it, and text keeps its size.

    `titled` figures contain their title and notes, which otherwise are only in their caption.
    """
    paper = _PAPER.set(width)
    words = _TITLED.set(_TITLED.get() if titled is None else titled)
    try:
        yield
    finally:
        _PAPER.reset(paper)
        _TITLED.reset(words)


def titled() -> bool:
    """Whether figures contain their title and notes."""
    return _TITLED.get()


def add_notes(figure: "Figure", notes: Iterable[str]) -> None:
    """Add notes to the caption of a figure, which follow its title and `alt`."""
    for note in notes:
        figure.text(0, 0, note, gid=_NOTE, visible=False)


def fitting(width: float, margins: float = 0.0, narrowest: float = _NARROWEST) -> float:
    """The width of a plot: `width`, or what `margins` leave of the paper that is drawn for."""
    paper = _PAPER.get()
    return width if paper is None else max(paper - margins, narrowest)


def new_figure(width: float, height: float) -> "Figure":
    """An empty figure that does not belong to a window."""
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
    """A figure with one plot of a given size; with title and notes if figures are `titled`.

    `left`, `right` and `top` are the margins. The first line of `below` is the label of the
    horizontal axis, the others are notes; long lines and titles are wrapped. `ticks` says whether
    there are numbers below the plot. A `fixed` plot keeps its size on any paper.
    """
    size = size if fixed else (fitting(size[0], left + right), size[1])
    width, height = left + size[0] + right, size[1]
    inside = titled()
    lines = [line for text in below[1:] for line in wrapped(text, width - 0.3)] if inside else []
    label = wrapped(below[0], width - 0.3, 9) if below else []
    first = 0.27 if ticks else 0.1
    foot = first + _LINE * (len(lines) + len(label)) + 0.1
    # Size 11 for a title of size 10: bold letters are a tenth wider than those that are measured.
    heading = wrapped(title, width - 0.24, 11) if inside else []
    room = _TITLE + _LINE * (len(heading) - 1) if inside else 0.1
    total = foot + height + top + room
    figure = new_figure(width, total)
    axes = figure.add_axes((left / width, foot / total, size[0] / width, height / total))
    figure.text(
        0.12 / width, 1 - 0.13 / total, "\n".join(heading), va="top", weight="bold", size=10,
    )  # fmt: skip
    # Centre the label of the axis below the plot, unless it would leave the figure at a side.
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
    """A name with control characters made visible, and without its middle if it is too long."""
    text = one_line(name) or "(no name)"
    if columns(text) <= longest:
        return text
    tail = longest * 2 // 5
    return f"{_cut(text, longest - tail - 1)}…{_cut(text[::-1], tail)[::-1]}"


def names_on_paper(names: Sequence[str], letters: float = 6) -> list[str]:
    """Names shortened to leave room for the plot: to `letters` per inch of the paper's width."""
    paper = _PAPER.get()
    longest = 0 if paper is None else max(14, int(letters * paper))
    return [short(name, longest) if longest else name for name in names]


def not_shown(names: Sequence[str]) -> list[str]:
    """A note on the names that a figure does not show; empty without any."""
    if not names:
        return []
    return [f"not shown, {UNDEFINED} in the table: {', '.join(map(short, names))}"]


def columns(text: str) -> int:
    """Length of a text; wide letters, e.g. Chinese ones, count two."""
    return len(text) + sum(map(_wide, text))


def text_width(text: str, size: float = 9) -> float:
    """Width of a text in inches; East Asian wide letters, which the font lacks, count as "W"."""
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
    """Width of the widest text, in inches, rounded up to multiples of 0.05; 0 without any."""
    width = max((text_width(text, size) for text in texts), default=0.0)
    return math.ceil(width * 20) / 20


def wrapped(text: str, width: float, size: float = SMALL) -> list[str]:
    """Split a text into lines that fit into a width in inches."""
    import textwrap

    # "n" is about as wide as the average letter.
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


# Each colour of the style as a CSS variable: its name, and its value in the dark colour scheme.
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
# Dots per inch of a PNG for print.
_PRINTED: Final = 300

Form = Literal["svg", "png", "pdf"]
"""Formats in which a picture can be written."""

FORMS: Final[tuple[Form, ...]] = get_args(Form)


@dataclass(frozen=True, eq=False, slots=True)
class Drawing:
    """A figure with its name, title and description.

    `name` is the stem of its file: lower-case letters, digits and hyphens. `title` is plain text.
    `alt` describes the picture in one to three sentences, for readers who cannot see it.
    """

    name: str
    title: str
    alt: str
    figure: "Figure"

    @property
    def notes(self) -> list[str]:
        """Notes on how to read the figure, and on what it leaves out."""
        return [text.get_text() for text in self.figure.texts if text.get_gid() == _NOTE]

    @property
    def caption(self) -> str:
        """The caption for a paper, in LaTeX and in Markdown: title, `alt` and notes."""
        title, notes = one_line(self.title), "; ".join(map(one_line, self.notes))
        notes = f" {notes[0].upper()}{notes[1:]}." if notes else ""
        text = f"{title}. {one_line(self.alt)}{notes}"
        return (
            f"\\caption{{{latex.escape(text)}}}\n\n**{title}.**{text.removeprefix(f'{title}.')}\n"
        )

    def svg(self) -> str:
        """The drawing as SVG with text as text; the same drawing gives the same SVG."""
        text = _saved(
            self.figure, "svg", {"Date": None, "Creator": None, "Title": self.title}
        ).decode()
        return text.replace("</title>", f"</title>\n <desc>{escape(self.alt)}</desc>", 1)

    def png(self) -> bytes:
        """The drawing as PNG on white, 150 dots per inch."""
        return _saved(self.figure, "png", {"Software": None})

    def printed(self, form: Form, width: float | None = None) -> bytes:
        """The drawing as a file for a paper or a talk; the same drawing gives the same bytes.

        SVG and PDF keep text as text; a PNG has 300 dots per inch. A drawing wider than `width`
        inches is scaled down with its text; a narrower one keeps its size.
        """
        drawn = float(self.figure.get_figwidth())
        scale = min(width or drawn, drawn) / drawn
        if form == "png":
            return _saved(self.figure, form, {"Software": None}, dots=_PRINTED, scale=scale)
        if form == "pdf":
            return _pdf(self.figure, self.title, scale)
        # Only the size of the SVG changes: its content is in units of its `viewBox`.
        head, opening, rest = re.split(r"(<svg\b[^>]*>)", self.svg(), maxsplit=1)
        sized = _LENGTH.sub(lambda m: f'{m[1]}="{float(m[2]) * scale:.6g}pt"', opening)
        return f"{head}{sized}{rest}".encode("utf-8", "replace")


def themed(svg: str) -> str:
    """The SVG of `Drawing.svg` in the colour scheme that the reader prefers, light or dark.

    CSS inside the SVG chooses the colours, so it also works in an `<img>`. Cells of a heat map keep
    their colours. The header, metadata and indentation are removed, since no browser draws them.
    """
    svg = _UNDRAWN.sub("", svg)
    # Replace colours only in tags: a name may look like a colour.
    variables = {colour: f"var(--{name})" for colour, (name, _) in _THEME.items()}
    text = _TAG.sub(lambda tag: _COLOUR.sub(lambda colour: variables[colour[0]], tag[0]), svg)
    head, opening, rest = re.split(r"(<svg\b[^>]*>)", text, maxsplit=1)
    return f"{head}{opening}\n{_STYLE_SHEET}{rest}"


def slug(*parts: str) -> str:
    """A file name from any names: lower-case ASCII letters, digits and hyphens.

    A part that loses letters or digits, or is cut, ends in a hash of the whole part.
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
    """The name itself, or the first of name-2, name-3, … that is not taken."""
    numbered = (form.format(name, number) for number in count(2))
    return next(free for free in chain([name], numbered) if free not in taken)


def distinct(drawings: Iterable[Drawing | None]) -> list[Drawing]:
    """The drawings that are not None; the second of several with one name is called name-2."""
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
    # The PNG states the unscaled resolution, so a scaled picture is smaller in inches.
    more: dict[str, Any] = {"pil_kwargs": {"dpi": (dots, dots)}} if form == "png" else {}
    with styled():
        figure.savefig(target, format=form, dpi=dots * scale, metadata=metadata, **more)
    return target.getvalue()


def _pdf(figure: "Figure", title: str, scale: float) -> bytes:
    """A PDF of the figure, drawn as `savefig` does, but scaled; `savefig` has no scale for PDF."""
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
            # Lines are clipped to the page in unscaled units, so the file needs its full size.
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
