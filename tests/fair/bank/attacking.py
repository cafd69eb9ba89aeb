"""A server that is attacked over real HTTP, and what it says."""

import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import Engine, func, insert, select

from tests.fair.bank.serving import KEYS, rows, served
from tiebreak.fair.bank.quotas import grant
from tiebreak.fair.bank.schema import ACCESS_LOG, QUESTIONS, STRANGERS, open_bank
from tiebreak.fair.server.settings import Settings

PRIVATE = ("uuid", "raw_uuid", "answer", "hint", "source", "parent", "made_by")
"""What nobody who is examined may learn of a question."""
N_QUESTIONS = 300


class Place:
    """A served bank, and everything that it ever said."""

    def __init__(self, engine: Engine, address: str) -> None:
        self.engine = engine
        self.address = address
        self.replies: list[httpx.Response] = []
        self.beside: list[bytes] = []
        """What others than `client` got."""

    def client(self, token: str) -> httpx.Client:
        """Somebody who shows a token, and whose replies are kept."""
        return httpx.Client(
            base_url=self.address,
            # Reading certificates takes longer than all that is asked for.
            verify=False,
            headers={"Authorization": f"Bearer {token}"},
            event_hooks={"response": [self._keep]},
        )

    def _keep(self, reply: httpx.Response) -> None:
        reply.read()
        self.replies.append(reply)

    def said(self) -> bytes:
        """All bytes of all replies, with their headers."""
        parts = [part for reply in self.replies for pair in reply.headers.raw for part in pair]
        return b"\n".join([*parts, *self.beside, *(reply.content for reply in self.replies)])


def secretive(n: int) -> list[dict[str, Any]]:
    """Questions of which everything private is a text of its own."""
    return [row | {name: secrets.token_hex(12) for name in PRIVATE} for row in rows(n)]


@contextmanager
def attacked(path: Path) -> Iterator[Place]:
    """A bank that is served; when the server has ended, all that it said is looked through.

    No secret of a question is in it; the access log has a line for everything that showed a token,
    and all else is counted.
    """
    engine = open_bank(path, create=True)
    questions = secretive(N_QUESTIONS)
    with engine.begin() as connection:
        connection.execute(insert(QUESTIONS), questions)
    for institution in ("example.org", "example.net"):
        grant(engine, institution, N_QUESTIONS)
    settings = Settings(str(engine.url.database), keys=KEYS, stranger_rate="10000/second")
    with served(settings) as address:
        place = Place(engine, address)
        yield place
    said = place.said()
    assert [row[name] for row in questions for name in PRIVATE if row[name].encode() in said] == []
    lines = select(ACCESS_LOG.c.request, ACCESS_LOG.c.method, ACCESS_LOG.c.status)
    with engine.connect() as connection:
        logged = {line.request: (line.method, line.status) for line in connection.execute(lines)}
    replied = {
        reply.headers["X-Request-Id"]: (reply.request.method, reply.status_code)
        for reply in place.replies
    }
    with engine.connect() as connection:
        counted = connection.execute(select(func.sum(STRANGERS.c.n))).scalar_one()
    unlogged = replied.keys() - logged.keys()
    assert {request: logged[request] for request in replied.keys() - unlogged} == {
        request: replied[request] for request in replied.keys() - unlogged
    }
    # What shows no token that holds is counted; these are replies that nobody gets without one.
    assert len(unlogged) <= counted
    assert not {201, 204, 403, 409} & {replied[request][1] for request in unlogged}


def opened(by: httpx.Client, k: int = 3) -> str:
    reply = by.post("/sessions", json={"k": k, "model": "m"}, headers={"Idempotency-Key": "first"})
    assert reply.status_code == 201, reply.text
    return f"/sessions/{reply.json()['id']}"


def ask(by: httpx.Client, path: str, k: object) -> int:
    return by.get(f"{path}/questions/{k}").status_code


def answer(by: httpx.Client, path: str, k: object, text: str = "x") -> int:
    return by.put(f"{path}/answers/{k}", json={"answer": text}).status_code


def part(data: object) -> str:
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    return urlsafe_b64encode(raw).decode().rstrip("=")


def said_by(given: str) -> dict[str, Any]:
    body = given.split(".")[1]
    return dict(json.loads(urlsafe_b64decode(body + "=" * (-len(body) % 4))))
