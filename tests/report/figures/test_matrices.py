"""Heat maps as drawn: what the cells say, what their colours say, and whether it can be read."""

import numpy as np
import pytest
from matplotlib import colormaps

from tests.cases import some
from tests.report.figures.reading import cells, contrast, luminance, said
from tiebreak.analysis.win_rates import WinRates
from tiebreak.report.figures.matrices import win_rate_figure


@pytest.mark.slow
def test_words_stand_out_on_every_shade() -> None:
    n = 20
    rate = np.linspace(0, 1, n * n).reshape(n, n)
    rates = WinRates(tuple("abcdefghijklmnopqrst"), rate, np.ones((n, n), int), "places")
    drawing = some(win_rate_figure("x", rates))
    [axes] = drawing.figure.axes
    paper = {(round(x), round(y)): luminance(colour) for (x, y), colour in cells(axes)}
    for text in axes.texts:
        x, y = text.get_position()
        assert contrast(luminance(text.get_color()), paper[round(x), round(y)]) >= 4.5


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
    drawing = some(win_rate_figure("x", rates))
    assert {text.get_text() for text in drawing.figure.axes[0].texts} == {"50"}
    assert "items behind a cell: 7" in said(drawing)
