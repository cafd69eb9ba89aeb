"""A report opened in a real headless Chromium, which may not use the network."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Dialog,
    Error,
    Page,
    Request,
    expect,
    sync_playwright,
)

PROGRAMS = ("chromium-headless-shell", "chromium", "google-chrome")
"""The first there is; the shell draws no window of its own, which takes half of the time."""
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WAIT = 120_000
"""Milliseconds until something that does not appear is a failure."""
expect.set_options(timeout=WAIT)

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 360, "height": 740}

_USUAL: WeakKeyDictionary[Browser, Page] = WeakKeyDictionary()


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless Chromium; the calling test is skipped where there is none, and fails in CI."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        reason = "no chromium on this machine (Debian: apt-get install chromium-headless-shell)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    # Not for the whole session: while it runs, nothing else in this thread can use asyncio.
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """For the tests of a module; they are skipped where there is none, and fail in CI."""
    with chromium() as found:
        yield found


@dataclass
class Complaints:
    """What the browser had to complain about, and what it wanted from elsewhere."""

    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def on_console(self, message: ConsoleMessage) -> None:
        """Errors and warnings; a violated policy is among them."""
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def on_error(self, error: Error) -> None:
        """An exception that nothing caught."""
        self.errors.append(str(error))

    def on_dialog(self, dialog: Dialog) -> None:
        """Somebody called `alert`; unanswered it would stop the page."""
        self.errors.append(dialog.message)
        dialog.dismiss()

    def on_request(self, request: Request) -> None:
        """Whatever is not on this machine's disk or in the page itself."""
        if not request.url.startswith(("file:", "data:", "blob:")):
            self.requests.append(request.url)

    @property
    def watches(self) -> dict[Any, Any]:
        """The events of a page, each with what notes it."""
        return {
            "console": self.on_console,
            "pageerror": self.on_error,
            "dialog": self.on_dialog,
            "request": self.on_request,
        }

    def watch(self, page: Page) -> None:
        """Note what happens on a page from now on."""
        for event, note in self.watches.items():
            page.on(event, note)


@contextmanager
def opened(browser: Browser, report: Path, address: str = "", **options: Any) -> Iterator[Page]:
    """The report, opened anew; nothing may go wrong while the test looks at it.

    Args:
        browser: who opens it.
        report: the HTML file.
        address: what follows the path, such as "#item-3".
        options: of the browser's context, such as viewport and colour scheme; they get a window
            of their own.
    """
    with unwatched(browser, report, address, **options) as (page, complaints):
        yield page
        assert complaints == Complaints()


@contextmanager
def unwatched(
    browser: Browser, report: Path, address: str = "", **options: Any
) -> Iterator[tuple[Page, Complaints]]:
    """The same with what went wrong, for the test to judge."""
    page = _window(browser, **options) if options else _usual_window(browser)
    found = Complaints()
    found.watch(page)
    try:
        page.goto(report.as_uri() + address)
        yield page, found
    finally:
        for event, note in found.watches.items():
            page.remove_listener(event, note)
        if options:
            page.context.close()
        else:
            # Else the next address of the same file would only be a jump within it.
            page.goto("about:blank")


def _window(browser: Browser, **options: Any) -> Page:
    # Smooth scrolling would be waited for before every click.
    usual: dict[str, Any] = {"viewport": DESKTOP, "reduced_motion": "reduce"}
    context = browser.new_context(**usual | options)
    context.set_default_timeout(WAIT)
    return context.new_page()


def _usual_window(browser: Browser) -> Page:
    """The one that tests share that want no special one: making one takes half of their time."""
    if browser not in _USUAL:
        _USUAL[browser] = _window(browser)
    return _USUAL[browser]


def violations(page: Page) -> list[str]:
    """What axe-core finds against WCAG 2 A and AA: rule, place, reason."""
    rules = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}
    found = Axe().run(page, options=rules | {"resultTypes": ["violations"]})
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in found.response["violations"]
        for node in one["nodes"]
    ]


def shown_text(page: Page, selector: str) -> str:
    """The text in an element as it came from the log: signs stand for what they make visible."""
    text: str = page.locator(selector).first.evaluate(
        """(node) => {
          const copy = node.cloneNode(true);
          for (const sign of copy.querySelectorAll(".sign"))
            sign.replaceWith(String.fromCodePoint(
              ...sign.dataset.codes.split(" ").map((code) => parseInt(code, 16))));
          return copy.textContent;
        }"""
    )
    return text


def scrolls_sideways(page: Page) -> bool:
    """Whether the page itself is wider than its window."""
    wider: bool = page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )
    return wider
