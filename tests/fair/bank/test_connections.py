"""Connections that say nothing, or half a request: the server answers all others meanwhile."""

import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.fair.bank.processes import WAIT, Served, serving
from tests.fair.bank.serving import KEYS, client, grant, make_bank, served, token
from tiebreak.fair.bank.schema import open_bank
from tiebreak.fair.server import app
from tiebreak.fair.server.settings import Settings

pytestmark = pytest.mark.slow

HELD = 2_000
DESCRIPTORS = 1_024
AT_ONCE = 50
N_QUESTIONS = 6
WORDS = {
    "nothing": b"",
    "half a line": b"GET /hea",
    "half of the headers": b"GET /health HTTP/1.1\r\nX: ",
    "half of a body": b"POST /sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{",
}


@pytest.fixture
def many_sockets() -> Iterator[None]:
    """Descriptors for both ends of what a test holds."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = HELD + 500
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"needs {wanted} descriptors, and {hard} are allowed")
    if soft != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def connected(address: str, words: bytes) -> socket.socket:
    """A connection that has said something, and will say no more."""
    place = urlsplit(address)
    held = socket.create_connection((place.hostname or "", place.port or 0), WAIT)
    with suppress(OSError):  # it may be ended already, for those that came after
        held.sendall(words)
    return held


def is_ended(held: socket.socket) -> bool:
    """Whether the server has ended a connection, as far as is known by now."""
    held.setblocking(False)
    try:
        return not held.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        return True


def healthy(address: str) -> bool:
    return (
        httpx.get(f"{address}/health", timeout=WAIT, trust_env=False, verify=False).status_code
        == 200
    )


def examine(server: Served, given: str) -> Iterator[int]:
    """An honest session, question by question, each on a connection of its own."""
    wanted = {"k": N_QUESTIONS, "model": "m"}
    with client(server.address, given) as ada:
        made = ada.post("/sessions", json=wanted, headers={"Idempotency-Key": "k"}, timeout=WAIT)
    path = f"/sessions/{made.json()['id']}"
    for k in range(1, N_QUESTIONS + 1):
        with client(server.address, given) as ada:
            assert ada.get(f"{path}/questions/{k}", timeout=WAIT).status_code == 200
            reply = ada.put(f"{path}/answers/{k}", json={"answer": "x"}, timeout=WAIT)
        assert reply.status_code == 200
        yield k


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_who_holds_connections_stops_nobody(
    tmp_path: Path, words: bytes, many_sockets: None
) -> None:
    engine = make_bank(tmp_path / "bank.db", 20)
    grant(engine, "example.org", 20)
    given = token(engine)
    bank = str(tmp_path / "bank.db")
    with serving(bank, tmp_path, descriptors=DESCRIPTORS) as server, ExitStack() as stack:
        held: list[socket.socket] = []
        while len(held) < HELD:
            held += [stack.enter_context(connected(server.address, words)) for _ in range(AT_ONCE)]
            assert healthy(server.address)
        for k in examine(server, given):
            # Whoever was thrown out comes again.
            ended = [number for number, each in enumerate(held) if is_ended(each)]
            for number in ended[:AT_ONCE]:
                held[number].close()
                held[number] = stack.enter_context(connected(server.address, words))
            assert healthy(server.address), k
        assert sum(not is_ended(each) for each in held) <= DESCRIPTORS
    assert server.log.stat().st_size < 10_000


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server that waits for headers a quarter of a second, and keeps three connections."""
    monkeypatch.setattr(app, "HEADERS_WITHIN", 0.25)
    monkeypatch.setattr(app, "most_connections", lambda: 3)
    open_bank(tmp_path / "bank.db", create=True)
    with served(Settings(str(tmp_path / "bank.db"), KEYS, durable=False)) as address:
        yield address


ASKED = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize("before", [b"", ASKED], ids=["first", "second"])
@pytest.mark.parametrize("words", [WORDS["half a line"], WORDS["half of the headers"]])
def test_headers_that_do_not_come(address: str, before: bytes, words: bytes) -> None:
    with connected(address, before + words) as held:
        parts = []
        while part := held.recv(10_000):  # nothing once the server has ended it
            parts.append(part)
    said = b"".join(parts)
    assert said.count(b"HTTP/1.1 200") == (1 if before else 0)


def test_headers_that_come_drop_by_drop(address: str) -> None:
    with connected(address, WORDS["half of the headers"]) as held:
        for _ in range(6_000):
            with suppress(OSError):
                held.send(b"x")
            time.sleep(0.02)
            if is_ended(held):
                return
    pytest.fail("two minutes of drops, where headers may take a quarter of a second")


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_the_longest_wait_makes_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: bytes
) -> None:
    monkeypatch.setattr(app, "HEADERS_WITHIN", 600)
    monkeypatch.setattr(app, "most_connections", lambda: 3)
    open_bank(tmp_path / "bank.db", create=True)
    settings = Settings(str(tmp_path / "bank.db"), KEYS, durable=False)
    with served(settings) as address, ExitStack() as stack:
        held = [stack.enter_context(connected(address, words)) for _ in range(10)]
        assert healthy(address)
        for each in held[:8]:
            with suppress(ConnectionResetError):
                assert each.recv(1) == b""
        assert [is_ended(each) for each in held[8:]] == [False, False]


@pytest.mark.parametrize(
    ("soft", "most"), [(1024, 512), (256, 128), (65_536, 1000), (resource.RLIM_INFINITY, 1000)]
)
def test_descriptors_are_left(soft: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (soft, soft))
    assert app.most_connections() == most
    assert 5 * app.options_of()["backlog"] < soft // 2 or soft == resource.RLIM_INFINITY
