"""A report whose items lie beside it, opened from a disk: as one file, but for what is missing."""

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.report.page.browser import opened, unwatched, violations
from tests.report.page.sample_report import HOSTILE, report
from tests.report.page.test_browser_items import only_text
from tiebreak.report.page.build import render
from tiebreak.report.page.items import ChunkWriter


def written(folder: Path, hostile: str = "") -> Path:
    """The sample report; each of its items is in a file of its own, or nearly."""
    shelf = ChunkWriter(folder, most=0)
    path = folder / "index.html"
    page = render(report(hostile, shelf=shelf))
    path.write_text(page, encoding="utf-8", errors="replace")
    assert len(shelf.files) > 2
    assert "tiebreak-chunk" not in re.sub("<script>.*?</script>", "", page, flags=re.DOTALL)
    return path


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("beside"))


def n_scripts(page: Page) -> int:
    return page.locator("script[src]").count()


def test_items_open_by_link_by_click_and_by_the_next_button(browser: Browser, beside: Path) -> None:
    with opened(browser, beside, "#item-3") as page:
        title = page.locator("dialog h2")
        expect(title).to_have_text("mmlu · 10")
        expect(page.get_by_role("heading", name="The grades")).to_be_visible()
        page.get_by_role("button", name="Previous item").click()
        expect(title).to_have_text("gsm8k · 9")
        expect(page.get_by_role("heading", name="The answers")).to_be_visible()
        page.keyboard.press("Escape")
        page.get_by_label("Filter").last.fill("gsm8k 8")
        page.get_by_role("link", name="8", exact=True).click()
        expect(page.locator(".match").first).to_be_visible()
        page.go_back()
        expect(page.locator("dialog")).to_be_hidden()
        expect(page.locator("#items .lead")).to_contain_text("items/ (")
        expect(page.locator("#items > .warning")).to_have_count(0)
        assert n_scripts(page) == 0


def test_hostile_text_beside_the_page_stays_text(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, written(tmp_path, HOSTILE), "#item-0-run-0-match-3") as page:
        only_text(page)


def test_only_its_own_script_may_load_others(browser: Browser, beside: Path) -> None:
    (beside.parent / "other.js").write_text("window.hit = 1")
    markup = (
        '<body><script src="other.js"></script><script>window.hit = 2</script>'
        '<svg onload="window.hit = 3"></svg><iframe src="other.js"></iframe>'
    )
    page_with = beside.with_name("with.html")
    text = beside.read_text(encoding="utf-8")
    page_with.write_text(text.replace("<body>", markup), encoding="utf-8")
    with unwatched(browser, page_with, "#item-0") as (page, complaints):
        expect(page.get_by_role("heading", name="The answers")).to_be_visible()
        assert page.evaluate("window.hit") is None
        said = " ".join(complaints.errors)
        assert "script-src" in said
        assert "default-src" in said


def test_a_page_sent_alone_says_what_lacks(browser: Browser, beside: Path, tmp_path: Path) -> None:
    alone = Path(shutil.copy(beside, tmp_path / "sent.html"))
    with unwatched(browser, alone) as (page, complaints):
        said = page.locator("#items > .warning")
        expect(said).to_contain_text("Missing Items can be listed, but not opened: the file items/")
        expect(said).to_contain_text("is not beside this page, where it belongs")
        assert violations(page) == []
        page.get_by_role("link", name="9", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("is not beside this page")
        assert all("ERR_FILE_NOT_FOUND" in one for one in complaints.errors)
        # It is enough to put the folder there.
        shutil.copytree(beside.parent / "items", tmp_path / "items")
        page.get_by_role("button", name="Next item").click()
        expect(page.get_by_role("heading", name="The grades")).to_be_visible()


@pytest.mark.parametrize("content", ['tiebreak.part(0,"H4sIAA', "", "tiebreak.part(7,'x')"])
def test_damage_is_told(browser: Browser, beside: Path, tmp_path: Path, content: str) -> None:
    folder = Path(shutil.copytree(beside.parent, tmp_path / "copy"))
    [first] = (folder / "items").glob("0000-*.js")
    first.write_text(content)
    with unwatched(browser, folder / "index.html", "#item-0") as (page, _):
        expect(page.get_by_role("alert")).to_contain_text(f"the file items/{first.name} is damaged")
        page.evaluate("location.hash = '#item-3'")
        expect(page.get_by_role("heading", name="The grades")).to_be_visible()
