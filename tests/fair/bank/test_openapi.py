"""What /openapi.json says is enough to make a client of it."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.cases import cases
from tests.fair.bank.serving import KEYS, grant, make_bank, served, token
from tiebreak.fair.bank.schema import Role, open_bank
from tiebreak.fair.server.app import create_app
from tiebreak.fair.server.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    grant(make_bank(tmp_path / "bank.db", 9), "example.org", 9)
    return Settings(str(tmp_path / "bank.db"), KEYS, durable=False)


@pytest.fixture
def address(settings: Settings) -> Iterator[str]:
    with served(settings) as address:
        yield address


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
