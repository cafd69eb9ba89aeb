"""The figures of a report: each a `Drawing` with its words, or None where there is nothing to draw.

canvas    style, colours, room for names        boards            leaderboard, native against judged
drawing   `Drawing`: SVG, themed SVG, PNG       matrices          win rates, who ranks whom
labels    names that do not cover each other    prices            agreement against price
points    scatter plots of models               contests          CSD
rows      a row for every model                 perturbations     CSD with spoilt scores
heat      coloured tables                       self_preferences, boxes, stabilities
"""

from tiebreak.report.figures.boards import leaderboard_figure, native_figure
from tiebreak.report.figures.boxes import alignment_figure, reviewer_boxes_figure
from tiebreak.report.figures.contests import sensitivity_figure, wins_figure
from tiebreak.report.figures.drawing import Drawing, distinct, slug, themed
from tiebreak.report.figures.matrices import review_matrix_figure, win_rate_figure
from tiebreak.report.figures.perturbations import perturbation_figure
from tiebreak.report.figures.prices import price_figure
from tiebreak.report.figures.self_preferences import self_preference_figure
from tiebreak.report.figures.stabilities import stability_figure

__all__ = [
    "Drawing",
    "alignment_figure",
    "distinct",
    "leaderboard_figure",
    "native_figure",
    "perturbation_figure",
    "price_figure",
    "review_matrix_figure",
    "reviewer_boxes_figure",
    "self_preference_figure",
    "sensitivity_figure",
    "slug",
    "stability_figure",
    "themed",
    "win_rate_figure",
    "wins_figure",
]
