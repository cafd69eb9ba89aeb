"""Leaderboards as drawn, read back and held against the board."""

from dataclasses import replace

import pytest

from tests.report.figures.reading import points, row_names, said, segments, words
from tests.report.figures.samples import NAN, board, random_board, row
from tiebreak.report.figures.boards import leaderboard_figure, native_figure

TIED = board(
    [
        row(1, "ada", 0.75, 0.05, native=0.9),
        row(2, "ben", 0.5, 0.1, native=0.9),
        row(2, "cleo", 0.5, 0.2, native=0.8),
        row(4, "dan", 0.25, native=0.9),
        row(None, "eve", NAN, native=0.7),
        row(5, "fay", 0.125, 0.025),
    ]
)


def test_every_score_has_its_row_and_its_interval() -> None:
    drawing = leaderboard_figure(TIED)
    assert drawing is not None
    [axes] = drawing.figure.axes
    assert row_names(axes) == ["1. ada", "2. ben", "2. cleo", "4. dan", "5. fay"]
    assert points(axes) == [
        ("o", 0.75, 0),
        ("o", 0.5, 1),
        ("o", 0.5, 2),
        ("o", 0.25, 3),
        ("o", 0.125, 4),
    ]
    # dan has no interval.
    assert segments(axes) == [
        pytest.approx((0.7, 0, 0.8, 0)),
        pytest.approx((0.4, 1, 0.6, 1)),
        pytest.approx((0.3, 2, 0.7, 2)),
        pytest.approx((0.1, 4, 0.15, 4)),
    ]
    # The best stands at the top.
    low, high = axes.get_ylim()
    assert low > high
    ranks = [(text.get_position()[1], text.get_text()) for text in axes.texts]
    assert ranks[:5] == [(0, "1–2"), (1, "1–3"), (2, "1–3"), (3, "–"), (4, "4–6")]
    shown = said(drawing)
    assert "95% interval over 120 items" in shown
    assert "without a line: no interval" in shown
    assert "not shown, – in the table: eve" in shown


def test_the_words_of_a_leaderboard() -> None:
    drawing = leaderboard_figure(TIED)
    assert drawing is not None
    assert drawing.name == "leaderboard-gsm8k-seal"
    assert drawing.title == "gsm8k · seal · Borda score of each model"
    assert drawing.alt == (
        "Leaderboard of 5 models on gsm8k by seal: ada is first with a mean normalized Borda score "
        "of 0.750 (95% interval 0.700 to 0.800), fay last with 0.125. By tests of all pairs, 3 "
        "models could be first."
    )


def test_no_interval_is_no_claim() -> None:
    drawing = leaderboard_figure(board([row(1, "ada", 0.75), row(2, "ben", 0.25)]))
    assert drawing is not None
    assert not segments(drawing.figure.axes[0])
    assert "interval" not in drawing.alt
    assert "could be first" not in drawing.alt


def test_a_full_set_of_intervals_needs_no_remark() -> None:
    drawing = leaderboard_figure(random_board("abc"))
    assert drawing is not None
    assert "no interval" not in said(drawing)
    assert "not shown" not in said(drawing)


@pytest.mark.parametrize("rows", [[], [row(None, "ada", NAN, native=1.0)]])
def test_no_score_no_leaderboard(rows: list) -> None:  # type: ignore[type-arg]
    assert leaderboard_figure(board(rows)) is None
    assert native_figure(board(rows)) is None


def test_native_against_judged() -> None:
    drawing = native_figure(TIED)
    assert drawing is not None
    [axes] = drawing.figure.axes
    assert points(axes) == [
        ("o", 0.9, 0.75),
        ("o", 0.9, 0.5),
        ("o", 0.8, 0.5),
        ("o", 0.9, 0.25),
    ]
    # Three share a native score: one line from the lowest of them to the highest.
    assert segments(axes) == [(0.9, 0.25, 0.9, 0.75)]
    assert {text.get_text(): text.xy for text in axes.texts} == {  # type: ignore[attr-defined]
        "1. ada": (0.9, 0.75),
        "2. ben": (0.9, 0.5),
        "2. cleo": (0.8, 0.5),
        "4. dan": (0.9, 0.25),
    }
    assert "not shown, – in the table: eve, fay" in said(drawing)
    assert drawing.alt == (
        "Native score against judged score of 4 models on gsm8k. 3 models share the native score "
        "0.900, and their judged scores go from 0.250 to 0.750."
    )


def test_native_scores_without_ties() -> None:
    drawing = native_figure(
        board([row(1, "ada", 0.75, native=3.0), row(2, "ben", 0.5, native=7.0)])
    )
    assert drawing is not None
    assert not segments(drawing.figure.axes[0])
    assert "vertical line" not in said(drawing)
    assert "No two models share a native score" in drawing.alt
    assert (drawing.figure.axes[0].get_xlim()[0], drawing.figure.axes[0].get_xlim()[1]) == (
        pytest.approx((2.88, 7.12))
    )


def test_without_native_scores_there_is_no_figure() -> None:
    one = random_board("abc")
    assert native_figure(replace(one, rows=tuple(replace(r, native=NAN) for r in one.rows))) is None


def test_many_models_have_numbers_and_a_key() -> None:
    one = random_board([f"model-{k}" for k in range(12)])
    drawing = native_figure(one)
    assert drawing is not None
    found = words(drawing.figure)
    for place in range(1, 13):
        assert found.count(f"{place}. model-{place - 1}") == 1
        assert found.count(str(place)) == 1
