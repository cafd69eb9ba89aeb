"""Requests without a token that holds are counted; they add no row each to what only grows."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import Engine, func, select

from tests.fair.bank.serving import KEYS, client, make_bank, served, token
from tiebreak.fair.bank.schema import ACCESS_LOG, STRANGERS, open_bank
from tiebreak.fair.server.settings import Settings
from tiebreak.fair.server.writer import Line, Writer

PATHS = ("/health", "/nowhere", "/openapi.json", "/organiser", f"/sessions/{'0' * 32}", "/%00")
TIMES = 50


def line(address: str, at: str = "2026-11-25T20:00:01.000+00:00", user: str | None = None) -> Line:
    about = {"session": None, "method": "GET", "path": "/", "status": 401, "request": "r"}
    return {"at": at, "user": user, "address": address, **about}


def write(writer: Writer, lines: list[Line]) -> None:
    async def all_of_them() -> None:
        await asyncio.gather(*map(writer.log, lines))

    asyncio.run(all_of_them())


def strangers_of(engine: Engine) -> list[tuple[str, str, int]]:
    """Minute, address and number, the last minute first."""
    s = STRANGERS.c
    with engine.connect() as connection:
        found = connection.execute(select(STRANGERS).order_by(s.minute.desc(), s.address))
        return [tuple(row) for row in found]


def rows_of_log(engine: Engine) -> int:
    with engine.connect() as connection:
        return connection.execute(select(func.count()).select_from(ACCESS_LOG)).scalar_one()


def test_by_address_and_minute(engine: Engine) -> None:
    """In both databases, and by two processes, of which each has a writer."""
    later = "2026-11-25T20:01:00.000+00:00"
    given = [line("::1")] * 3 + [line("::2"), line("::1", later), line("::1", later, "ada")]
    for writer in (Writer(engine), Writer(engine)):
        write(writer, given)
        writer.close()
    assert strangers_of(engine) == [
        ("2026-11-25T20:01", "::1", 2),
        ("2026-11-25T20:00", "::1", 6),
        ("2026-11-25T20:00", "::2", 2),
    ]
    assert rows_of_log(engine) == 2


def test_addresses_without_number_are_counted_together(tmp_path: Path) -> None:
    """Who has a net of addresses may have a row for a hundred in a minute."""
    engine = open_bank(tmp_path / "bank.db", create=True)
    writer = Writer(engine)
    for minute in ("20:00", "20:01"):
        at = f"2026-11-25T{minute}:00.000+00:00"
        write(writer, [line(f"10.0.{k // 250}.{k % 250}", at) for k in range(1_000)])
    writer.close()
    found = strangers_of(engine)
    assert Counter(minute for minute, _, _ in found) == {
        "2026-11-25T20:00": 101,
        "2026-11-25T20:01": 101,
    }
    assert [n for _, address, n in found if address == "others"] == [900, 900]


@pytest.mark.slow
def test_the_log_does_not_grow(tmp_path: Path) -> None:
    engine = make_bank(tmp_path / "bank.db", 9)
    many = "100000/second"
    settings = Settings(str(tmp_path / "bank.db"), KEYS, stranger_rate=many, durable=False)
    with served(settings) as address, client(address, "a.b.c") as nobody:
        for _ in range(TIMES):
            for path in PATHS:
                assert nobody.get(path).status_code < 500
        assert rows_of_log(engine) == 0
        found = strangers_of(engine)
        assert {host for _, host, _ in found} == {"127.0.0.1"}
        assert sum(n for _, _, n in found) == TIMES * len(PATHS)
        assert len(found) == len({minute for minute, _, _ in found})
        with client(address, token(engine, role="admin")) as admin:
            assert admin.delete(f"/tokens/{'0' * 32}").status_code == 404
            shown = {"Cookie": f"tiebreak_organiser={token(engine, role='admin')}"}
            page = admin.get("/organiser/log", headers=shown).text
    assert rows_of_log(engine) == 2
    assert f"{TIMES * len(PATHS)} requests without a token" in page
