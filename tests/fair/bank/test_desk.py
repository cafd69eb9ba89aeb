"""The organiser's pages over real HTTP: who gets in, what forms do, what hostile names become."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path

import httpx
import pytest
from sqlalchemy import Engine

from tests.fair.bank.builders import add_session
from tests.fair.bank.serving import KEYS, client, make_bank, served, token
from tiebreak.fair.bank.quotas import grant, quota_of, take
from tiebreak.fair.bank.results import keep
from tiebreak.fair.bank.schema import Role
from tiebreak.fair.bank.tokens import jti_of, revoke
from tiebreak.fair.server.desk import AT_ONCE, BEFORE, COOKIE, LIFE
from tiebreak.fair.server.settings import Settings

pytestmark = pytest.mark.slow

SECTIONS = ("sessions", "board", "quotas", "tokens", "log")
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>\u202etxt\x00\x1b[31m{{7*7}}"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    engine = make_bank(tmp_path_factory.mktemp("bank") / "bank.db", 50)
    grant(engine, "example.org", 10_000)
    return engine


@pytest.fixture(scope="module")
def address(engine: Engine) -> Iterator[str]:
    settings = Settings(str(engine.url.database), keys=KEYS, stranger_rate="1000/second")
    with served(settings, proxy="127.0.0.1") as address:
        yield address


def browser(address: str) -> httpx.Client:
    own = f"{address}/organiser"
    return httpx.Client(base_url=own, trust_env=False, verify=False, follow_redirects=True)


def proof(page: httpx.Response) -> str:
    found = re.search(r'name="proof" value="([0-9a-f]{64})"', page.text)
    assert found, page.text
    return found[1]


@contextmanager
def logged_in(address: str, given: str) -> Iterator[httpx.Client]:
    """A browser of whoever has a token."""
    with browser(address) as made:
        form = {"token": given, "proof": proof(made.get("/login"))}
        assert made.post("/login", data=form).status_code == 200
        yield made


@pytest.fixture
def admin(address: str, engine: Engine) -> Iterator[httpx.Client]:
    with logged_in(address, token(engine, "root", "organiser", "admin")) as admin:
        yield admin


def opened(engine: Engine, name: str, *, model: str = "m", state: str = "open") -> str:
    if state == "open":
        with engine.begin() as connection:
            take(connection, "example.org", 5)
    session = (name.encode().hex() + "0" * 32)[:32]
    about = {"institution": "example.org", "model": model, "state": state, "k": 5}
    return add_session(engine, session, {}, **about)


def test_whoever_is_not_logged_in_sees_the_form(address: str) -> None:
    with browser(address) as nobody:
        for section in ("", *(f"/{one}" for one in SECTIONS)):
            page = nobody.get(section)
            assert (page.url.path, page.status_code) == ("/organiser/login", 200)
        assert nobody.post("/quotas", data={"institution": "x", "granted": 1}).url.path.endswith(
            "/login"
        )
        assert nobody.get("/nonsense").status_code == 404
        assert nobody.get("/style.css").headers["content-type"].startswith("text/css")
        assert nobody.get("/icon.svg").status_code == 200


def test_the_cookie(address: str, engine: Engine) -> None:
    given = token(engine, "c", "organiser", "examiner")
    with browser(address) as mine:
        mine.follow_redirects = False
        form = {"token": f"  Bearer {given}\n", "proof": proof(mine.get("/login"))}
        reply = mine.post("/login", data=form)
        assert (reply.status_code, reply.headers["location"]) == (303, "/organiser/sessions")
        [kept] = [c for c in reply.headers.get_list("set-cookie") if c.startswith(COOKIE)]
        assert {part.strip() for part in kept.split(";")[1:]} == {
            *("HttpOnly", "SameSite=strict", "Path=/organiser", f"Max-Age={LIFE}")
        }
        # Behind a proxy that ends TLS the cookie is for TLS alone.
        form["proof"] = proof(mine.get("/login"))
        reply = mine.post("/login", data=form, headers={"X-Forwarded-Proto": "https"})
        assert "Secure" in reply.headers["set-cookie"]
        assert reply.headers["Strict-Transport-Security"]
        # The cookie opens these pages, and nothing of the API.
        assert (
            httpx.get(f"{address}/sessions/{'0' * 32}", cookies={COOKIE: given}).status_code == 401
        )


@pytest.mark.parametrize(
    ("given", "status"),
    [("nonsense", 401), ("", 401), ("a.b.c", 401), ("examinee", 403), ("bound", 403)],
)
def test_wrong_tokens(address: str, engine: Engine, given: str, status: int) -> None:
    made = {
        "examinee": token(engine, "e"),
        "bound": token(engine, "b", "organiser", "admin", session="0" * 32),
    }
    with browser(address) as mine:
        form = {"token": made.get(given, given), "proof": proof(mine.get("/login"))}
        reply = mine.post("/login", data=form)
        assert (reply.status_code, COOKIE in mine.cookies) == (status, False)
        assert "Not logged in:" in reply.text


def test_a_revoked_token_is_logged_out(address: str, engine: Engine) -> None:
    given = token(engine, "r", "organiser", "admin")
    with logged_in(address, given) as mine:
        assert mine.get("/sessions").status_code == 200
        revoke(engine, jti_of(given))
        reply = mine.get("/sessions")
        assert (reply.status_code, COOKIE in mine.cookies) == (401, False)
        assert "revoked" in reply.text


@pytest.mark.parametrize("role", ["examiner", "admin"])
def test_who_sees_what(address: str, engine: Engine, role: Role) -> None:
    with logged_in(address, token(engine, "w", "organiser", role)) as mine:
        found = {section: mine.get(f"/{section}").status_code for section in SECTIONS}
        assert found == dict.fromkeys(SECTIONS, 200) | {"tokens": 200 if role == "admin" else 403}
        assert ("Tokens" in mine.get("/sessions").text) == (role == "admin")
        assert ("Another institution" in mine.get("/quotas").text) == (role == "admin")
        form = {"institution": role, "granted": 3, "proof": proof(mine.get("/sessions"))}
        assert mine.post("/quotas", data=form).status_code == (200 if role == "admin" else 403)
        jti = jti_of(token(engine))
        reply = mine.post(f"/tokens/{jti}/revoke", data={"proof": form["proof"]})
        assert reply.status_code == (200 if role == "admin" else 403)


FORMS = ("sessions/{s}/close", "board/{s}/release", "tokens/{t}/revoke", "quotas", "logout")


@pytest.mark.parametrize("action", FORMS)
@pytest.mark.parametrize("given", ["", "0" * 64, "é", "another"])
def test_a_form_without_its_proof_does_nothing(
    address: str, engine: Engine, admin: httpx.Client, action: str, given: str
) -> None:
    if given == "another":
        with logged_in(address, token(engine, "x", "organiser", "admin")) as other:
            given = proof(other.get("/quotas"))
    session = opened(engine, f"{FORMS.index(action)}{given[:3]}{len(given)}")
    jti = jti_of(token(engine))
    form = {"proof": given, "institution": "forged", "granted": 5}
    reply = admin.post(f"/{action.format(s=session, t=jti)}", data=form)
    assert (reply.status_code, "not of this page" in reply.text) == (403, True)
    with engine.connect() as connection:
        assert quota_of(connection, "forged").granted == 0
    assert admin.get("/sessions").url.path == "/organiser/sessions"


def test_a_form_of_another_site_does_nothing(admin: httpx.Client) -> None:
    form = {"proof": proof(admin.get("/quotas")), "institution": "cross", "granted": 5}
    site = {"Sec-Fetch-Site": "cross-site"}
    assert admin.post("/quotas", data=form, headers=site).status_code == 403
    del admin.cookies[BEFORE]
    assert admin.post("/login", data={"token": "x", "proof": ""}).status_code == 403


def test_forms_do_what_they_say(address: str, engine: Engine, admin: httpx.Client) -> None:
    form = {"proof": proof(admin.get("/quotas"))}
    reply = admin.post("/quotas?page=1", data={**form, "institution": "new & old", "granted": 7})
    assert (str(reply.url.query, "ascii"), "new &amp; old" in reply.text) == ("page=1", True)
    session = opened(engine, "f")
    assert f"/sessions/{session}/close" in admin.get("/sessions").text
    assert admin.post(f"/sessions/{session}/close?state=closed", data=form).status_code == 200
    assert session in admin.get("/sessions?state=closed").text
    assert session not in admin.get("/sessions?state=open").text
    reply = admin.post(f"/board/{session}/release", data=form)
    assert (reply.status_code, "no results of this session yet" in reply.text) == (404, True)
    keep(engine, session, {"score": 87.5, "lower": None, "judges": [HOSTILE]}, released=False)
    assert "87.50" in admin.get("/board").text
    with client(address, token(engine, "u")) as owner:
        assert owner.get(f"/sessions/{session}/results").status_code == 403
        assert admin.post(f"/board/{session}/release", data=form).status_code == 200
        assert owner.get(f"/sessions/{session}/results").json()["score"] == 87.5
        assert admin.post(f"/board/{session}/withdraw", data=form).status_code == 200
        assert owner.get(f"/sessions/{session}/results").status_code == 403
    assert admin.post("/logout", data=form).url.path == "/organiser/login"
    assert admin.get("/board").url.path == "/organiser/login"


class Tags(HTMLParser):
    """Elements, and attributes that could run something."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {tag, *(f"{tag}@{name}" for name, _ in attrs if name.startswith("on"))}
        self.found |= {f"{tag}@style" for name, _ in attrs if name == "style"}


