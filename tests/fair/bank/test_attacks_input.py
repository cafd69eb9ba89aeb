"""Requests that are too large, too deep, no JSON, no HTTP, SQL, or just anything."""

import socket
import string
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import pytest
import requests
import schemathesis
import schemathesis.openapi
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import booleans
from schemathesis import CheckFunction, GenerationMode
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import positive_data_acceptance
from sqlalchemy import Engine, func, select

from tests.cases import cases
from tests.fair.bank.attacking import Place, answer, ask, opened
from tests.fair.bank.serving import token
from tiebreak.fair.bank.schema import SESSION_QUESTIONS, TABLES, Role

pytestmark = pytest.mark.slow

MOST_BODY = 256 * 1024
FEW = settings(
    max_examples=8,
    database=None,
    deadline=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)
# What is right by the schema is refused, too: of others' sessions, beyond a quota, out of turn.
NOT_HERE: list[CheckFunction] = [positive_data_acceptance]


def chunks(n: int) -> Iterator[bytes]:
    """A body whose length nobody is told beforehand."""
    yield b'{"answer": "'
    for _ in range(n // 1024):
        yield b"x" * 1024
    yield b'"}'


def test_bodies_that_are_too_large(place: Place, ada: str) -> None:
    with place.client(ada) as owner:
        path = opened(owner)
        ask(owner, path, 1)
        there, typed = f"{path}/answers/1", {"Content-Type": "application/json"}
        for n in (MOST_BODY, 4 * MOST_BODY):
            assert answer(owner, path, 1, "x" * n) == 413
            assert owner.put(there, content=chunks(n), headers=typed).status_code == 413
            # Where no body is expected, none is read either.
            assert owner.request("GET", path, content=b"x" * (n + 1)).status_code == 413
        assert owner.put(there, content=chunks(MOST_BODY - 2048), headers=typed).status_code == 200
        assert owner.get(path).json()["answered"] == 1


DEEP = 100_000
BODIES: dict[str, bytes] = {
    "nothing": b"",
    "NUL": b"\0",
    "no object": b"[]",
    "a text": b'"x"',
    "cut off": b'{"answer": "x',
    "deep lists": b"[" * DEEP,
    "deep lists that end": b'{"answer": ' + b"[" * DEEP + b"]" * DEEP + b"}",
    "deep objects": b'{"a":' * (DEEP // 3),
    "a long number": b'{"answer": ' + b"9" * 100_000 + b"}",
    "a large number": b'{"answer": 1e999999}',
    "NaN": b'{"answer": NaN}',
    "a number": b'{"answer": 1}',
    "a list": b'{"answer": ["x"]}',
    "null": b'{"answer": null}',
    "no answer": b"{}",
    "more": b'{"answer": "x", "answered": 3}',
    "a prototype": b'{"answer": "x", "__proto__": {"role": "admin"}}',
    "lone surrogate": b'{"answer": "\\ud800"}',
    "lone surrogate in a name": b'{"answer": "x", "\\udfff": 1}',
    "NUL in it": b'{"answer": "a\\u0000b"}',
    "a control character": b'{"answer": "\x01"}',
    "not UTF-8": b'{"answer": "\xff\xfe"}',
    "UTF-8 too long": b'{"answer": "\xc0\x80"}',
    "surrogates as UTF-8": b'{"answer": "\xed\xa0\x80"}',
    "two texts": b'{"answer": "x"}{"answer": "y"}',
    "a form": b"answer=x",
    "XML": b'<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>',
}
TYPES = ("application/json", "text/plain", "application/x-www-form-urlencoded", "multipart/x", "")


@pytest.mark.parametrize("name", BODIES)
def test_bodies_that_are_none(place: Place, ada: str, name: str) -> None:
    with place.client(ada) as owner:
        path = opened(owner)
        ask(owner, path, 1)
        for kind in TYPES if len(BODIES[name]) < 1000 else TYPES[:1]:
            typed = {"Content-Type": kind} if kind else {}
            for there in (f"{path}/answers/1", "/sessions"):
                method = "PUT" if "answers" in there else "POST"
                headers = {"Idempotency-Key": "x"} | typed
                reply = owner.request(method, there, content=BODIES[name], headers=headers)
                assert reply.status_code in (400, 422), reply.text
                assert list(reply.json()) == ["detail"]
                assert len(reply.content) < 2000
        assert owner.get(path).json()["answered"] == 0


TEXTS = cases(__file__, "texts")


def counts(engine: Engine) -> dict[str, int]:
    with engine.connect() as connection:
        return {
            name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for name, table in TABLES.tables.items()
        }


@pytest.mark.parametrize("text", TEXTS)
def test_texts_are_nothing_but_texts(place: Place, ada: str, text: str) -> None:
    before = counts(place.engine)
    nobody = {"user": text, "institution": text, "role": "examinee"}
    fine = text.isprintable()
    with place.client(token(place.engine, role="admin")) as admin:
        assert admin.post("/tokens", json=nobody).status_code == (201 if fine else 422)
        there = f"/quotas/{quote(text, safe='')}"
        granted = admin.put(there, json={"granted": 4}).status_code
        # A server cannot tell an escaped / in an address from one that is none.
        assert granted == (404 if "/" in text or not fine else 200)
        for path in ("/sessions/{}", "/sessions/{}/close", "/tokens/{}"):
            for method in ("GET", "POST", "DELETE"):
                place_of = path.format(quote(text, safe=""))
                assert admin.request(method, place_of).status_code in (404, 405)
    with place.client(ada) as owner:
        wanted = {"k": 1, "model": text if fine else "m"}
        key = "".join(sign for sign in text if sign in string.ascii_letters + "';-\"<>%$") or "key"
        reply = owner.post("/sessions", json=wanted, headers={"Idempotency-Key": key})
        assert (reply.status_code, reply.json()["model"]) == (201, wanted["model"])
        session = reply.json()["id"]
        assert ask(owner, f"/sessions/{session}", 1) == 200
        assert answer(owner, f"/sessions/{session}", 1, text) == 200
    with place.engine.connect() as connection:
        mine = SESSION_QUESTIONS.c.session == session
        assert connection.execute(select(SESSION_QUESTIONS.c.answer).where(mine)).scalar() == text
    grown = {"sessions": 1, "session_questions": 1, "seen": 1, "tokens": 1 + fine}
    grown["quotas"] = int(granted == 200)
    after = counts(place.engine)
    del before["access_log"]
    assert {name: after[name] - before[name] for name in before} == before | {
        name: grown.get(name, 0) for name in before
    }


LINE = "GET /health HTTP/1.1\r\nHost: x\r\n"
RAW: dict[str, bytes] = {
    "many headers": (LINE + "".join(f"X-{n}: {n}\r\n" for n in range(20_000)) + "\r\n").encode(),
    "a long header": (LINE + f"X: {'x' * 200_000}\r\n\r\n").encode(),
    "a long address": f"GET /{'x' * 200_000} HTTP/1.1\r\nHost: x\r\n\r\n".encode(),
    "a length that is none": (LINE + "Content-Length: \xb2\r\n\r\n").encode("latin-1"),
    "a negative length": (LINE + "Content-Length: -1\r\n\r\n").encode(),
    "two lengths": (LINE + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx").encode(),
    "length and chunks": (
        LINE + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
    ).encode(),
    "a chunk that is none": (LINE + "Transfer-Encoding: chunked\r\n\r\nzz\r\n").encode(),
    "NUL in a header": (LINE + "X: a\0b\r\n\r\n").encode(),
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20 + b"\r\n\r\n",
}


@pytest.mark.parametrize("name", RAW)
def test_what_is_no_request_is_refused_and_the_server_goes_on(place: Place, name: str) -> None:
    where = urlsplit(place.address)
    with socket.create_connection((str(where.hostname), int(where.port or 0)), timeout=120) as wire:
        try:
            wire.sendall(RAW[name])
            said = wire.recv(100)
        except (BrokenPipeError, ConnectionResetError):
            said = b""
    assert not said or said.startswith(b"HTTP/1.1 4"), said
    assert httpx.get(f"{place.address}/health").status_code == 200


@pytest.mark.parametrize("role", ["examinee", "admin"])
def test_whatever_the_schema_allows_is_answered_as_it_says(place: Place, role: Role) -> None:
    """Made-up requests to every route, right ones and wrong ones, of some session that there is."""
    everything = schemathesis.openapi.from_url(f"{place.address}/openapi.json")
    shown = token(place.engine, user="made up", role=role)
    with place.client(token(place.engine, user="made up")) as owner:
        key = {"Idempotency-Key": role}
        session = owner.post("/sessions", json={"k": 3, "model": "m"}, headers=key).json()["id"]
    statuses: Counter[int] = Counter()

    def send(case: schemathesis.Case[Any], known: bool) -> None:
        if known and "session" in case.path_parameters:
            case.path_parameters["session"] = session
        headers = {"Authorization": f"Bearer {shown}"}
        reply = case.call(session=wire, headers=headers)
        case.validate_response(reply, headers=headers, excluded_checks=NOT_HERE)
        place.beside.append(reply.content)
        statuses[reply.status_code] += 1

    with requests.Session() as wire:
        for operation in everything.get_all_operations():
            assert isinstance(operation, Ok)
            found = operation.ok()
            # Nothing can be wrong with a request that takes nothing.
            takes = [*found.iter_parameters(), *found.body]
            for mode in GenerationMode if takes else (GenerationMode.POSITIVE,):
                cases = found.as_strategy(generation_mode=mode)
                tried = given(cases, booleans())(send)
                seed(1)(settings(FEW)(tried))()
    assert len(statuses) > 4, statuses
    assert max(statuses) < 500
