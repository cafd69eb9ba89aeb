"""The page in a browser: it opens clean, sorts, filters, and reads on any screen."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.cases import cases, some
from tests.report.page.browser import (
    DESKTOP,
    PHONE,
    opened,
    scrolls_sideways,
    unwatched,
    violations,
)
from tests.report.page.sample_report import BORDA, report, written

ITEMS = ("#item-0-run-0-match-0", "#item-1-run-0-match-0", "#item-2", "#item-3")


def column(page: Page, table: str, number: int) -> list[str]:
    """The texts of a column, from top to bottom, of the rows that are shown."""
    cells = page.locator(f"#{table} tbody tr:not([hidden]) > :nth-child({number})")
    return cells.all_inner_texts()


@pytest.mark.slow
def test_it_shows_what_it_was_given_without_complaints(browser: Browser, plain: Path) -> None:
    with opened(browser, plain) as page:
        assert page.title() == "Which model writes best?"
        assert page.locator("main h2").all_inner_texts() == [
            "All boards",
            "Leaderboards",
            "Items",
            "Receipt",
            "Glossary",
        ]
        assert page.locator("nav li").all_inner_texts()[-3:] == ["Items", "Receipt", "Glossary"]
        assert column(page, "gsm8k-seal-table-1", 2)[:3] == ["opus", "sonnet", "haiku"]
        picture = page.locator("figure img")
        assert picture.get_attribute("alt") == "opus 0.75 "
        assert picture.evaluate("(image) => image.naturalWidth") == 640
        # Nothing that was not given stands there empty.
        assert page.locator("#mmlu-seal :is(ul, figure, .subtitle, .warning)").count() == 0


def test_a_report_without_items_or_verdicts(browser: Browser, tmp_path: Path) -> None:
    path = written(tmp_path, replace(report(), items=None, verdicts=(), overview=None))
    with opened(browser, path, "#item-0") as page:
        assert page.locator("main h2").all_inner_texts() == ["Leaderboards", "Receipt", "Glossary"]
        assert page.locator("dialog").count() == 0


@pytest.mark.slow
def test_a_matrix_of_many_models_is_folded_away(browser: Browser, plain: Path) -> None:
    with opened(browser, plain) as page:
        table = page.locator("#mmlu-seal-table-2")
        expect(table).to_be_hidden()
        page.locator("#mmlu-seal summary", has_text="Differences").click()
        expect(table).to_be_visible()
        assert table.locator("tbody tr").count() == 30
        assert not scrolls_sideways(page)
        assert violations(page) == []


def test_its_policy_stops_scripts_styles_and_pictures(browser: Browser, plain: Path) -> None:
    # All of this would work without the policy; the browser says for each that it was refused.
    attempts = """() => {
      const script = document.createElement("script");
      script.textContent = "window.hit = 1";
      const image = document.createElement("img");
      image.setAttribute("onerror", "window.hit = 2");
      image.src = "https://example.invalid/x.png";
      const box = document.createElement("p");
      box.setAttribute("style", "color: red");
      document.body.append(script, image, box);
      return getComputedStyle(box).color;
    }"""
    with unwatched(browser, plain) as (page, complaints):
        assert page.evaluate(attempts) != "rgb(255, 0, 0)"
        page.wait_for_timeout(200)
        assert page.evaluate("window.hit") is None
        said = " ".join(complaints.errors)
        assert "script-src" in said
        assert "style-src" in said
        assert "img-src" in said


BY_BORDA = sorted(
    [(name, b) for name, b in (*BORDA, *((f"model-{n}", n / 100) for n in range(8)))],
    key=lambda row: (row[1] is None, row[1]),
)


def test_numbers_sort_as_numbers_and_undefined_last(browser: Browser, plain: Path) -> None:
    upwards = [name for name, b in BY_BORDA if b is not None]
    with opened(browser, plain) as page:
        head = page.locator("#gsm8k-seal-table-1 th", has_text="Borda")
        assert head.get_attribute("aria-sort") is None
        head.get_by_role("button").click()
        assert head.get_attribute("aria-sort") == "ascending"
        assert column(page, "gsm8k-seal-table-1", 2) == [*upwards, "haiku"]
        head.get_by_role("button").click()
        assert head.get_attribute("aria-sort") == "descending"
        assert column(page, "gsm8k-seal-table-1", 2) == [*reversed(upwards), "haiku"]
        # "10" comes after "9".
        page.locator("#gsm8k-seal-table-1 th", has_text="#").get_by_role("button").click()
        assert column(page, "gsm8k-seal-table-1", 1) == [str(n) for n in range(1, 14)]
        assert page.locator("#gsm8k-seal-table-1 [aria-sort]").count() == 1
        # The other table with the same columns keeps its order.
        assert column(page, "mmlu-seal-table-1", 2)[:3] == ["opus", "sonnet", "haiku"]


def test_a_sum_stays_below_its_rule(browser: Browser, plain: Path) -> None:
    with opened(browser, plain) as page:
        head = page.locator("#receipt-seal-table-1 th", has_text="Total")
        for names in (["seed", "match", "all"], ["match", "seed", "all"]):
            head.get_by_role("button").click()
            assert column(page, "receipt-seal-table-1", 1) == names


def test_texts_sort_as_texts(browser: Browser, plain: Path) -> None:
    with opened(browser, plain) as page:
        page.locator("#gsm8k-seal-table-1 th", has_text="Model").get_by_role("button").press(
            "Enter"
        )
        assert column(page, "gsm8k-seal-table-1", 2) == sorted(name for name, _ in BY_BORDA)
        # Ids of items: 7 to 12 as numbers, then words by the numbers in them.
        page.locator("#items-table th", has_text="Item").get_by_role("button").click()
        ids = [str(n) for n in range(7, 13)] + [f"extra {n}" for n in range(12)]
        assert column(page, "items-table", 1) == ids


FILTERED = cases(__file__, "filtered")


def test_filters_by_words_and_by_the_values_of_a_column(browser: Browser, plain: Path) -> None:
    with opened(browser, plain) as page:
        bar = page.locator("#items .filters")
        result = bar.get_by_role("status")
        assert result.get_attribute("aria-live") == "polite"
        for words, choice, shown in FILTERED:
            bar.get_by_label("Filter").fill(words)
            for label in ("Benchmark", "First"):
                bar.get_by_label(label).select_option(label=choice.get(label, "all"))
            expect(result).to_have_text(f"{shown} of 18 items")
            assert len(column(page, "items-table", 1)) == shown
        # The leaderboard has a filter of its own.
        page.locator("#leaderboards").get_by_label("Filter").first.fill("model-7")
        assert column(page, "gsm8k-seal-table-1", 2) == ["model-7"]
        assert len(column(page, "mmlu-seal-table-1", 2)) == 13


def test_long_tables_are_shown_bit_by_bit(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, written(tmp_path, report(rows=2400))) as page:
        rows = page.locator("#items-table tbody tr")
        shown, more = rows.filter(visible=True), page.locator("#items .more")
        assert (rows.count(), shown.count()) == (2406, 1000)
        for text, n_shown in (("Show 1,000 more", 2000), ("Show 406 more", 2406)):
            expect(more).to_have_text(text)
            more.click()
            expect(shown).to_have_count(n_shown)
        expect(more).to_be_hidden()
        page.reload()
        # All rows are filtered (153 numbers hold 23), and all are put into order.
        page.locator("#items").get_by_label("Filter").fill("extra 23")
        expect(page.locator("#items output")).to_have_text("153 of 2,406 items")
        expect(shown).to_have_count(153)
        expect(more).to_be_hidden()
        page.locator("#items").get_by_label("Filter").fill("")
        sort = page.locator("#items-table th").first.get_by_role("button")
        for first in ("7", "extra 2399"):
            sort.click()
            expect(shown.first.locator("th")).to_have_text(first)
            expect(shown).to_have_count(1000)
        page.evaluate("location.hash = '#item-3'")
        expect(page.get_by_role("heading", name="The grades")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("link", name="10", exact=True)).to_be_focused()
        page.emulate_media(media="print")
        expect(shown).to_have_count(0)
        asked_for_all(page)
        expect(shown).to_have_count(2406)
        page.emulate_media(media="screen")


def test_without_javascript_all_but_the_details_is_there(browser: Browser, plain: Path) -> None:
    with opened(browser, plain, java_script_enabled=False) as page:
        assert "needs JavaScript" in page.locator("#items").inner_text()
        assert len(column(page, "items-table", 1)) == 18
        assert column(page, "gsm8k-seal-table-1", 2)[0] == "opus"
        expect(page.locator("figure img")).to_be_visible()
        assert page.locator("button").count() == 0
        expect(page.locator(".lines").first).to_have_text("Mean distance between two models: 0.071")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("address", "viewport", "scheme"),
    [
        ("", DESKTOP, "light"),
        ("", PHONE, "dark"),
        ("#item-0-run-0-match-0", DESKTOP, "dark"),
        ("#item-0-run-0-match-0", PHONE, "light"),
        ("#item-1-run-0-match-0", DESKTOP, "light"),
        ("#item-2", DESKTOP, "light"),
        ("#item-3", PHONE, "dark"),
    ],
)
def test_axe_finds_nothing(
    browser: Browser, plain: Path, address: str, viewport: dict[str, int], scheme: str
) -> None:
    with opened(browser, plain, address, viewport=viewport, color_scheme=scheme) as page:
        if address:
            page.locator(".panel").wait_for()
            for fold in page.locator("dialog summary").all():
                fold.click()
        assert violations(page) == []
        assert not scrolls_sideways(page)


@pytest.mark.slow
def test_axe_would_find_something(browser: Browser, plain: Path) -> None:
    with opened(browser, plain) as page:
        page.evaluate("document.querySelector('figure img').removeAttribute('alt')")
        assert any(found.startswith("image-alt") for found in violations(page))


def test_wide_parts_scroll_on_their_own(browser: Browser, hostile: Path) -> None:
    with opened(browser, hostile, viewport=PHONE) as page:
        assert not scrolls_sideways(page)
        region = page.locator("figure .scroller")
        assert region.get_attribute("tabindex") == "0"
        assert region.evaluate("(node) => node.scrollWidth > node.clientWidth")
        for address in ITEMS:
            page.goto(hostile.as_uri() + address)
            page.locator(".panel").wait_for()
            assert not scrolls_sideways(page)
            assert page.locator("dialog").evaluate("(node) => node.scrollWidth <= node.clientWidth")


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_it_follows_the_scheme(browser: Browser, plain: Path, scheme: Any, dark: bool) -> None:
    with opened(browser, plain, color_scheme=scheme) as page:
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        channels = [int(part) for part in paper.removeprefix("rgb(").removesuffix(")").split(",")]
        assert (max(channels) < 64) == dark
        assert (min(channels) > 192) != dark


def test_motion_is_only_for_those_who_like_it(browser: Browser, plain: Path) -> None:
    behaviour = "getComputedStyle(document.documentElement).scrollBehavior"
    with opened(browser, plain, reduced_motion="reduce") as page:
        assert page.evaluate(behaviour) == "auto"
    with opened(browser, plain, reduced_motion="no-preference") as page:
        assert page.evaluate(behaviour) == "smooth"


def asked_for_all(page: Page) -> None:
    """As where a reader asks for all of it on paper: until it is printed."""
    page.evaluate("window.print = () => {}")
    page.evaluate("document.querySelector('footer button').click()")


def test_on_paper_there_are_no_controls_and_all_rows(browser: Browser, plain: Path) -> None:
    with opened(browser, plain, color_scheme="dark") as page:
        button = page.get_by_role("button", name="Print all of it")
        expect(button).to_be_visible()
        page.emulate_media(media="print")
        expect(button).to_be_hidden()
        expect(page.locator("nav")).to_be_hidden()
        expect(page.locator("#items")).to_be_hidden()
        asked_for_all(page)
        expect(page.locator(".filters").first).to_be_hidden()
        region = page.locator("#items .scroller")
        expect(region).to_be_visible()
        assert region.evaluate("(node) => node.scrollHeight <= node.clientHeight + 1")
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == "rgb(255, 255, 255)"
        # An open item is printed alone, and whole.
        page.goto(plain.as_uri() + "#item-0-run-0-match-3")
        page.locator(".match-detail").wait_for()
        expect(page.locator("main")).to_be_hidden()
        expect(page.locator(".item-bar")).to_be_hidden()
        dialog = page.locator("dialog")
        assert dialog.evaluate("(node) => node.clientHeight >= node.scrollHeight")
        assert dialog.evaluate("(node) => node.clientHeight > innerHeight")


@pytest.mark.slow
def test_hostile_text_stays_text(browser: Browser, hostile: Path) -> None:
    with opened(browser, hostile) as page:
        page.wait_for_timeout(100)
        assert page.evaluate("window.hit") is None
        # One picture and one script are ours; markup in texts made none.
        assert page.locator("img").count() == 1
        assert page.locator("main :is(script, style)").count() == 0
        drawn = page.locator(".board svg").count()
        assert page.locator("main svg").count() == drawn > 0
        text = page.locator("body").inner_text()
        for word in ("<script>window.hit=1;alert(1)</script>", "onerror=", "{{7*7}}", "${7*7}"):
            assert word in text
        # Signs stand where an escape, a NUL, or a mark that turns the line around would be.
        for place in (
            "h1",
            ".verdicts .sentence",
            ".made",
            ".board .name",
            ".verdicts .legend",
            ".warned",
            ".warning bdi",
            "#gsm8k-seal-table-1 tbody th",
            "#items-table tbody th",
            "#gsm8k-seal-table-1 caption",
        ):
            said = some(page.locator(place).first.text_content())
            assert "‹U+001B›[31mred" in said
            assert "‹U+202E›" in said
        html = page.content()
        assert not any(mark in html for mark in "\x00\x07\x1b\u202e\u2066\u200b")
