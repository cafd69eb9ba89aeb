"""Figures of a star board: absolute scores, and scores by subject."""

import math

import numpy as np

from tiebreak.analysis.stars import StarBoard
from tiebreak.report.cells import UNDEFINED, decimal, ranks
from tiebreak.report.figures.canvas import not_shown, short, styled
from tiebreak.report.figures.drawing import Drawing, slug
from tiebreak.report.figures.matrices import heat_map
from tiebreak.report.figures.rows import draw_point, limits, row_panel
from tiebreak.words import count


def star_scores_figure(board: StarBoard) -> Drawing | None:
    """Every model's score with its interval, and the ranks that tests of all pairs leave open.

    None where no model has a score.
    """
    rows = [row for row in board.rows if row.rank is not None]
    if not rows:
        return None
    level = f"{board.level * 100:g}%"
    title = f"{short(board.benchmark)} · score of each model by stars"
    with styled():
        figure, axes = row_panel(
            [f"{row.rank}. {short(row.model)}" for row in rows],
            title=title,
            words=[ranks(row.rank_lower, row.rank_upper) for row in rows],
            head="ranks",
            below=[
                "score by stars, 0 to 100",
                f"line: {level} interval over {count(board.n_items, 'item')}, {board.design}",
                "ranks: left open by tests of all pairs",
                *not_shown([row.model for row in board.rows if row.rank is None]),
            ],
        )
        for place, row in enumerate(rows):
            draw_point(axes, place, row.value, row.lower, row.upper)
        values = [value for row in rows for value in (row.value, row.lower, row.upper)]
        axes.set_xlim(limits(values, step=10, within=(0, 100)))
    first, last = rows[0], rows[-1]
    words = (
        f"Scores by stars of {count(len(rows), 'model')} on {short(board.benchmark)}, 0 to 100: "
        f"{short(first.model)} is first with {decimal(first.value, 2)}"
    )
    if last is not first:
        words += f", {short(last.model)} last with {decimal(last.value, 2)}"
    return Drawing(slug("stars", board.benchmark), title, f"{words}.", figure)


def subjects_figure(board: StarBoard) -> Drawing | None:
    """Models by subject as a heat map (LLMEval-Fair, table 1); None without subjects or scores."""
    table = np.array([[one.value for one in row.subjects] for row in board.rows])
    if not table.size or np.isnan(table).all():
        return None
    low = min(math.floor(float(np.nanmin(table))), 9)
    title = f"{short(board.benchmark)} · scores by subject"
    with styled():
        figure, _ = heat_map(
            table,
            [f"{number}. {short(row.model)}" for number, row in enumerate(board.rows, start=1)],
            [str(number) for number in range(1, len(board.subjects) + 1)],
            lambda i, j: UNDEFINED if np.isnan(table[i, j]) else decimal(float(table[i, j]), 1),
            span=(float(low), 10.0),
            title=title,
            below=[
                "score of the row on the subject of the column, 0 to 10",
                *(f"{number}. {short(name)}" for number, name in enumerate(board.subjects, 1)),
            ],
        )
    worst = np.unravel_index(np.nanargmin(table), table.shape)
    return Drawing(
        slug("subjects", board.benchmark),
        title,
        f"Scores of {count(len(table), 'model')} on {count(len(board.subjects), 'subject')}, 0 to "
        f"10. The lowest is that of {short(board.rows[int(worst[0])].model)} on "
        f"{short(board.subjects[int(worst[1])])}, {decimal(float(table[worst]), 2)}.",
        figure,
    )
