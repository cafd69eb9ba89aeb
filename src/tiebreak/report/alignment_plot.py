"""Box plots of the alignment with people as a file: what `tiebreak align --plot` writes."""

from os import PathLike

from tiebreak.analysis.alignment.align import Alignment
from tiebreak.report.figures.boxes import alignment_boxes, alignment_figure
from tiebreak.report.figures.canvas import PlotError
from tiebreak.report.figures.drawing import save_figure
from tiebreak.report.plot import check_plot


def plot_alignment(
    alignment: Alignment, path: str | PathLike[str], *, rater: str = "kemeny_young"
) -> None:
    """Draw what `alignment_figure` draws.

    Args:
        alignment: what to draw. Of several peer reviews each has a box, of a single one each rater.
        path: where to write; .svg or .png. The same alignment gives the same file.
        rater: whose correlation is shown where there are several peer reviews: a method, a
            reviewer's name, or "native score".

    Raises:
        PlotError: the path is no .svg or .png, there is no such rater, or nothing to draw.
        MissingPackageError: matplotlib is not installed.
        OSError: the file cannot be written.
    """
    check_plot(path)
    drawing = alignment_figure(alignment, rater)
    if drawing is None:
        _, subject = alignment_boxes(alignment, rater)
        raise PlotError(f"Nothing to draw: no item in which {subject} tells models apart")
    save_figure(drawing.figure, path)
