"""The organiser's pages in a real browser, while an examinee answers over the API."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect
from sqlalchemy import Engine

from tests.fair.bank.serving import KEYS, client, grant, make_bank, served, token
from tests.report.page.browser import (
    WAIT,
    Complaints,
    scrolls_sideways,
    violations,
)
from tests.report.page.browser import browser as browser
from tiebreak.fair.bank.results import keep
from tiebreak.fair.server.desk import COOKIE
from tiebreak.fair.server.settings import Settings

pytestmark = pytest.mark.slow

DESKTOP = ViewportSize(width=1280, height=900)
PHONE = ViewportSize(width=360, height=740)
SECTIONS = ("sessions", "board", "quotas", "tokens", "log")
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>\"' onfocus=alert(3) autofocus='"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    engine = make_bank(tmp_path_factory.mktemp("bank") / "bank.db", 60)
    grant(engine, HOSTILE, 40)
    return engine


@pytest.fixture(scope="module")
def address(engine: Engine) -> Iterator[str]:
    with served(Settings(str(engine.url.database), keys=KEYS)) as address:
        yield address


@contextmanager
def window(browser: Browser, address: str, refusals: int = 0) -> Iterator[Page]:
    """A window in which nothing goes wrong but so many pages that are refused."""
    context = browser.new_context(viewport=DESKTOP, reduced_motion="reduce")
    context.set_default_timeout(WAIT)
    page, found = context.new_page(), Complaints()
    found.watch(page)
    yield page
    context.close()
    assert [url for url in found.requests if not url.startswith(f"{address}/organiser")] == []
    refused = [error for error in found.errors if "the server responded with a status of" in error]
    assert (len(refused), found.errors) == (refusals, refused)


def log_in(page: Page, address: str, given: str) -> None:
    page.goto(f"{address}/organiser")
    page.get_by_label("Token").fill(given)
    page.get_by_role("button", name="Log in").click()


def test_an_exam_as_its_organiser_sees_it(browser: Browser, engine: Engine, address: str) -> None:
    examinee = client(address, token(engine, HOSTILE, HOSTILE))
    with window(browser, address) as page, examinee:
        log_in(page, address, token(engine, "root", "organiser", "admin"))
        expect(page.locator("main")).to_contain_text("No session is here")
        wanted = {"k": 3, "model": HOSTILE}
        reply = examinee.post("/sessions", json=wanted, headers={"Idempotency-Key": "k"})
        session = reply.json()["id"]
        row = page.get_by_role("row").filter(has_text=session)
        for answered in range(4):
            page.reload()
            expect(row).to_contain_text(f"{answered} of 3")
            expect(row.locator("progress")).to_have_js_property("value", answered)
            expect(row.get_by_role("rowheader")).to_have_text(HOSTILE)
            if answered < 3:
                examinee.get(f"/sessions/{session}/questions/{answered + 1}")
                examinee.put(f"/sessions/{session}/answers/{answered + 1}", json={"answer": "x"})
        expect(row).to_contain_text("complete")
        keep(
            engine,
            session,
            {"score": 87.5, "lower": 80.1, "upper": 92.3, "level": 0.95},
            released=False,
        )
        page.get_by_role("link", name="Board").click()
        expect(row).to_contain_text("80.1–92.3 (95%)")
        assert examinee.get(f"/sessions/{session}/results").status_code == 403
        page.get_by_role("button", name=f"Release results of session {session}").click()
        expect(row).to_contain_text("released")
        assert examinee.get(f"/sessions/{session}/results").json()["score"] == 87.5
        page.get_by_role("button", name="Log out").click()
        expect(page.get_by_label("Token")).to_be_visible()
        assert COOKIE not in {cookie.get("name") for cookie in page.context.cookies()}
        page.goto(f"{address}/organiser/board")
        expect(page.get_by_label("Token")).to_be_visible()


def test_quotas_tokens_and_sessions_by_forms(
    browser: Browser, engine: Engine, address: str
) -> None:
    with window(browser, address) as page, client(address, token(engine, "bea", "lab")) as bea:
        log_in(page, address, token(engine, "root", "organiser", "admin"))
        page.get_by_role("link", name="Quotas").click()
        page.get_by_role("textbox", name="Institution").fill("lab")
        page.get_by_label("Questions", exact=True).fill("5")
        page.get_by_role("button", name="Grant").click()
        row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="lab"))
        page.get_by_label("Granted to lab").fill("9")
        row.get_by_role("button").click()
        expect(page.get_by_label("Granted to lab")).to_have_value("9")
        wanted = {"k": 9, "model": "m"}
        reply = bea.post("/sessions", json=wanted, headers={"Idempotency-Key": "k"})
        page.get_by_role("link", name="Sessions").click()
        page.get_by_label(f"Close session {reply.json()['id']}").click()
        page.get_by_role("button", name="Close now").click()
        assert bea.get(f"/sessions/{reply.json()['id']}").json()["state"] == "closed"
        page.get_by_role("link", name="Tokens").click()
        row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="bea"))
        row.locator("summary").click()
        row.get_by_role("button", name="Revoke now").click()
        expect(row).not_to_contain_text("Revoke")
        assert bea.get(f"/sessions/{reply.json()['id']}").status_code == 401


def test_every_section_is_readable(browser: Browser, engine: Engine, address: str) -> None:
    with window(browser, address) as page:
        page.goto(f"{address}/organiser")
        assert violations(page) == []
        log_in(page, address, token(engine, "root", "organiser", "admin"))
        for section in SECTIONS:
            page.goto(f"{address}/organiser/{section}")
            assert violations(page) == []
            page.set_viewport_size(PHONE)
            assert not scrolls_sideways(page)
            page.set_viewport_size(DESKTOP)
        # It has links, buttons and fields.
        page.emulate_media(color_scheme="dark")
        page.goto(f"{address}/organiser/quotas")
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == "rgb(21, 24, 28)"
        assert violations(page) == []
