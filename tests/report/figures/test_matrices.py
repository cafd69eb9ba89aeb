"""Heat maps as drawn: what the cells say, what their colours say, and whether it can be read."""

import numpy as np
import pytest
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb

from tests.report.figures.reading import said
from tiebreak.analysis.win_rates import WinRates
from tiebreak.report.figures.matrices import win_rate_figure


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
