"""Heat maps as drawn: what the cells say, what their colours say, and whether it can be read."""

import numpy as np
import pytest
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb

from tests.report.figures.reading import row_names, said
from tests.report.figures.samples import NAN, opinions, review
from tiebreak.analysis.win_rates import WinRates
from tiebreak.rankers.profile import within_ballots
from tiebreak.report.figures.matrices import review_matrix_figure, win_rate_figure

RATES = WinRates(
    ("ada", "ben", "cleo"),
    np.array([[NAN, 0.875, NAN], [0.125, NAN, 1.0], [NAN, 0.0, NAN]]),
    np.array([[0, 1200, 0], [1200, 0, 4], [0, 4, 0]]),
    "matches",
)


def cells(axes: Axes) -> dict[tuple[int, int], str]:
    """What stands in each cell, by row and column."""
    return {
        (round(text.get_position()[1]), round(text.get_position()[0])): text.get_text()
        for text in axes.texts
    }


def colours(axes: Axes) -> dict[tuple[int, int], tuple[float, ...]]:
    [squares] = [one for one in axes.collections if isinstance(one, PolyCollection)]
    faces = np.asarray(squares.get_facecolor(), dtype=np.float64)
    middles = [np.mean(np.asarray(path.vertices)[:4], axis=0) for path in squares.get_paths()]
    return {
        (round(float(y)), round(float(x))): tuple(face.tolist())
        for (x, y), face in zip(middles, faces, strict=True)
    }


