"""An item in the browser: its bracket, matches, votes and answers, by mouse, keyboard and link."""

import base64
import gzip
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.cases import cases, some
from tests.expected import check
from tests.ranking_logs.builders import item, match
from tests.report.page.browser import opened, shown_text
from tests.report.page.sample_report import HOSTILE, entry, items, played, report, scored, written
from tests.report.page.test_items import told

FIRST = "#item-0"
"""Item 7: a bracket of opus, sonnet, haiku, flash, mini (best seed first), and a listing."""


def fragment(page: Page) -> str:
    return urlsplit(page.url).fragment


def cells(table: Locator) -> list[list[str]]:
    """The texts of a table's rows, its head first, with single blanks."""
    table.wait_for()
    rows = table.locator("tr").all()
    texts = [row.locator("th, td").all_inner_texts() for row in rows]
    return [[" ".join(text.split()) for text in row] for row in texts]


def table(page: Page, caption: str) -> Locator:
    return page.locator("dialog table").filter(has=page.locator("caption", has_text=caption))


def test_a_click_opens_an_item_and_every_way_back_works(browser: Browser, plain: Path) -> None:
    with opened(browser, plain) as page:
        dialog, link = page.get_by_role("dialog"), page.get_by_role("link", name="9", exact=True)
        leave: list[Callable[[], object]] = [
            lambda: page.keyboard.press("Escape"),
            lambda: dialog.get_by_role("button", name="Close").click(),
            lambda: page.go_back(),
        ]
        for go in leave:
            link.click()
            expect(dialog).to_be_visible()
            expect(dialog.get_by_role("heading", level=2)).to_have_text("gsm8k · 9")
            expect(dialog.get_by_role("heading", level=2)).to_be_focused()
            assert fragment(page) == "item-2"
            go()
            expect(dialog).to_be_hidden()
            expect(link).to_be_focused()
            assert fragment(page) == ""
        page.go_forward()
        expect(dialog).to_be_visible()


def test_an_item_typed_into_the_address_is_left_again(browser: Browser, plain: Path) -> None:
    with opened(browser, plain) as page:
        page.get_by_role("link", name="9", exact=True).click()
        page.evaluate("location.hash = '#item-3'")
        dialog = page.get_by_role("dialog")
        expect(dialog.locator("h2")).to_have_text("mmlu · 10")
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()


def test_a_link_leads_to_an_item_and_on_to_the_report(browser: Browser, plain: Path) -> None:
    with opened(browser, plain, "#item-3") as page:
        dialog = page.get_by_role("dialog")
        expect(dialog).to_have_attribute("aria-labelledby", "item-title")
        expect(dialog.locator("h2")).to_have_text("mmlu · 10")
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        assert fragment(page) == "items"
        expect(page.get_by_role("link", name="10", exact=True)).to_be_focused()
        # Typed by hand: other items, and one that is not there.
        page.evaluate("location.hash = '#item-1'")
        expect(dialog.locator("h2")).to_have_text("gsm8k · 8")
        page.evaluate("location.hash = '#item-2'")
        expect(dialog.locator("h2")).to_have_text("gsm8k · 9")
        page.evaluate("location.hash = '#item-99'")
        expect(dialog).to_be_hidden()


def test_next_and_previous_follow_the_table(browser: Browser, plain: Path) -> None:
    with opened(browser, plain) as page:
        page.locator("#items").get_by_label("Benchmark").select_option(label="mmlu")
        sort = page.locator("#items-table th", has_text="Item").get_by_role("button")
        sort.click()
        sort.click()
        page.get_by_role("link", name="12", exact=True).click()
        dialog = page.get_by_role("dialog")
        title = dialog.locator("h2")
        onwards = dialog.get_by_role("button", name="Next item")
        back = dialog.get_by_role("button", name="Previous item")
        expect(back).to_be_disabled()
        for item_id in ("11", "10"):
            onwards.click()
            expect(title).to_have_text(f"mmlu · {item_id}")
        expect(onwards).to_be_disabled()
        back.click()
        expect(title).to_have_text("mmlu · 11")
        # However many were read, one step back leads to the report.
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        assert fragment(page) == ""
        expect(page.get_by_role("link", name="11", exact=True)).to_be_focused()


