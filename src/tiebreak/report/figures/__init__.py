"""The figures of a report: each a `Drawing` with its words, or None where there is nothing to draw.

canvas    style, colours, room for names,       boards      leaderboard, native against judged,
          `Drawing`: SVG, themed SVG, PNG                   scores by stars, subjects, dates, causes
panels    a row or a point for every model,     matrices    win rates, who ranks whom, labels
          names that do not cover each other    prices      agreement against price
boxes     reviewers, people, stability, κ       contests    CSD, also with spoilt scores
"""

from tiebreak.report.figures.boards import (
    causes_figure,
    dates_figure,
    leaderboard_figure,
    native_figure,
    orders_figure,
    star_scores_figure,
    subjects_figure,
)
from tiebreak.report.figures.boxes import (
    alignment_figure,
    kappa_figure,
    reviewer_boxes_figure,
    self_preference_figure,
    stability_figure,
    views_figure,
)
from tiebreak.report.figures.canvas import Drawing, distinct, slug, themed
from tiebreak.report.figures.contests import (
    contest_figures,
    perturbation_figure,
    sensitivity_figure,
    wins_figure,
)
from tiebreak.report.figures.matrices import confusion_figure, review_matrix_figure, win_rate_figure
from tiebreak.report.figures.prices import price_figure

__all__ = [
    "Drawing",
    "alignment_figure",
    "causes_figure",
    "confusion_figure",
    "contest_figures",
    "dates_figure",
    "distinct",
    "kappa_figure",
    "leaderboard_figure",
    "native_figure",
    "orders_figure",
    "perturbation_figure",
    "price_figure",
    "review_matrix_figure",
    "reviewer_boxes_figure",
    "self_preference_figure",
    "sensitivity_figure",
    "slug",
    "stability_figure",
    "star_scores_figure",
    "subjects_figure",
    "themed",
    "views_figure",
    "win_rate_figure",
    "wins_figure",
]
