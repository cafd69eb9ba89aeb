"""How many requests are answered: of a token, of an address, of strangers; slow bodies."""

import socket
from collections import Counter
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from click.testing import CliRunner
from sqlalchemy import func, select

from tests.fair.bank.serving import KEYS, client, make_bank, served, token
from tiebreak.cli.verbs import main
from tiebreak.fair.bank.schema import ACCESS_LOG, STRANGERS, open_bank
from tiebreak.fair.server.settings import Settings

pytestmark = pytest.mark.slow


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    make_bank(tmp_path / "bank.db", 20)
    many = "100000/minute"
    return Settings(
        str(tmp_path / "bank.db"),
        KEYS,
        token_rate=many,
        address_rate=many,
        stranger_rate=many,
        durable=False,
    )


def statuses(user: httpx.Client, n: int, path: str = "/sessions/" + "0" * 32) -> Counter[int]:
    # Whoever is counted by what a client says of itself could come as often as it likes.
    return Counter(
        user.get(path, headers={"X-Forwarded-For": f"10.0.0.{number}"}).status_code
        for number in range(n)
    )


def test_of_a_token(settings: Settings) -> None:
    engine = open_bank(settings.bank)
    with (
        served(replace(settings, token_rate="5/year")) as address,
        client(address, token(engine)) as ada,
        client(address, token(engine, "ben")) as ben,
    ):
        assert statuses(ada, 8) == {404: 5, 429: 3}
        assert ada.get("/health").status_code == 200
        assert statuses(ben, 2) == {404: 2}


def test_of_strangers(settings: Settings) -> None:
    engine = open_bank(settings.bank)
    with (
        served(replace(settings, stranger_rate="5/year")) as address,
        client(address, "a.b.c") as stranger,
        client(address, token(engine)) as ada,
    ):
        assert statuses(stranger, 8) == {401: 5, 429: 3}
        assert statuses(ada, 2) == {404: 2}


def test_of_an_address(settings: Settings) -> None:
    engine = open_bank(settings.bank)
    with (
        served(replace(settings, address_rate="5/year")) as address,
        client(address, token(engine)) as ada,
    ):
        assert statuses(ada, 8) == {404: 5, 429: 3}
        refused = ada.get("/health")
        assert refused.status_code == 429
        assert refused.headers["Retry-After"] == "1"
    with engine.connect() as connection:
        found = connection.execute(select(ACCESS_LOG.c.address, ACCESS_LOG.c.status)).all()
        counted = connection.execute(select(STRANGERS.c.address, func.sum(STRANGERS.c.n))).all()
    assert Counter(map(tuple, found)) == {("127.0.0.1", 404): 5}
    # An address that asks too often is refused before anybody looks at its token.
    assert list(map(tuple, counted)) == [("127.0.0.1", 4)]


def test_a_body_that_does_not_come(settings: Settings) -> None:
    key = token(open_bank(settings.bank))
    with served(replace(settings, body_timeout=0.3)) as address:
        place = urlsplit(address)
        with socket.create_connection((place.hostname or "", place.port or 0), 120) as slow:
            head = f"POST /sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
            slow.sendall(f"{head}Content-Length: 50\r\n\r\n{{".encode())
            assert slow.recv(100).startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize(("proxy", "address"), [(None, "127.0.0.1"), ("127.0.0.1", "10.9.8.7")])
def test_whom_the_server_believes(settings: Settings, proxy: str | None, address: str) -> None:
    """Without --proxy nobody, whoever is on this machine; and its help says so."""
    engine = open_bank(settings.bank)
    with served(settings, proxy) as place, client(place, token(engine)) as ada:
        ada.get(f"/sessions/{'0' * 32}", headers={"X-Forwarded-For": "10.9.8.7"})
    with engine.connect() as connection:
        assert connection.execute(select(ACCESS_LOG.c.address)).scalars().all() == [address]
    said = " ".join(CliRunner().invoke(main, ["bank", "serve", "--help"]).output.split())
    assert "are believed, with commas between them. [default: none]" in said