SHOWN = cases(__file__, "shown")


@pytest.mark.parametrize("name", SHOWN)
def test_what_an_item_shows(browser: Browser, plain: Path, name: str) -> None:
    """All words of it, unfolded but for the comparison of any two answers; see `played`."""
    with opened(browser, plain, SHOWN[name]) as page:
        page.locator(".panel").wait_for()
        expect(page.locator(".side")).to_have_count(2 if "match" in SHOWN[name] else 0)
        for fold in page.locator("dialog summary").filter(has_not_text="any two").all():
            fold.click()
        expect(page.locator("dialog details[open] > :nth-child(2):empty")).to_have_count(0)
        lines = page.get_by_role("dialog").inner_text().splitlines()
        text = "".join(f"{' '.join(line.split())}\n" for line in lines if line.strip())
        check(__file__, f"item_{name}.txt", text)


def test_a_match_is_chosen_in_the_bracket(browser: Browser, plain: Path) -> None:
    """Its votes are turned to its sides: `item_flipped.txt`.

    Mini was first in order 1, so "l" (left) is B there. Votes "tlll" at 0.5 and "ltlt" at 0.4 give
    margins of 0.4 · -0.5 = -0.2 and 0.6 · 0.4 = 0.24, and of the checklist -0.5 and 0.24.
    """
    with opened(browser, plain, FIRST) as page:
        page.get_by_role("button", name="flash seed 4").first.click()
        expect(page.locator(".match-detail h4")).to_be_focused()
        assert fragment(page) == "item-0-run-0-match-0"
        expect(page.locator('.match[aria-pressed="true"]')).to_have_count(1)


def test_names_that_objects_inherit_are_names(browser: Browser, tmp_path: Path) -> None:
    names = ("constructor", "toString", "__proto__")
    unseeded = played((*names, "d", "e")).model_copy(update={"seeds": ()})
    answers = {"toString": "An answer with an emoji: 🙂"}
    view = items([("gsm8k", "7", entry([(0, unseeded)], answers, "Task"))], [{"name": "seal"}])
    with opened(browser, written(tmp_path, replace(report(), items=view)), "#item-0") as page:
        _, *rows = cells(table(page, "Ranking of this item"))
        assert {row[0]: row[3] for row in rows} == {
            **{"constructor": "–", "toString": "26", "__proto__": "–", "d": "–", "e": "–"}
        }
        # Without seeds there is no bracket, but every match is there.
        expect(page.get_by_role("heading", name="The matches")).to_be_visible()
        expect(page.locator(".match")).to_have_count(4)


def test_runs_are_tabs(browser: Browser, plain: Path) -> None:
    with opened(browser, plain, FIRST) as page:
        tabs = page.get_by_role("tab")
        panel = page.get_by_role("tabpanel")
        expect(tabs).to_have_text(["seal", "listwise"])
        expect(panel).to_have_accessible_name("seal")
        tabs.first.focus()
        for key, chosen in (("ArrowRight", 1), ("ArrowRight", 0), ("ArrowLeft", 1), ("Home", 0)):
            page.keyboard.press(key)
            expect(tabs.nth(chosen)).to_be_focused()
            expect(tabs.nth(chosen)).to_have_attribute("aria-selected", "true")
            expect(tabs.nth(1 - chosen)).to_have_attribute("tabindex", "-1")
        page.keyboard.press("End")
        expect(panel).to_have_accessible_name("listwise")
        assert fragment(page) == "item-0-run-1"
        expect(panel.locator(".match")).to_have_count(0)
        expect(table(page, "The ranking call")).to_contain_text("opus")
        page.reload()
        expect(panel).to_have_accessible_name("listwise")


def answers_of(names: tuple[str, ...], hostile: str = "") -> list[str]:
    """What stands in the embedded store."""
    items = some(report(hostile).items)
    stored = told(items)[0]
    return [stored["texts"][stored["stories"][0]["answers"][name + hostile]] for name in names]


def is_blue(colour: str) -> bool:
    """Whether a colour, "rgb(1, 2, 3)", is blue rather than orange."""
    red, _, blue = map(int, re.findall("[0-9]+", colour))
    return blue > red


