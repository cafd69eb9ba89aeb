"""Takes the README's picture: the first screen of a report on `examples/study`, light and dark.

`make picture` runs it; it needs chromium on the path. The same code and data give the same page,
but how it is drawn depends on the browser's version and fonts. Therefore a picture holds the digest
of its page, and a test compares the digests, not the pictures.
"""

import hashlib
import io
import shutil
import tempfile
from pathlib import Path
from typing import Literal

from PIL import Image
from PIL.PngImagePlugin import PngInfo
from playwright.sync_api import sync_playwright

from tiebreak import Resampling, write_report

ROOT = Path(__file__).parent.parent
STUDY = ROOT / "examples" / "study"
IMAGES = ROOT / "docs" / "images"
WIDTH, HEIGHT = 900, 1400
COLOURS = 128
"""Colours of a picture: enough for letters and bars, at a third of the bytes."""
PAGE = "Page"
"""Key of the text in a PNG that is the `digest` of the page."""


def written(folder: Path) -> Path:
    """Write the report into a folder, and return the page to take a picture of."""
    write_report(STUDY, folder, how=Resampling())
    return folder / "index.html"


def digest(page: Path) -> str:
    """SHA-256 of the part of a page that the picture shows: styles, head and first section."""
    top, end, _ = page.read_text(encoding="utf-8").partition("</section>")
    assert end
    return hashlib.sha256(top.encode()).hexdigest()


def taken(page: Path, scheme: Literal["light", "dark"], program: str) -> Image.Image:
    """Take a picture of a page from its top to the end of the verdicts below the board."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        screen = browser.new_page(
            viewport={"width": WIDTH, "height": HEIGHT},
            color_scheme=scheme,
            device_scale_factor=1.5,
        )
        screen.goto(page.as_uri())
        board = screen.locator(".verdicts").bounding_box()
        assert board is not None
        below = board["y"] + board["height"]
        shot = screen.screenshot(clip={"x": 0, "y": 0, "width": WIDTH, "height": below})
        browser.close()
    return Image.open(io.BytesIO(shot)).convert("RGB")


def main() -> None:
    """Write both pictures."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        raise SystemExit("There is no chromium on this machine (Debian: apt-get install chromium).")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        page = written(Path(folder))
        texts = PngInfo()
        texts.add_text(PAGE, digest(page))
        schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
        for scheme in schemes:
            picture = taken(page, scheme, program).quantize(COLOURS)
            picture.save(IMAGES / f"report-{scheme}.png", optimize=True, pnginfo=texts)


if __name__ == "__main__":
    main()
