"""A themed SVG in a real browser: light and dark, in an image, under a strict policy."""

import base64
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.image import imread

from tests.report.figures.samples import HOSTILE
from tests.report.figures.test_drawing import drawing, sheet
from tests.report.page.browser import chromium
from tiebreak.report.figures.canvas import themed


@pytest.mark.slow
def test_a_browser_takes_the_colours_that_the_reader_prefers(tmp_path: Path) -> None:
    svg = themed(drawing(*HOSTILE).svg())
    source = base64.b64encode(svg.encode()).decode()
    (tmp_path / "page.html").write_text(
        '<!doctype html><meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; img-src data:\">"
        f'<img alt="" src="data:image/svg+xml;base64,{source}">'
    )
    light, dark = sheet(svg)
    with chromium() as browser:
        for scheme, colours in (("light", light), ("dark", dark)):
            page = browser.new_page(color_scheme=scheme)  # type: ignore[arg-type]
            page.goto((tmp_path / "page.html").as_uri())
            picture = imread(BytesIO(page.locator("img").screenshot()))
            seen = {tuple(colour) for colour in (picture[..., :3] * 255).round().reshape(-1, 3)}
            expected = [
                tuple(np.round(np.array(to_rgb(colours[k])) * 255))
                for k in ("paper", "blue", "ink")
            ]
            assert set(expected) <= seen
            assert tuple((picture[2, 2, :3] * 255).round()) == expected[0]
            page.close()
