"""The way of an examinee over real HTTP, and who may do what; what is attacked stands elsewhere."""

from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from sqlalchemy import select

from tests.cases import cases
from tests.fair.bank.attacking import Place, answer, ask, opened, said_by
from tests.fair.bank.serving import token
from tiebreak.cli.verbs import main
from tiebreak.fair.bank.schema import ACCESS_LOG, ROLES, SESSIONS
from tiebreak.fair.bank.tokens import MAY, PERMISSIONS, jti_of

pytestmark = pytest.mark.slow

NEW_TOKEN = {"user": "bob", "institution": "example.org", "role": "examinee"}
NOWHERE = f"/sessions/{'0' * 32}"
TABLE = cases(__file__, "table")


def test_a_session_from_beginning_to_end(place: Place, ada: str) -> None:
    with place.client(ada) as owner:
        path, asked = opened(owner), []
        stands = {"id": path.rpartition("/")[2], "k": 3, "model": "m", "prompting": "zero_shot"}
        for k in (1, 2, 3):
            before = {"state": "open", "answered": k - 1, "next": k, "released": False}
            assert owner.get(path).json() == stands | before
            asked.append(owner.get(f"{path}/questions/{k}").json())
            assert set(asked[-1]) == {
                *("position", "of", "category", "sub_category", "type", "question", "options")
            }
            after = (
                {"next": k + 1, "state": "open"} if k < 3 else {"next": None, "state": "complete"}
            )
            reply = owner.put(f"{path}/answers/{k}", json={"answer": f"answer {k}"})
            assert reply.json() == {"position": k, **after}
        assert len({question["question"] for question in asked}) == 3
        assert [owner.get(f"{path}/questions/{k}").json() for k in (1, 2, 3)] == asked
        done = {"state": "complete", "answered": 3, "next": None, "released": False}
        assert owner.get(path).json() == stands | done


def test_every_response_is_logged_and_has_its_headers(place: Place) -> None:
    with place.client("nonsense") as nobody:
        reply = nobody.get(f"{NOWHERE}?x=1")
    assert reply.status_code == 401
    expected = {
        "WWW-Authenticate": "Bearer",
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
    }
    assert {name: reply.headers[name] for name in expected} == expected
    assert "default-src 'none'" in reply.headers["Content-Security-Policy"]
    assert "Strict-Transport-Security" not in reply.headers
    with place.client(token(place.engine)) as ada:
        logged = ada.get(f"{NOWHERE}?x=1")
    of_it = ACCESS_LOG.c.request == logged.headers["X-Request-Id"]
    with place.engine.connect() as connection:
        line = connection.execute(select(ACCESS_LOG).where(of_it)).one()
    assert (line.user, line.session, line.status) == ("ada", "0" * 32, 404)
    assert (line.method, line.path, line.address) == ("GET", NOWHERE, "127.0.0.1")


def test_closing_a_session_is_the_way_on(place: Place, ada: str) -> None:
    with place.client(ada) as owner:
        session = opened(owner).rpartition("/")[2]
        wanted: dict[str, Any] = {"json": {"k": 3, "model": "n"}}
        wanted["headers"] = {"Idempotency-Key": "n"}
        refused = owner.post("/sessions", **wanted)
        assert refused.status_code == 409
        words = refused.json()["detail"]
        verb = words[words.index("bank close") :].split()
        done = CliRunner().invoke(main, [*verb, "--bank", str(place.engine.url.database)])
        assert (done.exit_code, session in done.output) == (0, True)
        assert owner.post("/sessions", **wanted).json()["state"] == "open"


@pytest.mark.parametrize(("method", "path", "body", "statuses"), TABLE)
def test_who_may_do_what(
    place: Place, ada: str, method: str, path: str, body: dict[str, Any] | None, statuses: list[int]
) -> None:
    with place.client(ada) as owner:
        session = opened(owner, k=2).rpartition("/")[2]
        assert ask(owner, f"/sessions/{session}", 1) == 200
    others = [token(place.engine, user="eve")]
    others += [token(place.engine, user=role, role=role) for role in ("examiner", "admin")]
    there = path.format(s=session, t=jti_of(token(place.engine, user="bob")))
    found = []
    for given in (ada, *others, "nonsense"):
        with place.client(given) as caller:
            reply = caller.request(method, there, json=body, headers={"Idempotency-Key": "z"})
        found.append(reply.status_code)
        assert reply.status_code < 300 or list(reply.json()) == ["detail"]
    assert found == statuses


def test_every_route_is_in_the_table_and_on_the_page(place: Place) -> None:
    known = {
        (method, path.format(s="{session}", t="{jti}").replace("other", "{institution}"))
        for method, path, _, _ in TABLE
    }
    page = httpx.get(place.address)
    assert page.headers["content-type"].startswith("text/html")
    assert "<script" not in page.text
    for path, methods in httpx.get(f"{place.address}/openapi.json").json()["paths"].items():
        for method, operation in methods.items():
            assert (method.upper(), path.replace("{k}", "1")) in known
            assert {"401", "403", "404", "409", "413", "422", "429"} <= set(operation["responses"])
            assert f"<code>{method.upper()} {path}</code>" in page.text


def test_roles_have_permissions_that_there_are() -> None:
    assert set(MAY) == set(ROLES)
    assert set().union(*MAY.values()) == set(PERMISSIONS)
    # Who organises sees no question, and who is examined organises nothing.
    assert MAY["examinee"] & (MAY["examiner"] | MAY["admin"]) == {"session:read"}


def test_revoking_twice_and_what_is_not_there(place: Place, ada: str) -> None:
    with place.client(token(place.engine, role="admin")) as admin:
        paths = [f"/tokens/{jti}" for jti in (jti_of(ada), jti_of(ada), "0" * 32)]
        assert [admin.delete(path).status_code for path in paths] == [204, 204, 404]


def test_a_token_for_one_session(place: Place, ada: str) -> None:
    with place.client(ada) as owner:
        path = opened(owner)
    bound = token(place.engine, user=said_by(ada)["sub"], session=path.rpartition("/")[2])
    with place.client(bound) as owner:
        assert [owner.get(there).status_code for there in (path, NOWHERE)] == [200, 403]
        wanted = {"json": {"k": 1, "model": "m"}, "headers": {"Idempotency-Key": "new"}}
        assert owner.post("/sessions", **wanted).status_code == 403  # type: ignore[arg-type]
        assert (ask(owner, path, 1), answer(owner, path, 1)) == (200, 200)


def test_a_token_made_over_http_is_good(place: Place) -> None:
    with place.client(token(place.engine, role="admin")) as admin:
        made = admin.post("/tokens", json=NEW_TOKEN | {"user": "zoe", "expires": 60}).json()
        assert admin.put("/quotas/zoes", json={"granted": 7}).json() == {
            **{"institution": "zoes", "granted": 7, "allocated": 0, "pending": 0, "completed": 0}
        }
    assert jti_of(made["token"]) == made["jti"]
    with place.client(made["token"]) as zoe:
        session = opened(zoe, k=1).rpartition("/")[2]
    with place.engine.connect() as connection:
        of_it = select(SESSIONS.c.user).where(SESSIONS.c.id == session)
        assert connection.execute(of_it).scalar_one() == "zoe"
