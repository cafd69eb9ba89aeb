"""The figures of a report: each a `Drawing` with its words, or None where there is nothing to draw.

canvas    style, colours, room for names        boards      leaderboard, native against judged
drawing   `Drawing`: SVG, themed SVG, PNG       matrices    win rates, who ranks whom
labels    names that do not cover each other    prices      agreement against price
points    scatter plots of models               contests    CSD, also with spoilt scores
rows      a row for every model                 boxes       reviewers, people, stability
                                                stars       scores by stars, subjects
"""

from tiebreak.report.figures.boards import leaderboard_figure, native_figure
from tiebreak.report.figures.boxes import (
    alignment_figure,
    reviewer_boxes_figure,
    self_preference_figure,
    stability_figure,
    views_figure,
)
from tiebreak.report.figures.contests import (
    contest_figures,
    perturbation_figure,
    sensitivity_figure,
    wins_figure,
)
from tiebreak.report.figures.drawing import Drawing, distinct, slug, themed
from tiebreak.report.figures.kappas import confusion_figure, kappa_figure
from tiebreak.report.figures.matrices import review_matrix_figure, win_rate_figure
from tiebreak.report.figures.prices import price_figure
from tiebreak.report.figures.star_course import causes_figure, dates_figure, orders_figure
from tiebreak.report.figures.stars import star_scores_figure, subjects_figure

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
