from pathlib import Path

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import IntegrityError

from tiebreak.fair.bank.schema import open_bank

LINE = (
    "(id, at, user, method, path, status, address, request) "
    "VALUES (1, '2026-11-23', 'ann', 'GET', '/health', 200, '::1', 'r')"
)


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    engine = open_bank(tmp_path / "bank.db", create=True)
    with engine.begin() as connection:
        connection.execute(text(f"INSERT INTO access_log {LINE}"))
    return engine


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE access_log SET status = 404",
        "DELETE FROM access_log",
        f"INSERT OR REPLACE INTO access_log {LINE}",
        f"REPLACE INTO access_log {LINE}",
    ],
)
def test_the_access_log_can_only_grow(engine: Engine, change: str) -> None:
    with pytest.raises(IntegrityError, match="access_log can only grow"), engine.begin() as tried:
        tried.execute(text(change))
    with engine.connect() as connection:
        assert connection.execute(text("SELECT status FROM access_log")).scalars().all() == [200]
