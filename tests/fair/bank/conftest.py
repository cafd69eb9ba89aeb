"""Banks in both databases."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from tests.fair.bank.attacking import Place, attacked
from tests.fair.bank.builders import make_bank
from tests.fair.bank.postgres import Cluster, postgresql
from tests.fair.bank.serving import token
from tiebreak.fair.bank.schema import open_bank


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A PostgreSQL for all tests that need one."""
    with postgresql() as cluster:
        yield cluster


@pytest.fixture(params=["sqlite", "postgresql"])
def bank_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where a bank can be made: a file, then PostgreSQL's with empty tables."""
    if request.param == "sqlite":
        yield str(tmp_path / "bank.db")
    else:
        cluster: Cluster = request.getfixturevalue("cluster")
        cluster.empty()
        yield cluster.url


@pytest.fixture
def engine(bank_url: str) -> Iterator[Engine]:
    engine = open_bank(bank_url, create=True)
    yield engine
    engine.dispose()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with attacked(tmp_path_factory.mktemp("bank") / "bank.db") as place:
        yield place


@pytest.fixture
def ada(place: Place, request: pytest.FixtureRequest) -> str:
    """A token of an examinee of each test's own."""
    return token(place.engine, user=request.node.name[:128])


@pytest.fixture
def bank(tmp_path: Path) -> Engine:
    """The example's bank, in a file."""
    return make_bank(tmp_path / "bank.db")
