"""What /openapi.json says is enough to make a client of it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cases import cases
from tests.fair.bank.serving import KEYS, grant, make_bank, served, token
from tiebreak.fair.bank.schema import Role, open_bank
from tiebreak.fair.server.app import create_app
from tiebreak.fair.server.settings import Settings

Call = Callable[..., httpx.Response]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    grant(make_bank(tmp_path / "bank.db", 9), "example.org", 9)
    return Settings(str(tmp_path / "bank.db"), KEYS, durable=False)


@pytest.fixture
def address(settings: Settings) -> Iterator[str]:
    with served(settings) as address:
        yield address


def generated(address: str, token: str) -> dict[str, Call]:
    """A client as generators make it: a function per operation, which shows what its scheme says.

    Arguments go where the document has them: path, query, header, and `body`.
    """
    document = httpx.get(f"{address}/openapi.json", trust_env=False).json()
    schemes = document["components"].get("securitySchemes", {})

    def secured(operation: dict[str, Any]) -> dict[str, str]:
        wanted = operation.get("security", document.get("security", []))
        kinds = [schemes[name] for scheme in wanted for name in scheme]
        bearer = any(kind["type"] == "http" and kind["scheme"] == "bearer" for kind in kinds)
        return {"Authorization": f"Bearer {token}"} if bearer else {}

    def function(method: str, path: str, operation: dict[str, Any]) -> Call:
        def call(body: object = None, **given: str) -> httpx.Response:
            places: dict[str, dict[str, str]] = {"path": {}, "header": {}, "query": {}}
            for parameter in operation.get("parameters", ()):
                name = parameter["name"]
                if (value := given.pop(name.replace("-", "_").lower(), None)) is not None:
                    places[parameter["in"]][name] = value
            assert not given
            return httpx.request(
                method,
                address + path.format(**places["path"]),
                params=places["query"],
                json=body,
                headers=places["header"] | secured(operation),
                trust_env=False,
            )

        return call

    return {
        f"{method} {path}": function(method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


@pytest.mark.slow
def test_a_generated_client_takes_an_exam(settings: Settings, address: str) -> None:
    engine = open_bank(settings.bank)
    api = generated(address, token(engine))
    made = api["post /sessions"](body={"k": 2, "model": "m"}, idempotency_key="k")
    assert made.status_code == 201, made.text
    session = made.json()["id"]
    for k in ("1", "2"):
        asked = api["get /sessions/{session}/questions/{k}"](session=session, k=k)
        assert asked.json()["position"] == int(k)
        put = api["put /sessions/{session}/answers/{k}"]
        assert put(session=session, k=k, body={"answer": "x"}).status_code == 200
    assert api["get /sessions/{session}"](session=session).json()["state"] == "complete"
    organiser = generated(address, token(engine, role="admin"))
    quota = organiser["put /quotas/{institution}"]
    assert quota(institution="x", body={"granted": 3}).json()["granted"] == 3


@pytest.mark.slow
@pytest.mark.parametrize(("role", "status"), [("examinee", 403), ("admin", 404)])
def test_whoever_shows_nothing_is_told_to(
    settings: Settings, address: str, role: Role, status: int
) -> None:
    """The scheme is described; who is refused, and how, is the gate's matter as before."""
    path = f"{address}/tokens/{'0' * 32}"
    bare = httpx.delete(path, trust_env=False)
    assert (bare.status_code, bare.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert "send it once" in bare.json()["detail"]
    shown = {"Authorization": f"bearer {token(open_bank(settings.bank), role=role)}"}
    assert httpx.delete(path, headers=shown, trust_env=False).status_code == status


def test_what_needs_a_token(settings: Settings) -> None:
    document = create_app(settings).openapi()
    [(name, scheme)] = document["components"]["securitySchemes"].items()
    assert (scheme["type"], scheme["scheme"], scheme["bearerFormat"]) == ("http", "bearer", "JWT")
    open_to_all = [
        (method, path)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if operation.get("security") != [{name: []}]
    ]
    assert open_to_all == [("get", "/health")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "status", "to"), cases(__file__, "no address leads to whatever host is named")
)
def test_no_address_leads_to_whatever_host_is_named(
    address: str, path: str, status: int, to: str | None
) -> None:
    reply = httpx.get(address + path, headers={"Host": "evil.example"}, trust_env=False)
    assert (reply.status_code, reply.headers.get("Location")) == (status, to)
