"""The plots of a run, as SVG and PNG, and what they show in words (for the card's alt texts).

Fonts differ between machines, so plots are no part of what identifies a run.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tiebreak.analysis.win_rates import win_rates
from tiebreak.publish.manifest import as_json
from tiebreak.publish.rows import of_board, ranked
from tiebreak.publish.runs import Run
from tiebreak.rankers import MissingPackageError
from tiebreak.report.figures.canvas import require_matplotlib

if TYPE_CHECKING:
    from tiebreak.report.figures import Drawing

WORDS: Final = "plots.json"
"""Beside the plots of a run: title and alt text of each, by its name, in the order of the card."""


def missing_plots() -> str | None:
    """Why there are no plots, and what to do; None where there are some."""
    try:
        require_matplotlib()
    except MissingPackageError:
        return "No plots: pip install 'tiebreak[report]', then publish again, which adds them"
    return None


def plots(run: Run) -> dict[str, bytes]:
    """The plots of a run by path in the dataset; none where matplotlib is not installed."""
    from tiebreak.report.figures import distinct

    if missing_plots():
        return {}
    folder = f"plots/{run.run_id}"
    found = [(benchmark, one) for benchmark, one in _drawings(run) if one is not None]
    drawings = distinct(one for _, one in found)
    words = [
        {"name": one.name, "benchmark": benchmark, "title": one.title, "alt": one.alt}
        for (benchmark, _), one in zip(found, drawings, strict=True)
    ]
    files = {f"{folder}/{one.name}.svg": one.svg().encode() for one in drawings}
    files |= {f"{folder}/{one.name}.png": one.png() for one in drawings}
    return files | ({f"{folder}/{WORDS}": as_json({"plots": words})} if words else {})


def _drawings(run: Run) -> Iterator[tuple[str, "Drawing | None"]]:
    from tiebreak.report.figures import (
        leaderboard_figure,
        native_figure,
        review_matrix_figure,
        reviewer_boxes_figure,
        self_preference_figure,
        win_rate_figure,
    )

    for board in run.boards:
        items = ranked(of_board(run.judged, board))
        best_first = [row.model for row in board.rows]
        yield board.benchmark, leaderboard_figure(board)
        yield board.benchmark, native_figure(board)
        label = f"{board.benchmark} · {board.protocol}"
        yield board.benchmark, win_rate_figure(label, win_rates(items, models=best_first))
    for review in run.reviews:
        yield review.panel.benchmark, review_matrix_figure(review)
        yield review.panel.benchmark, self_preference_figure(review)
        yield review.panel.benchmark, reviewer_boxes_figure(review)
