"""The page where people vote in a real browser, served by the command itself."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.harness import ROOT, run
from tests.people.serving import given, served_file, votes_file, votes_item, voting
from tests.report.page.browser import WAIT, Complaints, scrolls_sideways, violations
from tests.report.page.browser import browser as browser
from tiebreak.candidates import load_candidates
from tiebreak.ranking_logs.votes_file import open_votes_file

pytestmark = pytest.mark.slow

STUDY = str(ROOT / "examples" / "study")
DESKTOP = ViewportSize(width=1280, height=900)
PHONE = ViewportSize(width=390, height=844)
KEYS = "abtxs"


@contextmanager
def window(browser: Browser, address: str, name: str, **options: object) -> Iterator[Page]:
    """A window of a rater in which nothing goes wrong, and nothing comes from elsewhere."""
    usual = {"viewport": DESKTOP, "reduced_motion": "reduce"}
    context = browser.new_context(**usual | options)  # type: ignore[arg-type]
    context.set_default_timeout(WAIT)
    page, found = context.new_page(), Complaints()
    found.watch(page)
    page.goto(address)
    page.get_by_label("Your name").fill(name)
    with page.expect_navigation():
        page.get_by_role("button", name="Begin").click()
    yield page
    context.close()
    site = address.partition("?")[0]
    assert [url for url in found.requests if not url.startswith(site)] == []
    assert found.errors == []


def press(page: Page, key: str) -> None:
    """Press a key and wait until the next page is there."""
    with page.expect_navigation():
        page.keyboard.press(key)


def test_two_raters_and_a_kill_in_the_middle(browser: Browser, tmp_path: Path) -> None:
    votes = tmp_path / "votes.db"
    arguments = (STUDY, "--out", str(votes), "--goal", "60", "--seed", "3")
    for n, kept in ((12, 0), (13, 24)):
        with (
            voting(*arguments, cwd=tmp_path) as (address, process),
            window(browser, address, "Ada") as ada,
            window(browser, address, "Béa 2") as bea,
        ):
            before = f"your votes: {kept // 2}; all votes: {kept}"
            expect(ada.locator("header")).to_contain_text(before)
            for number in range(n):
                press(ada, KEYS[number % 4])
                press(bea, KEYS[(number + 1) % 4])
                # What the next page follows is on the disk.
                with open_votes_file(votes) as file:
                    assert len(given(file.votes())) == kept + 2 * (number + 1)
            expect(bea.locator("header")).to_contain_text(f"{60 - kept - 2 * n} left until 60")
            second = run("tiebreak", "vote", *arguments, cwd=tmp_path, code=1)
            assert "in use by another page: vote there, or end it first" in second.stderr
            process.kill()
            process.wait()
    models = load_candidates(STUDY).models
    with open_votes_file(votes) as file:
        rows = given(file.votes())
        assert len(rows) == 50
        turns = [{vote.turn for vote in given(file.votes(name))} for name in ("Ada", "Béa 2")]
        assert len(turns[0] & turns[1]) == 5
        assert all(vote.first in models and vote.second in models for vote in rows)
        assert all(vote.seconds is not None and vote.seconds >= 0 for vote in rows)
        # What the keys said, in the order of the page's buttons.
        assert [vote.choice for vote in rows if vote.rater == "Ada"][:4] == [
            *("first", "second", "tie", "both_bad"),
        ]


def test_nobody_learns_which_model_it_is(browser: Browser, tmp_path: Path) -> None:
    models = load_candidates(STUDY).models
    with (
        voting(STUDY, cwd=tmp_path) as (address, _),
        window(browser, address, "Ada") as page,
    ):
        for key in "abtxs" * 2:
            text = page.content()
            assert [model for model in models if model in text] == []
            assert page.locator(".shown").nth(1).inner_text() != (
                page.locator(".shown").nth(2).inner_text()
            )
            press(page, key)


def test_undo_views_and_keys(browser: Browser, tmp_path: Path) -> None:
    with (
        voting(STUDY, cwd=tmp_path) as (address, _),
        window(browser, address, "Ada") as page,
    ):
        before = page.locator(".sides").inner_text()
        press(page, "m")
        expect(page.locator("mark").first).to_be_visible()
        press(page, "b")
        expect(page.locator("header")).to_contain_text("your votes: 1")
        # The view stays.
        expect(page.locator("[aria-current]")).to_contain_text("Mark differences")
        press(page, "u")
        expect(page.locator("header")).to_contain_text("your votes: 0")
        press(page, "f")
        assert page.locator(".sides").inner_text() == before
        page.get_by_role("button", name="Keys are on").click()
        page.keyboard.press("a")
        page.keyboard.press("u")
        page.get_by_role("button", name="Keys are off").click()
        press(page, "s")
        expect(page.locator("header")).to_contain_text("your votes: 0")
        # With the keyboard alone.
        page.get_by_role("button", name="A is better").focus()
        press(page, "Enter")
        expect(page.locator("header")).to_contain_text("your votes: 1")
    with open_votes_file(tmp_path / "votes.db") as file:
        rows = file.votes(undone=True)
        assert [(vote.choice, bool(vote.undone)) for vote in rows] == [
            *(("second", True), ("skip", False), ("first", False)),
        ]


def test_without_a_script_and_by_stars(browser: Browser, tmp_path: Path) -> None:
    with (
        voting(STUDY, "--stars", "--goal", "2", cwd=tmp_path) as (address, _),
        window(browser, address, "Ada", java_script_enabled=False) as page,
    ):
        expect(page.get_by_role("link", name="Mark differences")).to_have_count(0)
        page.get_by_role("button", name="3 stars").click()
        page.get_by_role("button", name="Skip").click()
        page.get_by_role("button", name="0 stars").click()
        expect(page.locator("header")).to_contain_text("the goal of 2 is reached")
    with open_votes_file(tmp_path / "votes.db") as file:
        assert [vote.choice for vote in file.votes()] == ["3", "skip", "0"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it(browser: Browser, tmp_path: Path, scheme: str) -> None:
    with (
        voting(STUDY, "--goal", "9", cwd=tmp_path) as (address, _),
        window(browser, address, "Ada", color_scheme=scheme) as page,
    ):
        for key in "fpm":
            press(page, key)
            for size in (PHONE, DESKTOP):
                page.set_viewport_size(size)
                assert violations(page) == []
                assert not scrolls_sideways(page)
        # The vote is in reach on a phone, and hides nothing that one can scroll to.
        page.set_viewport_size(PHONE)
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        bar = page.locator(".choices").bounding_box()
        answer = page.locator(".side").last.bounding_box()
        assert bar is not None
        assert answer is not None
        assert answer["y"] + answer["height"] <= bar["y"]
        assert bar["y"] + bar["height"] <= PHONE["height"] + 1
        page.get_by_role("link", name="Another name").click()
        assert violations(page) == []


HOSTILE = {
    "script": "<script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)>",
    "link": "[go](javascript:alert(1)) <javascript:alert(2)> [x](http://evil.example/x)",
    "image": "![x](http://evil.example/x.png) <img src='http://evil.example/y.png'>",
    "fence": "```js\nalert(1)\n</code></pre></div></section></main><script>alert(2)</script>",
    "formula": r"$\href{javascript:alert(1)}{x} \text{</math><script>alert(2)</script>} "
    r"\style{position:fixed}{y}$ \(" + "{" * 900,
    "long": "word " * 200_000,
    "wide": "x" * 5_000 + "\n\n" + "|a" * 200 + "\n" + "|-" * 200,
    "bidi": "\u202eevil\u2066\x1b[31m\0\ud800",
    "form": "</form><form action=http://evil.example/><button data-key=a>A is better</button>",
    "style": "<style>*{display:none}</style><base href=http://evil.example/><meta http-equiv="
    "refresh content='0;url=http://evil.example'>",
}


def test_hostile_answers_neither_act_nor_load(browser: Browser, tmp_path: Path) -> None:
    names = list(HOSTILE)
    items = [
        votes_item(number, {"m1": HOSTILE[name], "m2": f"{HOSTILE[name]} and more"})
        for number, name in enumerate(names)
    ]
    path = tmp_path / "votes.db"
    with votes_file(path, items) as file, served_file(file) as address:
        with window(browser, address, "Ada") as page:
            for _ in names:
                for key in "pmf":
                    press(page, key)
                    expect(page.get_by_role("button", name=re.compile("better"))).to_have_count(2)
                    expect(page.locator("form")).to_have_count(2)
                    assert not scrolls_sideways(page)
                assert page.locator(".shown :is(a, img, script, style, form, svg)").count() == 0
                press(page, "t")
            expect(page.get_by_role("heading", name="Nothing is left")).to_be_visible()
        assert len(given(file.votes())) == len(names)