def luminance(colour: tuple[float, ...]) -> float:
    """Relative luminance by WCAG 2."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def test_win_rates_in_their_cells() -> None:
    drawing = win_rate_figure("gsm8k · full_pairwise", RATES)
    assert drawing is not None
    [axes] = drawing.figure.axes
    assert row_names(axes) == ["1. ada", "2. ben", "3. cleo"]
    assert [label.get_text() for label in axes.get_xticklabels()] == row_names(axes)
    assert cells(axes) == {
        (0, 1): "88%\n1,200",
        (0, 2): "–",
        (1, 0): "12%\n1,200",
        (1, 2): "100%\n4",
        (2, 0): "–",
        (2, 1): "0%\n4",
    }
    # Who never met has no colour, and neither has the diagonal.
    found = colours(axes)
    assert set(found) == {(0, 1), (1, 0), (1, 2), (2, 1)}
    light = sorted(found, key=lambda cell: luminance(found[cell]))
    assert light == [(2, 1), (1, 0), (0, 1), (1, 2)]
    assert "number of matches" in said(drawing)
    assert drawing.name == "win-rates-gsm8k-full-pairwise"
    assert drawing.alt == (
        "Win rates of 3 models against each other by matches, 4 to 1,200 behind each. The highest "
        "is that of ben against cleo, 100%."
    )


@pytest.mark.slow
def test_words_stand_out_on_every_shade() -> None:
    n = 20
    rate = np.linspace(0, 1, n * n).reshape(n, n)
    drawing = win_rate_figure(
        "x", WinRates(tuple("abcdefghijklmnopqrst"), rate, np.ones((n, n), int), "places")
    )
    assert drawing is not None
    [axes] = drawing.figure.axes
    paper = colours(axes)
    for text in axes.texts:
        x, y = text.get_position()
        one, other = luminance(to_rgb(text.get_color())), luminance(paper[round(y), round(x)])
        # WCAG 2 asks for 4.5.
        assert (max(one, other) + 0.05) / (min(one, other) + 0.05) >= 4.5


# Colours as readers without red (protanopia), without green (deuteranopia) see them, in linear RGB
# (G. Machado, M. Oliveira, L. Fernandes, "A Physiologically-based Model for Simulation of Color
# Vision Deficiency", severity 1).
SIGHT = {
    "usual": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
         [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
         [-0.011820, 0.042940, 0.968881]]
    ),
}  # fmt: skip


@pytest.mark.parametrize("sight", SIGHT)
def test_shades_are_even_to_every_reader(sight: str) -> None:
    shades = np.asarray(colormaps["cividis"](np.linspace(0, 1, 101)))[:, :3]
    linear = np.where(shades <= 0.04045, shades / 12.92, ((shades + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ SIGHT[sight].T, 0, 1)
    # Lightness L* by CIE 1976, of which 2.3 is a difference that is just seen.
    lightness = 116 * np.cbrt(seen @ [0.2126, 0.7152, 0.0722]) - 16
    steps = np.diff(lightness)
    assert steps.min() > 0
    assert steps.max() < 2.5 * np.median(steps)
    # A tenth of the scale is told apart anywhere on it.
    assert (lightness[10:] - lightness[:-10]).min() > 2.3


@pytest.mark.slow
def test_beyond_twenty_models_the_numbers_of_matches_are_in_the_remark() -> None:
    n = 21
    rates = WinRates(tuple(map(str, range(n))), np.full((n, n), 0.5), np.full((n, n), 7), "places")
    drawing = win_rate_figure("x", rates)
    assert drawing is not None
    assert set(cells(drawing.figure.axes[0]).values()) == {"50"}
    assert "items behind a cell: 7" in said(drawing)


def test_nobody_met() -> None:
    nobody = WinRates(("a", "b"), np.full((2, 2), NAN), np.zeros((2, 2), int), "matches")
    assert win_rate_figure("x", nobody) is None
    assert (
        win_rate_figure("x", WinRates((), np.empty((0, 0)), np.empty((0, 0), int), "places"))
        is None
    )


# Two items; reviewers a, b (candidates) and an outsider; b leaves a out of the second item.
BALLOTS = np.array(
    [
        [[1, 2, 3], [2, 1, 3], [1, 1, 3]],
        [[1, 3, 2], [NAN, 1, 2], [1, 2, 2]],
    ],
    dtype=np.float64,
)


def test_mean_ranks_in_their_cells() -> None:
    drawing = review_matrix_figure(review(BALLOTS, own=(0, 1, None)))
    assert drawing is not None
    [axes] = drawing.figure.axes
    # Places are those in the ranking: a before b before c; a ballot's ties share the mean rank.
    assert row_names(axes) == ["1. a", "2. b", "X2"]
    assert cells(axes) == {
        (0, 0): "1.0", (0, 1): "2.5", (0, 2): "2.5",
        (1, 0): "2.0", (1, 1): "1.0", (1, 2): "2.5",
        # a and b tied at 1.5, then a first: 1.25; b: 1.5 and 2.5; c: 3 and 2.5.
        (2, 0): "1.2", (2, 1): "2.0", (2, 2): "2.8",
    }  # fmt: skip
    assert "3. c reviews nobody" in said(drawing)
    # A frame, black and white, at a's and b's own cells.
    frames = sorted((round(p.get_y() + 0.45), round(p.get_x() + 0.45)) for p in axes.patches)  # type: ignore[attr-defined]
    assert frames == [(0, 0), (0, 0), (1, 1), (1, 1)]
    # a gives itself 1.0, the others 1.625; b gives itself 1.0, the others 2.25.
    assert drawing.alt == (
        "Mean rank that each of 3 reviewers gives each of 3 candidates on gsm8k. The best is 1.0, "
        "for a. 2 of 2 reviewers put the own answers higher than the others do on average; "
        "by chance half would."
    )


@pytest.mark.slow
def test_the_order_is_that_of_the_ranking() -> None:
    ranks = opinions(15, 5, 4, seed=2)[:, :, ::-1]
    own = [3, 2, 1, 0, None]
    one = review(ranks, own=tuple(own))
    drawing = review_matrix_figure(one)
    assert drawing is not None
    [axes] = drawing.figure.axes
    names = [row.model for row in one.ranking.rows]
    shown = cells(axes)
    mean = np.mean(within_ballots(ranks), axis=0)
    by_row = [k for name in names for k in range(5) if own[k] == "abcd".index(name)] + [4]
    for i, reviewer in enumerate(by_row):
        for j, name in enumerate(names):
            assert float(shown[i, j]) == pytest.approx(
                mean[reviewer, "abcd".index(name)], abs=0.051
            )
    light = colours(axes)
    flat = sorted(light, key=lambda cell: luminance(light[cell]), reverse=True)
    assert [mean[by_row[i], "abcd".index(names[j])] for i, j in flat] == sorted(mean.ravel())


def test_nobody_ranks_anybody() -> None:
    assert review_matrix_figure(review(np.full((2, 2, 3), NAN))) is None
