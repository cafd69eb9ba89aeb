"""The plots that `compare`, `align`, `calibrate` and `csd` write as files.

Each `plot_…` takes a finding, the path to write (.svg, .png or .pdf), and the width in inches, by
default the drawing's own; the same finding gives the same files. Functions that draw several
plots return their paths in the order of their docstrings. a.svg comes with a.caption.txt, its
caption in LaTeX and in Markdown; title and notes are in the figure only if `drawn_for` is `titled`.

Raises:
    ReportError: the path has another suffix, or there is nothing to draw.
    MissingPackageError: matplotlib is not installed.
    OSError: a file cannot be written.
"""

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from tiebreak.analysis.alignment import Alignment
from tiebreak.analysis.calibration import Calibration
from tiebreak.analysis.comparison import Comparison
from tiebreak.analysis.contests import ContestReport
from tiebreak.paths import whole_file
from tiebreak.report import ReportError
from tiebreak.report.figures.boxes import (
    alignment_boxes,
    alignment_figure,
    kappa_figure,
    views_figure,
)
from tiebreak.report.figures.canvas import (
    FORMS,
    Drawing,
    Form,
    distinct,
    drawn_for,
    require_matplotlib,
)
from tiebreak.report.figures.contests import contest_figures
from tiebreak.report.figures.matrices import confusion_figure
from tiebreak.report.figures.prices import AXES, Against, price_figure

VIEWS = "views"
"""Value of `rater` that draws the four views instead of one rater (Peer review, figure 4)."""


def check_plot(path: str | PathLike[str]) -> None:
    """Raise an error if a plot cannot be written to `path`, before anything is computed.

    Raises:
        ReportError: the path does not end in .svg, .png or .pdf.
        MissingPackageError: matplotlib is not installed.
    """
    _form_of(path)
    require_matplotlib()


def _form_of(path: str | PathLike[str]) -> Form:
    for form in FORMS:
        if Path(path).suffix.lower() == f".{form}":
            return form
    *most, last = (f".{form}" for form in FORMS)
    raise ReportError(f"{path}: a plot is a file that ends in {', '.join(most)} or {last}")


def write_all(
    drawings: Iterable[tuple[Drawing, str]], path: str | PathLike[str], width: float | None
) -> list[Path]:
    """Write each drawing and its caption; the text beside it is appended to the stem of `path`."""
    files = []
    for drawing, end in drawings:
        files.append(file := Path(path).with_stem(f"{Path(path).stem}{end}"))
        with whole_file(file) as draft:
            draft.write_bytes(drawing.printed(_form_of(path), width))
        with whole_file(file.with_suffix(".caption.txt")) as draft:
            draft.write_text(drawing.caption, encoding="utf-8", newline="\n")
    return files


def plot_comparison(
    comparison: Comparison,
    path: str | PathLike[str],
    *,
    against: Against = "calls",
    width: float | None = None,
) -> None:
    """Draw one panel per benchmark: each log's ρ with its interval, and the noise ceiling.

    A log whose ρ or price (`against`) is undefined is named below its panel.
    """
    check_plot(path)
    with drawn_for(width):
        drawing = price_figure(comparison, against)
    if drawing is None:
        hint = ". Give prices with --model-cost-config FILE when you judge"
        raise ReportError(
            "Nothing to draw: no protocol has both an agreement and a price in "
            f"{AXES[against]}{hint if against == 'cost' else ''}"
        )
    write_all([(drawing, "")], path, width)


def plot_alignment(
    alignment: Alignment,
    path: str | PathLike[str],
    *,
    rater: str = "kemeny_young",
    width: float | None = None,
) -> None:
    """Draw box plots of the alignment with people, item by item.

    A single peer review has a box for each rater except the views. Several have one box each, for
    `rater`: a method, a reviewer's name, a view, or "native score". With "views" there is a box
    for each peer review and view.
    """
    check_plot(path)
    with drawn_for(width):
        drawing = views_figure(alignment) if rater == VIEWS else alignment_figure(alignment, rater)
    if drawing is None:
        subject = "a view" if rater == VIEWS else alignment_boxes(alignment, rater)[1]
        raise ReportError(f"Nothing to draw: no item in which {subject} tells models apart")
    write_all([(drawing, "")], path, width)


def plot_calibration(
    calibration: Calibration, path: str | PathLike[str], *, width: float | None = None
) -> list[Path]:
    """Draw each judge's κ with people, and in further files each judge's confusion matrix.

    The stem of those files is that of `path` with "-labels" (then "-labels-2", …) appended, the
    best judge first.
    """
    check_plot(path)
    with drawn_for(width):
        kappa = kappa_figure(calibration)
        confusions = [confusion_figure(calibration, judge) for judge in calibration.judges]
    if kappa is None:
        raise ReportError("Nothing to draw: no judge has a κ")
    ends = ["", "-labels", *(f"-labels-{number}" for number in range(2, len(confusions) + 1))]
    return write_all(zip([kappa, *filter(None, confusions)], ends, strict=False), path, width)


def plot_contest(
    report: ContestReport, path: str | PathLike[str], *, width: float | None = None
) -> list[Path]:
    """Draw expected wins, and in further files the cost of elimination and of changed scores.

    The stem of those files is that of `path` with "-sensitivity" or "-perturbation" (then
    "-perturbation-2", …) appended.
    """
    check_plot(path)
    with drawn_for(width):
        drawings = distinct(contest_figures(report))
    parts = (drawing.name.removeprefix("csd") for drawing in drawings)
    ends = ("" if part == "-wins" else part for part in parts)
    return write_all(zip(drawings, ends, strict=True), path, width)
