"""A server that is killed again and again while sessions are answered loses and repeats nothing."""

import random
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, insert, select

from tests.fair.bank.processes import Served, serving
from tests.fair.bank.serving import rows, token
from tiebreak.fair.bank.quotas import grant, quota_of
from tiebreak.fair.bank.schema import QUESTIONS, SEEN, SESSION_QUESTIONS, SESSIONS

pytestmark = pytest.mark.slow

SESSIONS_AT_ONCE, K, KILLS = 12, 25, 3


class Examinee(threading.Thread):
    """Answers a session to its end, whatever happens to the server, and notes what it was told."""

    def __init__(self, server: Served, shown: str, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self.server, self.shown = server, shown
        self.session = ""
        self.asked: dict[int, dict[str, Any]] = {}
        self.acknowledged: dict[int, str] = {}
        self.faults: list[str] = []
        self.lost = 0

    def run(self) -> None:
        headers = {"Authorization": f"Bearer {self.shown}"}
        with httpx.Client(
            base_url=self.server.address, headers=headers, timeout=20, verify=False
        ) as self.client:
            wanted = {"json": {"k": K, "model": "m"}, "headers": {"Idempotency-Key": self.name}}
            self.session = self._until_told("POST", "/sessions", **wanted)["id"]
            for k in range(1, K + 1):
                path = f"/sessions/{self.session}"
                given = [self._until_told("GET", f"{path}/questions/{k}") for _ in range(2)]
                self.asked[k] = given[0]
                if given[0] != given[1]:
                    self.faults.append(f"question {k} changed")
                text = f"{self.name}: {k}"
                self._until_told("PUT", f"{path}/answers/{k}", json={"answer": text})
                self.acknowledged[k] = text
                time.sleep(0.02)

    def _until_told(self, method: str, path: str, **more: Any) -> dict[str, Any]:
        while True:
            try:
                reply = self.client.request(method, path, **more)
            except httpx.HTTPError:
                self.lost += 1
                time.sleep(0.1)
                continue
            if reply.status_code < 300:
                return dict(reply.json())
            if reply.status_code != 503:
                self.faults.append(f"{method} {path}: {reply.status_code} {reply.text}")


def test_nothing_is_lost_and_nothing_given_twice(
    engine: Engine, bank_url: str, tmp_path: Path
) -> None:
    rng = random.Random(7)
    with engine.begin() as connection:
        connection.execute(insert(QUESTIONS), rows(2 * SESSIONS_AT_ONCE * K))
    grant(engine, "example.org", SESSIONS_AT_ONCE * K)
    with serving(bank_url, tmp_path) as server:
        there = [
            Examinee(server, token(engine, user=f"user-{n}"), f"user-{n}")
            for n in range(SESSIONS_AT_ONCE)
        ]
        for examinee in there:
            examinee.start()
        for n in range(1, KILLS + 1):
            # Once a part of all answers is there, at no moment in particular.
            while sum(len(one.acknowledged) for one in there) < n * SESSIONS_AT_ONCE * K // 5:
                time.sleep(0.005)
            time.sleep(rng.uniform(0, 0.1))
            server.kill()
            kept = {one.name: dict(one.acknowledged) for one in there}
            assert_kept(engine, kept)
            server.start()
        for examinee in there:
            examinee.join(60)
            assert not examinee.is_alive()
    assert [fault for one in there for fault in one.faults] == []
    # The server was killed while it was asked something.
    assert sum(one.lost for one in there) >= KILLS
    assert_kept(engine, {one.name: one.acknowledged for one in there})
    with engine.connect() as connection:
        states = connection.execute(select(SESSIONS.c.state, SESSIONS.c.answered)).all()
        given = connection.execute(select(SESSION_QUESTIONS.c.uuid)).scalars().all()
        seen = connection.execute(select(SEEN.c.uuid)).scalars().all()
        quota = quota_of(connection, "example.org")
    assert [tuple(row) for row in states] == [("complete", K)] * SESSIONS_AT_ONCE
    assert len(given) == len(set(given)) == SESSIONS_AT_ONCE * K
    assert sorted(given) == sorted(seen)
    assert (quota.granted, quota.allocated, quota.completed) == (SESSIONS_AT_ONCE * K,) * 3
    texts = [asked["question"] for one in there for asked in one.asked.values()]
    assert len(texts) == len(set(texts)) == SESSIONS_AT_ONCE * K


def assert_kept(engine: Engine, acknowledged: dict[str, dict[int, str]]) -> None:
    """That the bank has every answer of which somebody was told that it is kept."""
    p = SESSION_QUESTIONS.c
    answers = select(SESSIONS.c.user, p.position, p.answer).join_from(SESSION_QUESTIONS, SESSIONS)
    with engine.connect() as connection:
        found = {(row.user, row.position): row.answer for row in connection.execute(answers)}
    for user, texts in acknowledged.items():
        assert {k: found[user, k] for k in texts} == texts
