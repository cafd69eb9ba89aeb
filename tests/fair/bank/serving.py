"""A bank of plain questions, and its server on loopback, in a thread of the test."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import Engine, insert

from tests.harness import serving
from tiebreak.fair.bank.quotas import grant
from tiebreak.fair.bank.schema import QUESTIONS, Role, open_bank
from tiebreak.fair.bank.tokens import Keys, issue
from tiebreak.fair.server.app import create_app, options_of
from tiebreak.fair.server.settings import Settings

KEYS = Keys("HS256", "a secret of the tests, 32 bytes long", "a secret of the tests, 32 bytes long")
PRIVATE_TEXT = "NOBODY MAY SEE"
"""Stands in every key and hint."""


def rows(n: int, *, siblings: int = 1) -> list[dict[str, Any]]:
    """Questions of four categories; `siblings` of them have one original."""
    return [
        {
            "uuid": f"q{number:06}",
            "raw_uuid": f"r{number // siblings:06}",
            "category": f"category {number // siblings % 4}",
            "sub_category": "",
            "type": "short_answer",
            "question": f"What is {number} + 1?",
            "answer": f"{number + 1} {PRIVATE_TEXT}",
            "hint": PRIVATE_TEXT,
            "options": [],
            "source": "",
            "date": "",
            "status": "approved",
            "parent": "",
            "made_by": "",
            "digest": str(number),
            "signature": b"",
            "import_id": 1,
        }
        for number in range(n)
    ]


def make_bank(url: str | Path, n: int, *, siblings: int = 1) -> Engine:
    engine = open_bank(url, create=True)
    with engine.begin() as connection:
        connection.execute(insert(QUESTIONS), rows(n, siblings=siblings))
    return engine


def token(
    engine: Engine,
    user: str = "ada",
    institution: str = "example.org",
    role: Role = "examinee",
    **more: Any,
) -> str:
    given = {"lifetime": timedelta(hours=1), **more}
    return issue(engine, KEYS, user=user, institution=institution, role=role, **given)


def client(address: str, token: str) -> httpx.Client:
    # Certificates take a tenth of a second to load, and nothing here is behind TLS.
    bearer = {"Authorization": f"Bearer {token}"}
    return httpx.Client(base_url=address, headers=bearer, verify=False, trust_env=False)


@contextmanager
def served(settings: Settings, proxy: str | None = None) -> Iterator[str]:
    """The address of a server that runs meanwhile."""
    with serving(create_app(settings), **options_of(proxy)) as address:
        yield address


__all__ = ["KEYS", "PRIVATE_TEXT", "client", "grant", "make_bank", "rows", "served", "token"]
