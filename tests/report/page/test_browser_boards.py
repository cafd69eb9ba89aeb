"""The top of the page and its boards in a browser: the answer first, the rest on demand."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, PdfMargins, expect

from tests.cases import some
from tests.ranking_logs.builders import all_pairs, by_native, graded, listed
from tests.ranking_logs.planted_votes import items_of, votes_of, write_votes
from tests.report.page.browser import DESKTOP, opened, scrolls_sideways, violations
from tests.report.page.logs import Folder, page_in, page_of
from tests.report.page.sample_report import written
from tiebreak.rankers import Resampling
from tiebreak.report.page.build import write_report
from tiebreak.report.page.contents import contents_of

STUDY = Path(__file__).parents[3] / "examples/study"


@pytest.mark.slow
def test_the_answer_is_on_the_first_screen_of_a_phone(browser: Browser, alone: Path) -> None:
    with opened(browser, alone, viewport={"width": 390, "height": 844}) as page:
        said = page.locator(".verdicts")
        expect(said.locator(".sentence")).to_have_text("opus is first.")
        assert said.locator(".judge").inner_text() == "judge: fine no bias found"
        assert page.locator(".made").inner_text() == "6 items · judged by x/judge · 2026-01-01"
        places = {".sentence": 1 / 2, ".judge": 1 / 2, ".warning": 1 / 2, ".board + .legend": 2 / 3}
        for place, share in places.items():
            box = some(said.locator(place).bounding_box())
            assert box["y"] + box["height"] < 844 * share
        # Verdict and warning stand there, and nowhere else.
        assert page.get_by_text("opus is first.").count() == 1
        assert page.get_by_text("3 of 12 verdicts are unscored").count() == 1
        assert page.locator(".warned").count() == 0


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1400])
def test_an_opened_row_has_its_numbers(browser: Browser, alone: Path, width: int) -> None:
    with opened(browser, alone, viewport={"width": width, "height": 844}) as page:
        rows = page.locator(".verdicts .board li")
        assert rows.count() == 3
        numbers = rows.first.get_by_text("Borda 0.750 · Ranks 1–2")
        expect(numbers).to_be_hidden()
        rows.first.locator("summary").press("Enter")
        expect(numbers).to_be_visible()
        assert rows.first.locator("summary").get_attribute("title") == numbers.inner_text()
        # Every mark stands where the numbers say, on one axis for all rows.
        axis = some(page.locator(".board .row > svg").bounding_box())
        for row, share in enumerate((0.75, 0.5, 0.125)):
            dot = some(rows.nth(row).locator("circle").bounding_box())
            middle = dot["x"] + dot["width"] / 2
            assert abs(middle - axis["x"] - share * axis["width"]) < 1
        assert rows.locator(".range").count() == rows.locator(".native").count() == 2
        # Words do not cover each other, and nothing reaches beyond the screen.
        overlaps = """(row) => {
          const boxes = [...row.querySelectorAll(".name, .score, .ranks")]
            .map((node) => node.getBoundingClientRect()).filter((box) => box.width);
          return boxes.some((one, at) => boxes.slice(at + 1).some((other) =>
            one.left < other.right && other.left < one.right &&
            one.top < other.bottom && other.top < one.bottom));
        }"""
        for row in range(3):
            assert not rows.nth(row).evaluate(overlaps)
        assert not scrolls_sideways(page)
        # The table is one click away.
        table = page.locator("#gsm8k-seal-table-1")
        expect(table).to_be_hidden()
        page.get_by_role("link", name="As a table").click()
        expect(table).to_be_in_viewport()
        assert violations(page) == []


@pytest.mark.slow
def test_several_boards_on_one_axis_and_details_on_demand(browser: Browser, several: Path) -> None:
    with opened(browser, several) as page:
        # A drawing for each, all on one axis and with the models in one order.
        boards = page.locator(".boards > section")
        assert boards.count() == 4
        last = some(boards.last.bounding_box())
        assert last["y"] + last["height"] < DESKTOP["height"]
        assert boards.locator(".board").all_inner_texts() == (
            [boards.locator(".board").first.inner_text()] * 4
        )
        assert [one.split() for one in boards.locator(".trust").all_inner_texts()] == [
            ["judge:", state] for state in ("fine", "unknown", "doubtful")
        ]
        # Each verdict once, beside its board, with its warnings; they are not folded.
        assert page.get_by_text("opus is first.").count() == 3
        expect(page.get_by_text("3 of 12 verdicts are unscored")).to_have_count(1)
        expect(page.get_by_text("3 of 12 verdicts are unscored")).to_be_visible()
        expect(page.locator(".warned a")).to_have_attribute("href", "#gsm8k-seal")
        board = page.locator("#mmlu-seal-table-1")
        expect(board).to_be_hidden()
        boards.get_by_role("link", name="board 2").click()
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
def test_what_is_folded_is_printed_and_opens_unscripted(browser: Browser, several: Path) -> None:
    with opened(browser, several, java_script_enabled=False) as page:
        table = page.locator("#mmlu-seal-table-1")
        expect(table).to_be_hidden()
        page.emulate_media(media="print")
        expect(table).to_be_visible()
        assert table.locator("tbody tr").last.inner_text().startswith("13")
        page.emulate_media(media="screen")
        expect(table).to_be_hidden()
        # Browsers unfold what an address or a search leads into.
        page.locator(".boards").get_by_role("link", name="board 2").click()
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
def test_the_first_printed_page_is_the_answer(browser: Browser, alone: Path) -> None:
    # What is printable of A4, in CSS pixels.
    with opened(browser, alone, viewport={"width": 680, "height": 1010}) as page:
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        box = some(page.locator(".verdicts").bounding_box())
        assert box["y"] + box["height"] < 1010
        said = page.locator(".verdicts")
        assert said.evaluate("(node) => getComputedStyle(node).breakAfter") == "page"
        assert said.locator(".board details > p").filter(visible=True).count() == 0
        # No table is cut at the edge of the paper but a matrix of thirty models.
        wide = "(nodes) => nodes.filter((node) => node.scrollWidth > innerWidth).length"
        assert page.locator("main table").evaluate_all(wide) == 0


@pytest.mark.slow
@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_the_study_takes_two_printed_pages(browser: Browser, tmp_path: Path, paper: str) -> None:
    page = page_of(contents_of([STUDY]))
    with opened(browser, written(tmp_path, page)) as shown:
        margins = PdfMargins(top="1cm", right="1cm", bottom="1cm", left="1cm")
        printed = shown.pdf(format=paper, margin=margins)
        assert violations(shown) == []
    # Of the page tree; kids of others are in it, too.
    assert max(map(int, re.findall(rb"/Count (\d+)", printed))) == 2


@pytest.mark.slow
def test_words_lead_to_their_meaning_and_back(browser: Browser, alone: Path) -> None:
    with opened(browser, alone) as page:
        meaning = page.locator("#term-trust + dd")
        expect(meaning).to_be_hidden()
        page.locator(".judge .trust").click()
        expect(meaning).to_be_in_viewport()
        page.go_back()
        expect(page.locator(".judge")).to_be_in_viewport()
        page.get_by_role("link", name="As a table").click()
        # Headings sort; what they mean is said below the table.
        page.locator("#gsm8k-seal .meanings .term", has_text="Borda").click()
        expect(page.locator("#term-borda + dd")).to_be_in_viewport()
        assert violations(page) == []


@pytest.mark.slow
def test_a_page_of_many_boards_is_short_until_unfolded(browser: Browser, tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    models = [f"meta-llama/llama-4-{n}-17b-128e-instruct" for n in "abcde"]
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
    path = written(tmp_path, page_in(tmp_path))
    height = "document.documentElement.scrollHeight"
    with opened(browser, path, viewport={"width": 1400, "height": 900}) as shown:
        assert shown.evaluate(height) < 6_000
        shown.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert shown.evaluate(height) > 10_000
        # Nothing is wider than its own place, unfolded as well.
        regions = "[...document.querySelectorAll('.scroller')]"
        assert shown.evaluate(f"{regions}.every((one) => one.scrollWidth <= one.clientWidth + 1)")


@pytest.mark.slow
def test_votes_are_a_report(browser: Browser, tmp_path: Path) -> None:
    items = items_of(12)
    path = write_votes(tmp_path / "votes.db", items, list(votes_of(items, ("ann", "ben"))))
    page_file, *_ = write_report(path, tmp_path / "report", how=Resampling(draws=100))
    with opened(browser, page_file, "#item-gsm8k-q0") as page:
        text = page.locator("main").inner_text()
        for words in ("raters: ann, ben", "Krippendorff", "No model was asked: people voted"):
            assert words in text
        item = page.get_by_role("dialog")
        expect(item).to_contain_text("What is 0?")
        item.get_by_role("button", name="birch").click()
        for words in ("people's votes", "ann", "ash says 0"):
            expect(item).to_contain_text(words)
