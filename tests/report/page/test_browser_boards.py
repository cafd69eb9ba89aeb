"""The top of the page and its boards in a browser: the answer first, the rest on demand."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.ranking_logs.builders import all_pairs, by_native, graded, listed
from tests.report.page.browser import DESKTOP, opened, violations
from tests.report.page.logs import Folder
from tiebreak.rankers import Resampling
from tiebreak.report.page.build import render
from tiebreak.report.page.contents import contents_of
from tiebreak.report.page.items import Shelf
from tiebreak.report.page.sections import page_of
from tiebreak.report.page.view import Gallery


@pytest.mark.slow
def test_the_answer_is_on_the_first_screen_of_a_phone(browser: Browser, alone: Path) -> None:
    with opened(browser, alone, viewport={"width": 390, "height": 844}) as page:
        said = page.locator(".verdicts")
        expect(said.locator(".sentence")).to_have_text("opus is first.")
        assert said.locator(".tiers li").all_inner_texts() == ["opus, sonnet", "sonnet, haiku"]
        assert said.locator(".trust").inner_text().split() == ["judge:", "fine"]
        for place in (".sentence", ".tiers", ".trust", ".warning"):
            box = said.locator(place).bounding_box()
            assert box is not None
            assert box["y"] + box["height"] < 844 / 2
        # Verdict and warning stand there, and nowhere else.
        assert page.get_by_text("opus is first.").count() == 1
        assert page.get_by_text("3 of 12 verdicts are unscored").count() == 1
        assert page.locator(".warned").count() == 0


@pytest.mark.slow
def test_several_boards_are_one_table_and_each_in_detail_on_demand(
    browser: Browser, several: Path
) -> None:
    with opened(browser, several) as page:
        table = page.locator("#overview-table")
        assert [one.split() for one in table.locator(".trust").all_inner_texts()] == [
            ["judge:", state] for state in ("fine", "unknown", "doubtful")
        ]
        assert table.locator("tbody").last.locator("tr").count() == 2
        # Sorting leaves the links to the boards where they are.
        table.locator("th", has_text="board 1").get_by_role("button").click()
        assert table.locator("tbody").first.locator("tr").count() == 1
        box = table.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < DESKTOP["height"]
        # Each verdict once, beside its board, with its warnings; they are not folded.
        assert page.get_by_text("opus is first.").count() == 3
        expect(page.get_by_text("3 of 12 verdicts are unscored")).to_have_count(1)
        expect(page.get_by_text("3 of 12 verdicts are unscored")).to_be_visible()
        expect(page.locator(".warned a")).to_have_attribute("href", "#gsm8k-seal")
        board = page.locator("#mmlu-seal-table-1")
        expect(board).to_be_hidden()
        table.get_by_role("link", name="board 2 in detail").click()
        expect(board).to_be_visible()
        expect(page.get_by_text("No two models can be told apart.")).to_be_in_viewport()
        expect(page.locator("#gsm8k-seal-table-1")).to_be_hidden()
        assert violations(page) == []
        # The same link again, after it was folded by hand.
        page.locator("#mmlu-seal > details > summary").click()
        expect(board).to_be_hidden()
        page.locator("nav a", has_text="mmlu").click()
        expect(board).to_be_visible()


@pytest.mark.slow
def test_what_is_folded_is_printed_and_found_and_opens_without_javascript(
    browser: Browser, several: Path
) -> None:
    with opened(browser, several, java_script_enabled=False) as page:
        table = page.locator("#mmlu-seal-table-1")
        expect(table).to_be_hidden()
        page.emulate_media(media="print")
        expect(table).to_be_visible()
        assert table.locator("tbody tr").last.inner_text().startswith("13")
        page.emulate_media(media="screen")
        expect(table).to_be_hidden()
        # Browsers unfold what an address or a search leads into.
        page.get_by_role("link", name="board 2 in detail").click()
        expect(table).to_be_visible()
    with opened(browser, several, "#again") as page:
        expect(page.locator("#again-table-1")).to_be_visible()
        expect(page.locator("#mmlu-seal-table-1")).to_be_hidden()
        opened_at_once = page.locator("main details[open]").count()
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("main details:not([open])").count() == 0
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.locator("main details[open]").count() == opened_at_once


@pytest.mark.slow
def test_words_lead_to_their_meaning_and_back(browser: Browser, alone: Path) -> None:
    with opened(browser, alone) as page:
        meaning = page.locator("#term-tier + dd")
        expect(meaning).to_be_hidden()
        page.locator(".tiers .term").click()
        expect(meaning).to_be_in_viewport()
        page.go_back()
        expect(page.locator(".tiers")).to_be_in_viewport()
        # Headings sort; what they mean is said below the table.
        page.locator("#gsm8k-seal .meanings .term", has_text="Borda").click()
        expect(page.locator("#term-borda + dd")).to_be_in_viewport()
        assert violations(page) == []


@pytest.mark.slow
def test_a_page_of_many_boards_is_short_until_it_is_unfolded(
    browser: Browser, tmp_path: Path
) -> None:
    folder, models = (
        Folder(tmp_path),
        [f"meta-llama/llama-4-{n}-17b-128e-instruct" for n in "abcde"],
    )
    orders = [[models[k] for k in order] for order in [(0, 1, 2, 3, 4), (1, 0, 2, 4, 3)] * 6]
    points, native = (0.9, 0.7, 0.5, 0.3, 0.1), dict.fromkeys(models, 1.0) | {models[4]: 0.0}
    items = [(f"q{n}", order) for n, order in enumerate(orders)]
    grades = [dict(zip(order, points, strict=True)) for order in orders]
    folder.add([all_pairs(name, order, native=native) for name, order in items])
    folder.add(
        [listed(name, [[m] for m in order], groups=[[m] for m in order]) for name, order in items]
    )
    folder.add([graded(name, given) for (name, _), given in zip(items, grades, strict=True)])
    folder.add([by_native(name, native) for name, _ in items])
    path = tmp_path / "index.html"
    contents = contents_of([tmp_path], how=Resampling(draws=100))
    made = page_of(contents, Gallery(), Shelf(), version="1")
    path.write_text(render(made), encoding="utf-8")
    height = "document.documentElement.scrollHeight"
    with opened(browser, path, viewport={"width": 1400, "height": 900}) as shown:
        assert shown.evaluate(height) < 6_000
        shown.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert shown.evaluate(height) > 10_000
        # Nothing is wider than its own place, unfolded as well.
        regions = "[...document.querySelectorAll('.scroller')]"
        assert shown.evaluate(f"{regions}.every((one) => one.scrollWidth <= one.clientWidth + 1)")
