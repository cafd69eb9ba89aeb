"""Pictures for a paper or a talk: forms, sizes, and words that keep their size."""

import re
import zlib
from io import BytesIO

import pytest
from matplotlib.text import Text
from PIL import Image

from tests.cases import some
from tests.report.figures import samples
from tests.report.figures.reading import clashes
from tests.report.figures.test_every_figure import FIGURES, names_of
from tiebreak.report.figures.boards import leaderboard_figure, native_figure
from tiebreak.report.figures.canvas import Drawing, Form, drawn_for, styled

COLUMN = 85 / 25.4


def drawing() -> Drawing:
    return some(leaderboard_figure(samples.random_board(names_of(3))))


def size(form: str, data: bytes) -> tuple[float, float]:
    """Width and height in inches, as the file says."""
    if form == "png":
        with Image.open(BytesIO(data)) as image:
            dots, _ = image.info["dpi"]
            assert dots == pytest.approx(300, abs=0.1)
            return image.width / 300, image.height / 300
    pattern = rb'<svg [^>]*width="([0-9.]+)pt" height="([0-9.]+)pt"'
    if form == "pdf":
        pattern = rb"/MediaBox \[ 0 0 ([0-9.]+) ([0-9.]+) \]"
    found = some(re.search(pattern, data))
    width, height = map(float, found.groups())
    return width / 72, height / 72


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "width"), [("svg", None), ("svg", COLUMN), ("png", 8.0), ("pdf", COLUMN)]
)
def test_a_file_is_no_wider_than_was_asked(form: Form, width: float | None) -> None:
    one = drawing()
    data = one.printed(form, width)
    own = [float(part) for part in one.figure.get_size_inches()]
    scale = 1.0 if width is None else min(width / own[0], 1.0)
    assert size(form, data) == pytest.approx([own[0] * scale, own[1] * scale], abs=0.01)
    # The same again, whatever was drawn in between.
    assert drawing().printed(form, width) == data


def drawn(data: bytes) -> bytes:
    """What draws the page of a PDF."""
    streams = [
        zlib.decompress(part)
        for part in re.findall(rb"/FlateDecode.*?stream\n(.*?)\nendstream", data, re.DOTALL)
    ]
    [page] = [stream for stream in streams if b"BT" in stream]
    return page


@pytest.mark.slow
def test_a_pdf_is_drawn_under_its_scale_and_its_words_are_text() -> None:
    one = drawing()
    data = one.printed("pdf", float(one.figure.get_figwidth()) / 2)
    usual = BytesIO()
    with styled():
        one.figure.savefig(usual, format="pdf")
    # What matplotlib draws itself, under a matrix that makes it half as large.
    head, rest = drawn(data).split(b"0.5 0 0 0.5 0 0 cm\n")
    assert head + rest == drawn(usual.getvalue())
    assert b"/Type0" in data
    assert b"/Subtype /Image" not in data
    assert not re.search(rb"CreationDate|Producer", data)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["leaderboard", "native", "stability", "reviewers"])
def test_on_narrow_paper_plots_become_narrower_and_not_words(kind: str) -> None:
    names = ("ada", "ben", "cleo")
    usual = {text.get_fontsize() for text in some(FIGURES[kind](names)).figure.findobj(Text)}
    for width in (4.5, 9):  # on wide paper they become wider, and words do not
        with drawn_for(width):
            fitted = some(FIGURES[kind](names))
        own = float(fitted.figure.get_figwidth())
        assert own <= 4.5 + 1e-6 if width == 4.5 else own == pytest.approx(9)
        assert {text.get_fontsize() for text in fitted.figure.findobj(Text)} == usual
        assert width == 9 or not clashes(fitted)


@pytest.mark.slow
@pytest.mark.parametrize("width", [3.35, 7.0, 13.0])
@pytest.mark.parametrize("kind", ["leaderboard", "native", "win rates", "perturbation"])
def test_boards_fit_the_columns_of_a_paper(kind: str, width: float) -> None:
    """Names of 40 letters, 30 models, and equal scores."""
    long = tuple(f"provider-{k:02}/{'a-long-name-' * 3}"[:38] + f"{k:02}" for k in range(30))
    with drawn_for(width):
        for names in (("ada", "ben", "cleo"), long):
            assert not clashes(some(FIGURES[kind](names)))
        even = samples.board([samples.row(1, name, 0.5, native=0.5) for name in names_of(4)])
        for draw in (leaderboard_figure, native_figure):
            assert not clashes(some(draw(even)))


def test_title_and_notes_are_in_the_caption_and_in_the_picture_where_asked() -> None:
    plain = drawing()
    with drawn_for(None, titled=True):
        titled = drawing()
    for one in (plain, titled):
        latex, markdown = one.caption.split("\n\n")
        assert latex.startswith("\\caption{gsm8k \\textperiodcentered{} seal")
        assert markdown.startswith(f"**{one.title}.** {one.alt} Line: 95% interval over 120 items")
        assert "95\\% interval over 120 items" in latex
    assert plain.title not in plain.svg().partition("</metadata>")[2]
    shown = titled.svg().partition("</metadata>")[2]
    assert all(note in shown for note in titled.notes)
    assert not any(note in plain.svg() for note in plain.notes)
