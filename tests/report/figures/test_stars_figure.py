"""Star boards as drawn, read back and held against the board."""

from dataclasses import replace

import pytest

from tests.report.figures.reading import points, row_names, said, segments
from tests.report.figures.samples import star_board
from tests.report.figures.test_matrices import cells
from tiebreak.report.figures.boards import leaderboard_figure, subjects_figure

BOARD = star_board(("ada", "ben", "cleo"))


def test_every_score_has_its_row_and_its_interval() -> None:
    drawing = leaderboard_figure(BOARD)
    assert drawing is not None
    [axes] = drawing.figure.axes
    assert row_names(axes) == ["1. ada", "2. ben", "3. cleo"]
    assert [(x, y) for _, x, y in points(axes)] == [
        (row.value, k) for k, row in enumerate(BOARD.rows)
    ]
    assert segments(axes) == [
        pytest.approx((row.lower, k, row.upper, k)) for k, row in enumerate(BOARD.rows)
    ]
    assert "95% interval over 40 items, paired" in said(drawing)
    assert drawing.name == "stars-fair"


def test_every_cell_says_its_score() -> None:
    drawing = subjects_figure(BOARD)
    assert drawing is not None
    [axes] = drawing.figure.axes
    assert cells(axes) == {
        (i, j): f"{one.value:.1f}"
        for i, row in enumerate(BOARD.rows)
        for j, one in enumerate(row.subjects)
    }
    assert "1. ada" in said(drawing)
    worst = min(one.value for row in BOARD.rows for one in row.subjects)
    assert f"{worst:.2f}" in drawing.alt


def test_what_cannot_be_drawn() -> None:
    bare = tuple(replace(row, rank=None, subjects=()) for row in BOARD.rows)
    assert leaderboard_figure(replace(BOARD, rows=bare)) is None
    assert subjects_figure(replace(BOARD, rows=bare, subjects=())) is None
