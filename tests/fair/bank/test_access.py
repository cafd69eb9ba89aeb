"""Who may do what, as a table, over real HTTP."""

from collections.abc import Iterator

import httpx
import pytest
from sqlalchemy import Engine, select, update

from tests.cases import cases
from tests.fair.bank.serving import KEYS, client, make_bank, served, token
from tiebreak.fair.bank.quotas import grant
from tiebreak.fair.bank.schema import ROLES, SESSIONS, TOKENS, Role
from tiebreak.fair.bank.tokens import MAY, PERMISSIONS, jti_of
from tiebreak.fair.server.settings import Settings

pytestmark = pytest.mark.slow

NEW_TOKEN = {"user": "bob", "institution": "example.org", "role": "examinee"}
# What is asked for, of ada's session {s} or bob's token {t}: the status for ada herself, another
# examinee of her institution, an examiner, an admin, and nobody.
TABLE = cases(__file__, "table")
WHO = ("owner", "another", "examiner", "admin", "nobody")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    engine = make_bank(tmp_path_factory.mktemp("bank") / "bank.db", 400)
    grant(engine, "example.org", 300)
    return engine


@pytest.fixture(scope="module")
def address(engine: Engine) -> Iterator[str]:
    settings = Settings(str(engine.url.database), keys=KEYS, stranger_rate="1000/second")
    with served(settings) as address:
        yield address


def first_question(engine: Engine, address: str, name: str) -> tuple[str, str]:
    """A token, and its session in which question 1 was asked."""
    mine = token(engine, user=name)
    with client(address, mine) as ada:
        wanted = {"k": 2, "model": "m"}
        reply = ada.post("/sessions", json=wanted, headers={"Idempotency-Key": "k"})
        session = reply.json()["id"]
        assert ada.get(f"/sessions/{session}/questions/1").status_code == 200
    return mine, session


@pytest.mark.parametrize(("method", "path", "body", "statuses"), TABLE)
def test_who_may_do_what(
    engine: Engine,
    address: str,
    method: str,
    path: str,
    body: dict[str, object] | None,
    statuses: tuple[int, ...],
) -> None:
    owner, session = first_question(engine, address, f"{method} {path}")
    tokens = {
        "owner": owner,
        "another": token(engine, user="eve"),
        "examiner": token(engine, user="vera", role="examiner"),
        "admin": token(engine, user="root", role="admin"),
        "nobody": "nonsense",
    }
    place = path.format(s=session, t=jti_of(token(engine, user="bob")))
    found = []
    for who in WHO:
        with client(address, tokens[who]) as caller:
            reply = caller.request(method, place, json=body, headers={"Idempotency-Key": "z"})
        found.append(reply.status_code)
        assert reply.status_code < 300 or list(reply.json()) == ["detail"]
    assert tuple(found) == statuses


def test_every_route_is_in_the_table(address: str) -> None:
    paths = httpx.get(f"{address}/openapi.json").json()["paths"]
    names = str.maketrans({"{": None, "}": None})
    given = {"s": "session", "t": "jti"}
    known = {
        (method, path.format_map(given).replace("other", "institution"))
        for method, path, _, _ in TABLE
    }
    for path, methods in paths.items():
        plain = path.translate(names).replace("/questions/k", "/questions/1")
        plain = plain.replace("/answers/k", "/answers/1")
        assert {(method.upper(), plain) for method in methods} <= known
        for operation in methods.values():
            assert {"401", "403", "404", "409", "413", "422", "429"} <= set(operation["responses"])


def test_the_page_describes_every_route(address: str) -> None:
    page = httpx.get(address)
    assert page.headers["content-type"].startswith("text/html")
    assert "<script" not in page.text
    for path, methods in httpx.get(f"{address}/openapi.json").json()["paths"].items():
        for method in methods:
            assert f"<code>{method.upper()} {path}</code>" in page.text


def test_roles_have_permissions_that_there_are() -> None:
    assert set(MAY) == set(ROLES)
    assert set().union(*MAY.values()) == set(PERMISSIONS)
    # Who organises sees no question, and who is examined organises nothing.
    assert MAY["examinee"] & (MAY["examiner"] | MAY["admin"]) == {"session:read"}


@pytest.mark.parametrize("role", ROLES)
def test_a_revoked_token_is_worthless_at_once(engine: Engine, address: str, role: Role) -> None:
    given = token(engine, user="vera", role=role)
    with client(address, given) as vera, client(address, token(engine, role="admin")) as admin:
        path = f"/sessions/{'0' * 32}"
        assert vera.get(path).status_code == 404
        assert admin.delete(f"/tokens/{jti_of(given)}").status_code == 204
        assert admin.delete(f"/tokens/{jti_of(given)}").status_code == 204
        assert vera.get(path).status_code == 401
        assert vera.get(f"{path}/questions/1").status_code == 401
        assert admin.delete(f"/tokens/{'0' * 32}").status_code == 404


@pytest.mark.parametrize(
    "change", [{"role": "admin"}, {"user": "eve"}, {"institution": "x"}, {"session": "0" * 32}]
)
def test_token_and_list_must_agree(engine: Engine, address: str, change: dict[str, str]) -> None:
    given = token(engine, user="ada")
    with engine.begin() as connection:
        of_it = TOKENS.c.jti == jti_of(given)
        connection.execute(update(TOKENS).where(of_it).values(**change))
    with client(address, given) as ada:
        assert ada.get(f"/sessions/{'0' * 32}").status_code == 401


def test_a_token_for_one_session(engine: Engine, address: str) -> None:
    _, session = first_question(engine, address, "bound")
    with client(address, token(engine, user="bound", session=session)) as bound:
        assert bound.get(f"/sessions/{session}").status_code == 200
        assert bound.get(f"/sessions/{'0' * 32}").status_code == 403
        wanted = {"k": 1, "model": "m"}
        assert (
            bound.post("/sessions", json=wanted, headers={"Idempotency-Key": "new"}).status_code
            == 403
        )


def test_a_token_made_over_http_is_good(engine: Engine, address: str) -> None:
    with client(address, token(engine, role="admin")) as admin:
        made = admin.post("/tokens", json=NEW_TOKEN | {"user": "zoe", "expires": 60}).json()
        assert admin.put("/quotas/zoes", json={"granted": 7}).json() == {
            **{"institution": "zoes", "granted": 7, "allocated": 0, "pending": 0, "completed": 0}
        }
    assert jti_of(made["token"]) == made["jti"]
    with client(address, made["token"]) as zoe:
        wanted = {"k": 1, "model": "m"}
        reply = zoe.post("/sessions", json=wanted, headers={"Idempotency-Key": "k"})
    with engine.connect() as connection:
        of_it = SESSIONS.c.id == reply.json()["id"]
        assert connection.execute(select(SESSIONS.c.user).where(of_it)).scalar_one() == "zoe"
