"""Four worker processes are asked for more than there is, all at once; and a server is killed."""

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, func, insert, select

from tests.fair.bank.processes import Served, serving
from tests.fair.bank.serving import rows, token
from tiebreak.fair.bank.quotas import grant, quota_of
from tiebreak.fair.bank.schema import QUESTIONS, SEEN, SESSION_QUESTIONS, SESSIONS

pytestmark = pytest.mark.slow

N_QUESTIONS = 3_000
GRANTED, K, REQUESTS, USERS = 300, 3, 1_000, 25
N = 40


@pytest.fixture
def bank(engine: Engine) -> Engine:
    """3,000 questions, three of each original, in either database."""
    with engine.begin() as connection:
        connection.execute(insert(QUESTIONS), rows(N_QUESTIONS, siblings=3))
    return engine


Reply = tuple[int, dict[str, Any]]


def all_at_once(server: Served, requests: list[tuple[str, str]]) -> list[Reply]:
    """Status and body of POST /sessions for tokens and keys, over as many open connections.

    A server that is busy (503) is asked again.
    """

    async def one(wire: tuple[asyncio.StreamReader, asyncio.StreamWriter], text: bytes) -> Reply:
        reader, writer = wire
        writer.write(text)
        said = await reader.read()
        writer.close()
        head, _, body = said.partition(b"\r\n\r\n")
        return int(head.split()[1]), json.loads(body)

    async def send(texts: list[bytes]) -> list[Reply]:
        place = ("127.0.0.1", server.port)
        wires = [await asyncio.open_connection(*place) for _ in texts]
        return list(await asyncio.gather(*map(one, wires, texts)))

    body = json.dumps({"k": K, "model": "m"})
    texts = [
        f"POST /sessions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nIdempotency-Key: {key}\r\n"
        f"Authorization: Bearer {shown}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
        for shown, key in requests
    ]
    found: list[Reply] = [(503, {}) for _ in texts]
    while busy := [n for n, (status, _) in enumerate(found) if status == 503]:
        for n, reply in zip(busy, asyncio.run(send([texts[n] for n in busy])), strict=True):
            found[n] = reply
    return found


def one_of_many(server: Served, engine: Engine) -> None:
    """A token has one session, asked for with many keys at once, or with one key many times."""
    many, same = (token(engine, user=user, institution="example.net") for user in ("many", "same"))
    replies = all_at_once(server, [(many, f"key-{n}") for n in range(N)])
    statuses = Counter(201 if status == 200 else status for status, _ in replies)
    assert statuses == {201: 1, 409: N - 1}
    replies = all_at_once(server, [(same, "key") for _ in range(N)])
    assert {status for status, _ in replies} <= {200, 201}
    assert len({body["id"] for _, body in replies}) == 1
    with engine.connect() as connection:
        assert connection.execute(select(func.count()).select_from(SESSIONS)).scalar_one() == 2
        assert quota_of(connection, "example.net").allocated == 2 * K


def test_four_workers_give_no_more_than_there_is(
    bank: Engine, bank_url: str, tmp_path: Path
) -> None:
    """1,000 tokens want three questions each at once, and there are 300 for their institution."""
    grant(bank, "example.net", GRANTED)
    grant(bank, "example.org", GRANTED)
    shown = [token(bank, user=f"user {n % USERS}") for n in range(REQUESTS)]
    with serving(bank_url, tmp_path, workers=4) as server:
        one_of_many(server, bank)
        replies = all_at_once(server, [(one, f"key-{n}") for n, one in enumerate(shown)])
    # 200: made before, by a request that the busy server did not answer well.
    statuses = Counter(201 if status == 200 else status for status, _ in replies)
    assert statuses == {201: GRANTED // K, 403: REQUESTS - GRANTED // K}
    assert len({body.get("id") for _, body in replies}) == GRANTED // K + 1
    here = SEEN.c.institution == "example.org"
    theirs = select(SESSION_QUESTIONS.c.uuid, SESSION_QUESTIONS.c.raw_uuid)
    theirs = theirs.join(SESSIONS).where(SESSIONS.c.institution == "example.org")
    with bank.connect() as connection:
        quota = quota_of(connection, "example.org")
        given = connection.execute(theirs).all()
        seen = connection.execute(select(SEEN.c.uuid).where(here)).scalars().all()
    assert (quota.granted, quota.allocated, quota.pending) == (GRANTED,) * 3
    assert {row.uuid for row in given} == set(seen)
    assert len(given) == len(seen) == len({row.raw_uuid for row in given}) == GRANTED