def test_two_answers_side_by_side_with_the_difference_marked(browser: Browser, plain: Path) -> None:
    with opened(browser, plain, "#item-0-run-0-match-3") as page:
        expect(page.locator(".side")).to_have_count(2)
        left, right = page.locator(".side").all()
        assert left.locator("del").all_inner_texts() == ["5", "30"]
        assert right.locator("ins").all_inner_texts() == ["6", "36"]
        # A mark has the look of its side's letter: what is only in A is blue and has a solid line.
        look = """(node, [line, colour]) =>
            [getComputedStyle(node)[line], getComputedStyle(node)[colour]]"""
        for mark, side in (("del", "side-a"), ("ins", "side-b")):
            first = page.locator(f".side {mark}").first
            style, paper = first.evaluate(look, ["textDecorationStyle", "backgroundColor"])
            letter = page.locator(f".side .{side}").first
            assert letter.evaluate(look, ["borderTopStyle", "color"])[0] == style
            ink = letter.evaluate(look, ["borderTopStyle", "color"])[1]
            assert is_blue(ink) == is_blue(paper) == (side == "side-a")
            assert first.evaluate(look, ["textDecorationLine", "color"])[0] == "underline"
        expect(page.locator(".compare .bar")).to_contain_text("in 2 places")
        answers = answers_of(("opus", "sonnet"))
        switch = page.get_by_role("switch", name="Mark differences")
        for marked in (True, False, True):
            expect(page.locator(".side :is(ins, del)")).to_have_count(4 if marked else 0)
            assert [shown_text(page, f".side:nth-child({n}) .answer") for n in (1, 2)] == answers
            switch.press("Space")


def test_any_two_answers_can_be_compared(browser: Browser, plain: Path) -> None:
    with opened(browser, plain, "#item-3") as page:
        page.get_by_text("Compare any two answers").click()
        expect(page.locator(".side")).to_have_count(2)
        page.get_by_label("Answer B").select_option(label="haiku")
        assert shown_text(page, ".side:nth-child(2) .answer") == answers_of(("haiku",))[0]
        page.get_by_label("Answer A").select_option(label="haiku")
        expect(page.get_by_text("They are the same, letter for letter.")).to_be_visible()


@pytest.mark.slow
def test_the_keyboard_alone_leads_everywhere(browser: Browser, plain: Path) -> None:
    with opened(browser, plain) as page:

        def tab_to(selector: str, most: int = 80) -> None:
            for _ in range(most):
                page.keyboard.press("Tab")
                if page.evaluate("(s) => document.activeElement.matches(s)", selector):
                    return
            raise AssertionError(f"Tab does not come to {selector}")

        tab_to(".skip", most=1)
        expect(page.locator(".skip")).to_be_in_viewport()
        page.keyboard.press("Enter")
        expect(page.locator("main")).to_be_focused()
        tab_to("#gsm8k-seal-table-1 th button")
        tab_to('#items-table a[href="#item-0"]')
        page.keyboard.press("Enter")
        expect(page.locator("dialog h2")).to_be_focused()
        tab_to('[role="tab"]')
        tab_to(".match")
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        assert page.evaluate(outline) == "solid"
        page.keyboard.press("Enter")
        expect(page.locator(".match-detail h4")).to_be_focused()
        tab_to('[role="switch"]')
        page.keyboard.press("Space")
        expect(page.locator(".side :is(ins, del)")).to_have_count(0)
        # What lies under the dialog cannot be reached from it.
        for _ in range(40):
            page.keyboard.press("Tab")
            outside = "!document.activeElement.closest('dialog, body:not(:has(:focus))')"
            assert not page.evaluate(outside)
        page.keyboard.press("Escape")
        expect(page.locator('#items-table a[href="#item-0"]').first).to_be_focused()


def only_text(page: Page) -> None:
    """All of an item with hostile texts is unfolded, and nothing of it is more than text."""
    page.locator(".match-detail h4").wait_for()
    for fold in page.locator("dialog summary").all():
        fold.click()
    page.wait_for_timeout(100)
    assert page.evaluate("window.hit") is None
    assert page.locator("dialog :is(script, style, img, svg, iframe)").count() == 0
    # The way to the sample in Inspect View is ours.
    assert page.locator("dialog a").count() == 1
    assert shown_text(page, ".task .answer") == f"Apples?{HOSTILE}"
    assert shown_text(page, ".reasoning") == HOSTILE