@pytest.mark.parametrize("name", [HOSTILE, "long " * 2000], ids=["hostile", "long"])
def test_names_of_examinees_are_text(
    address: str, engine: Engine, admin: httpx.Client, name: str
) -> None:
    session = opened(engine, f"h{len(name)}", model=name, state="complete")
    keep(engine, session, {"score": name, "judges": [name], "n_items": name}, released=False)
    grant(engine, name, 5)
    with client(address, "x") as stranger:
        stranger.get("/<script>alert(1)</script>")
    for section in SECTIONS:
        page = admin.get(f"/{section}")
        assert page.status_code == 200
        tags = Tags()
        tags.feed(page.text)
        assert not tags.found & {"script", "img", "style", "iframe"}
        assert not [tag for tag in tags.found if "@" in tag]
        assert not set("\u202e\x00\x1b") & set(page.text)
        assert "49" not in re.findall(r"txt[^<]*", page.text)
        assert not re.search("(long ){100}", page.text)
    assert "‹U+202E›" in admin.get("/sessions").text or name != HOSTILE


def test_a_thousand_sessions_are_pages(tmp_path: Path) -> None:
    engine = make_bank(tmp_path / "bank.db", 3)
    for number in range(1000):
        opened(engine, f"{number:04}", state="complete" if number % 10 else "closed")
    settings = Settings(str(engine.url.database), keys=KEYS)
    examiner = token(engine, "p", "organiser", "examiner")
    with served(settings) as address, logged_in(address, examiner) as mine:
        seen: set[str] = set()
        number = 0
        more = True
        while more:
            number += 1
            page = mine.get(f"/sessions?page={number}").text
            ids = re.findall(r'<td class="id">([0-9a-f]{32})</td>', page)
            assert len(ids) == AT_ONCE
            assert not seen & set(ids)
            seen |= set(ids)
            more = 'rel="next"' in page
        assert len(seen) == 1000
        assert "Page 2 of 2" in mine.get("/sessions?state=closed&page=2").text
        assert "go back to page 1" in mine.get("/sessions?page=99").text
        assert mine.get("/sessions?page=0").status_code == 422
