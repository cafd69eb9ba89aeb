"""The way of an examinee over real HTTP, and what it may not do."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from sqlalchemy import Engine, select

from tests.fair.bank.serving import KEYS, PRIVATE_TEXT, client, make_bank, served, token
from tiebreak.cli.verbs import main
from tiebreak.fair.bank.quotas import grant, quota_of
from tiebreak.fair.bank.schema import ACCESS_LOG
from tiebreak.fair.bank.sessions import close
from tiebreak.fair.server.settings import Settings

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bank") / "bank.db"


@pytest.fixture(scope="module")
def engine(place: Path) -> Engine:
    engine = make_bank(place, 400)
    for institution in ("example.org", "example.net"):
        grant(engine, institution, 200)
    return engine


@pytest.fixture(scope="module")
def address(place: Path, engine: Engine) -> Iterator[str]:
    with served(Settings(str(place), keys=KEYS, token_rate="1000/second")) as address:
        yield address


@pytest.fixture
def ada(address: str, engine: Engine, request: pytest.FixtureRequest) -> Iterator[httpx.Client]:
    """An examinee of her own for each test."""
    with client(address, token(engine, user=request.node.name[:128])) as ada:
        yield ada


def opened(by: httpx.Client, k: int = 3, key: str = "first", status: int = 201) -> dict[str, Any]:
    wanted = {"k": k, "model": "m", "prompting": "zero_shot"}
    reply = by.post("/sessions", json=wanted, headers={"Idempotency-Key": key})
    assert reply.status_code == status, reply.text
    return dict(reply.json())


def test_a_session_from_beginning_to_end(ada: httpx.Client) -> None:
    session = opened(ada)
    assert session | {"id": ""} == {
        **{"id": "", "k": 3, "state": "open", "answered": 0, "next": 1},
        **{"model": "m", "prompting": "zero_shot"},
    }
    path, asked = f"/sessions/{session['id']}", []
    for k in (1, 2, 3):
        question = ada.get(f"{path}/questions/{k}")
        assert PRIVATE_TEXT not in question.text
        asked.append(question.json())
        assert set(asked[-1]) == {
            *("position", "of", "category", "sub_category", "type", "question", "options")
        }
        reply = ada.put(f"{path}/answers/{k}", json={"answer": f"answer {k}"})
        assert reply.json() == {
            **{"position": k, "next": k + 1 if k < 3 else None},
            **{"state": "open" if k < 3 else "complete"},
        }
    assert len({question["question"] for question in asked}) == 3
    assert [ada.get(f"{path}/questions/{k}").json() for k in (1, 2, 3)] == asked
    stands = ada.get(path).json()
    assert (stands["state"], stands["answered"], stands["next"]) == ("complete", 3, None)
    assert not stands["released"]


def test_a_session_is_made_once(ada: httpx.Client) -> None:
    session = opened(ada, key="a")
    assert opened(ada, key="a", status=200) == session
    assert "another session" in opened(ada, k=4, key="a", status=409)["detail"]
    assert session["id"] in opened(ada, key="b", status=409)["detail"]


def test_a_quota_is_kept(address: str, engine: Engine) -> None:
    grant(engine, "small", 5)
    with client(address, token(engine, institution="small")) as ada:
        assert "5 questions left" in opened(ada, k=6, status=403)["detail"]
        session = opened(ada, k=4)
        ada.get(f"/sessions/{session['id']}/questions/1")
        ada.put(f"/sessions/{session['id']}/answers/1", json={"answer": "x"})
        ada.get(f"/sessions/{session['id']}/questions/2")
    with engine.connect() as connection:
        quota = quota_of(connection, "small")
    assert (quota.allocated, quota.pending, quota.completed, quota.left) == (4, 3, 1, 1)
    # What was asked is used, what was not is given back.
    assert close(engine, session["id"]).state == "closed"
    with engine.connect() as connection:
        quota = quota_of(connection, "small")
    assert (quota.allocated, quota.pending, quota.completed, quota.left) == (2, 0, 2, 3)


def test_every_response_is_logged_and_has_its_headers(address: str, engine: Engine) -> None:
    with client(address, "nonsense") as nobody:
        reply = nobody.get(f"/sessions/{'0' * 32}?x=1")
    assert reply.status_code == 401
    assert reply.headers["WWW-Authenticate"] == "Bearer"
    assert reply.headers["Cache-Control"] == "no-store"
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in reply.headers["Content-Security-Policy"]
    assert "Strict-Transport-Security" not in reply.headers
    with client(address, token(engine)) as ada:
        logged = ada.get(f"/sessions/{'0' * 32}?x=1")
    of_it = ACCESS_LOG.c.request == logged.headers["X-Request-Id"]
    with engine.connect() as connection:
        line = connection.execute(select(ACCESS_LOG).where(of_it)).one()
    assert (line.user, line.session, line.status) == ("ada", "0" * 32, 404)
    assert (line.method, line.path, line.address) == ("GET", f"/sessions/{'0' * 32}", "127.0.0.1")


def test_closing_a_session_is_the_way_on(ada: httpx.Client, engine: Engine) -> None:
    line = opened(ada)["id"]
    wanted = {"k": 1, "model": "n"}
    refused = ada.post("/sessions", json=wanted, headers={"Idempotency-Key": "n"}).json()["detail"]
    verb = refused[refused.index("bank close") :].split()
    bank = str(engine.url.database)
    done = CliRunner().invoke(main, [*verb, "--bank", bank])
    assert (done.exit_code, line in done.output) == (0, True)
    assert opened(ada, k=3, key="n")["state"] == "open"
