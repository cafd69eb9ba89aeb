"""The page over HTTP: who gets in, what a form may do, what is kept."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from tests.cases import cases
from tests.people.serving import SECRET, given, votes_file, votes_item
from tiebreak.people.page import create_app
from tiebreak.ranking_logs.votes_file import VotesFile

ITEMS = [votes_item(n, {"m1": f"{n} one", "m2": f"{n} other", "m3": "same"}) for n in range(4)]
MODELS = ("m1", "m2", "m3")


@pytest.fixture
def file(tmp_path: Path) -> Iterator[VotesFile]:
    with votes_file(tmp_path / "votes.db", ITEMS, goal=3) as file:
        yield file


@pytest.fixture
def app(file: VotesFile) -> FastAPI:
    return create_app(file, SECRET)


def client(app: FastAPI, *, invited: bool = True) -> TestClient:
    made = TestClient(app, base_url="http://127.0.0.1")
    if invited:
        made.get("/", params={"key": SECRET})
    return made


def field(page: str, name: str) -> str:
    match = re.search(f'name="{name}" value="([^"]*)"', page)
    return unescape(match[1]) if match else ""


def form(page: str, **more: str) -> dict[str, str]:
    names = ("proof", "rater", "turn", "view")
    return {name: field(page, name) for name in names if field(page, name)} | more


def entered(app: FastAPI, name: str = "Ada") -> tuple[TestClient, str]:
    """A client of a rater, and the page that it shows."""
    browser = client(app)
    page = browser.post("/rater", data=form(browser.get("/").text, name=name)).text
    return browser, page


def test_what_the_goal_is_worth(tmp_path: Path) -> None:
    for decides in (False, True):
        path = tmp_path / f"{decides}.db"
        with votes_file(path, ITEMS, goal=120, decides=decides) as file:
            _, page = entered(create_app(file, SECRET))
        assert "120 left until 120" in page
        assert ("120 votes decide between the two models in front" in page) is decides
        assert not re.search(r"\bm[123]\b", page)


ADDRESSES = [
    *(("GET", "/"), ("GET", "/?key=wrong"), ("GET", "/?key="), ("GET", "/style.css")),
    *(("GET", "/keys.js"), ("GET", "/openapi.json"), ("GET", "/docs"), ("GET", "/nowhere")),
    *(("POST", "/rater"), ("POST", "/vote"), ("POST", "/undo")),
]


@pytest.mark.parametrize(("method", "address"), ADDRESSES)
def test_nobody_comes_in_without_the_secret(
    file: VotesFile, app: FastAPI, method: str, address: str
) -> None:
    response = client(app, invited=False).request(method, address, follow_redirects=False)
    assert response.status_code == 403
    assert "Which answer" not in response.text
    assert "script-src 'self'" in response.headers["content-security-policy"]
    assert file.votes(undone=True) == ()


def test_the_secret_is_kept_where_no_script_and_no_other_site_reads_it(app: FastAPI) -> None:
    response = client(app, invited=False).get("/", params={"key": SECRET}, follow_redirects=False)
    assert (response.status_code, response.headers["location"]) == (303, "/")
    assert {"HttpOnly", "SameSite=lax"} <= set(response.headers["set-cookie"].split("; "))
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    ("change", "headers"), cases(__file__, "a form of another site does nothing")
)
def test_a_form_of_another_site_does_nothing(
    file: VotesFile, app: FastAPI, change: dict[str, str], headers: dict[str, str]
) -> None:
    browser, page = entered(app)
    for path in ("/vote", "/undo", "/rater"):
        data = form(page, choice="first", name="Eve") | change
        response = browser.post(path, data=data, headers=headers)
        assert response.status_code == 403
        assert "not of this page" in response.text
    assert file.votes(undone=True) == ()


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"turn": "999999999999"}, 400),
        ({"turn": "-1"}, 400),
        ({"turn": "x"}, 400),
        ({"choice": "m1"}, 400),
        ({"choice": "3"}, 400),
        ({"choice": "identical"}, 400),
        ({"rater": ""}, 400),
        ({"choice": "x" * 20_000}, 413),
    ],
)
def test_what_nobody_is_asked_is_refused(
    file: VotesFile, app: FastAPI, change: dict[str, str], status: int
) -> None:
    browser, page = entered(app)
    response = browser.post("/vote", data=form(page, choice="first") | change)
    assert response.status_code == status
    assert 'role="alert"' in response.text
    assert file.votes() == ()


def test_zeros_before_its_length_let_no_long_form_pass(app: FastAPI) -> None:
    browser, _ = entered(app)
    size = {"content-length": f"{20_000:020}"}
    assert browser.post("/vote", content=b"x" * 20_000, headers=size).status_code == 413


@pytest.mark.parametrize("name", ["", " ", "x" * 61, "a\u202eb", "a\0b"])
def test_a_name_is_a_name(app: FastAPI, name: str) -> None:
    browser = client(app)
    response = browser.post("/rater", data=form(browser.get("/").text, name=name))
    assert response.status_code == 400
    assert "1 to 60 characters" in response.text


def test_a_vote_is_kept_once_and_taken_back(file: VotesFile, app: FastAPI) -> None:
    browser, page = entered(app)
    for _ in range(2):  # as by a double click, or by the button back
        after = browser.post("/vote", data=form(page, choice="first")).text
    [vote] = file.votes()
    assert (vote.rater, vote.choice, vote.turn) == ("Ada", "first", int(field(page, "turn")))
    assert "your votes: 1; all votes: 1; 2 left until 3" in after
    assert field(after, "turn") != field(page, "turn")
    again = browser.post("/undo", data=form(after)).text
    assert field(again, "turn") == field(page, "turn")
    assert file.votes() == ()
    assert len(file.votes(undone=True)) == 1


def test_raters_go_on_where_they_stopped_and_all_is_asked_in_the_end(
    file: VotesFile, app: FastAPI
) -> None:
    pages = {name: entered(app, name) for name in ("Ada", "<i>Béa</i>")}
    for _ in range(20):
        for name, (browser, page) in pages.items():
            if "Nothing is left" in page:
                continue
            assert not [model for model in MODELS if model in page]
            after = browser.post("/vote", data=form(page, choice="tie")).text
            # Another browser of the same rater shows the same question.
            assert field(entered(app, name)[1], "turn") == field(after, "turn")
            pages[name] = browser, after
    assert all("Nothing is left" in page for _, page in pages.values())
    assert "<i>" not in pages["<i>Béa</i>"][1]
    pairs = {(vote.item, frozenset((vote.first, vote.second))) for vote in given(file.votes())}
    assert len(pairs) == 4 * 3
    common = {v.turn for v in file.votes("Ada")} & {v.turn for v in file.votes("<i>Béa</i>")}
    assert len(common) == 3
    assert {vote.rater for vote in file.votes()} == {"Ada", "<i>Béa</i>"}


def test_stars_with_the_key(tmp_path: Path) -> None:
    with votes_file(tmp_path / "stars.db", ITEMS, kind="stars") as file:
        browser, page = entered(create_app(file, SECRET))
        assert "the key" in page
        assert "Mark differences" not in page
        assert browser.get("/?view=marked").status_code == 200
        assert browser.get("/?view=nonsense").status_code == 422
        browser.post("/vote", data=form(page, choice="2"))
        [vote] = file.votes()
        assert (vote.choice, vote.second) == ("2", "")