def test_hostile_text_in_an_item_stays_text(browser: Browser, hostile: Path) -> None:
    with opened(browser, hostile, "#item-0-run-0-match-3") as page:
        only_text(page)
        assert shown_text(page, "dialog h2") == f"gsm8k{HOSTILE} · 7{HOSTILE}"
        answers = answers_of(("opus", "sonnet"), HOSTILE)
        assert [shown_text(page, f".side:nth-child({n}) .answer") for n in (1, 2)] == answers
        text = page.locator("dialog").inner_text()
        assert {"U+001B", "U+0007 U+0000", "U+202E", "U+200B", "U+E0041"} <= {
            sign.inner_text() for sign in page.locator("dialog .sign").all()[:40]
        }
        assert not re.search("[\x00-\x08\x1b\u200b\u202a-\u202e\u2066-\u2069]", text)
        # Labels of choices, too, though no element can stand in them.
        page.get_by_label("Answer A").select_option(index=1)
        assert "‹U+202E›" in page.get_by_label("Answer A").locator("option").first.inner_text()
        assert "⁨" not in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "told"), cases(__file__, "a damaged store is told and the rest works")
)
def test_a_damaged_store_is_told_and_the_rest_works(
    browser: Browser, plain: Path, tmp_path: Path, damage: str, told: str
) -> None:
    html = plain.read_text(encoding="utf-8")
    chunk = re.search(r'<script type="text/plain" class="tiebreak-chunk" id="chunk-0">(.*?)<', html)
    assert chunk
    empty = base64.b64encode(gzip.compress(b"{}")).decode()
    damaged = {
        "missing": html.replace('id="chunk-0"', 'id="chunk-x"'),
        "no gzip": html.replace(chunk[1], "AAAA"),
        "no item": html.replace(chunk[1], empty),
    }[damage]
    path = tmp_path / "index.html"
    path.write_text(damaged, encoding="utf-8")
    with opened(browser, path, FIRST) as page:
        expect(page.get_by_role("alert")).to_contain_text(told)
        page.evaluate("location.hash = '#item-3'")
        expect(page.get_by_role("heading", name="The grades")).to_be_visible()


def test_rounds_of_a_round_robin_and_the_judges_of_a_jury(browser: Browser, tmp_path: Path) -> None:
    met = [("a", "b", 1), ("c", "d", 1), ("a", "c", 2)]
    played = [match(high, low, 0.5, round=number) for high, low, number in met]
    ballots = item("7", played, groups=[[m] for m in "abcd"], protocol="round_robin").model_copy(
        update={"placed_by": "points", "seeds": (), "tiering": None}
    )
    points = scored(("a", "b", "c"))
    story = entry([(0, ballots), (0, points)], {}, "Task")
    robin, graded = (one["ballots"] for one in story["stories"])
    judges = [
        verdict | {"judge": f"x/{n}"}
        for n, verdict in enumerate(robin["matches"][2]["verdicts"] * 2)
    ]
    robin["matches"][2]["verdicts"] = judges
    part = {"candidate": "a", "grades": {"P1": 7}, "score": 0.7}
    graded["scores"][0] |= {
        "parts": [part | {"judge": "x/1"}, part | {"judge": "x/2", "score": 1.0}]
    }
    view = items([("gsm8k", "7", story)], [{"name": "round_robin", "protocol": "round_robin"}])
    path = written(tmp_path, replace(report(), items=view))
    with opened(browser, path, "#item-0-run-0-match-2") as page:
        columns = page.locator(".round")
        expect(columns.locator("h4")).to_have_text(["Round 1", "Round 2"])
        assert [one.locator(".match").count() for one in columns.all()] == [2, 1]
        expect(page.locator(".match-detail h4").first).to_have_text("Round 2: A a – B c")
        assert cells(table(page, "Votes"))[0] == [
            *("Criterion", "x/0: A shown first", "x/1: A shown first"),
        ]
        page.get_by_role("tab").nth(1).click()
        rows = cells(table(page, "Points (0 to 1)"))
        assert [row[:2] for row in rows[1:4]] == [
            ["a", "0.9"],
            ["a by x/1", "0.7"],
            ["a by x/2", "1"],
        ]
