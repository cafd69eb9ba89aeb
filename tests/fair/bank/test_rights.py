"""The bank's files are their owner's alone; who opens a wider one to write is told."""

import os
import stat
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import insert

from tests.cases import cases
from tests.fair.bank.processes import serving
from tests.fair.bank.serving import KEYS, grant, make_bank, rows
from tiebreak.cli.verbs import main
from tiebreak.fair.bank.question import Session
from tiebreak.fair.bank.schema import QUESTIONS, open_bank, writing
from tiebreak.fair.bank.sessions import Sampler, TokenHolder, create
from tiebreak.fair.bank.tokens import SECRET, issue, jti_of
from tiebreak.fair.server import envelope

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there are no such rights")


@pytest.fixture(autouse=True)
def wide_umask() -> Iterator[None]:
    envelope._LAST.clear()  # another test may have made a server, which says it once a minute
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, str]:
    return {file.name: oct(stat.S_IMODE(file.stat().st_mode)) for file in folder.iterdir()}


@pytest.mark.parametrize(
    "url", ["{}/bank.db", "sqlite:///{}/bank.db", "sqlite:///{}/bank.db?timeout=9"]
)
def test_files_of_a_new_bank(tmp_path: Path, url: str) -> None:
    engine = open_bank(url.format(tmp_path), create=True)
    with writing(engine) as connection:
        connection.execute(insert(QUESTIONS), rows(100))
        assert modes(tmp_path) == dict.fromkeys(("bank.db", "bank.db-wal", "bank.db-shm"), "0o600")


def test_a_journal(tmp_path: Path) -> None:
    engine = open_bank(tmp_path / "bank.db", create=True)
    engine.dispose()
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA journal_mode = PERSIST")
        connection.commit()
        connection.execute(insert(QUESTIONS), rows(100))
        connection.commit()
    assert modes(tmp_path)["bank.db-journal"] == "0o600"


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_a_bank_in_memory_is_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.chdir(tmp_path)
    open_bank(url, create=True)
    assert list(tmp_path.iterdir()) == []


def test_no_file_is_made_where_none_can_be(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"opened as a bank: .*--bank FILE` makes one"):
        open_bank(tmp_path / "nowhere" / "bank.db", create=True)


@pytest.mark.parametrize("line", cases(__file__, "verbs"))
@pytest.mark.parametrize(("mode", "wide"), [(0o600, False), (0o640, True), (0o602, True)])
def test_a_verb_warns_of_a_wider_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    line: str,
    mode: int,
    wide: bool,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(SECRET, KEYS.verifying)
    engine = make_bank("bank.db", 4)
    grant(engine, "example.org", 4)
    named = {"user": "ada", "institution": "example.org", "lifetime": timedelta(hours=1)}
    jti = jti_of(issue(engine, KEYS, role="examinee", **named))  # type: ignore[arg-type]
    holder = TokenHolder("example.org", "ada", jti)
    session, _ = create(engine, Sampler(engine), holder, Session(1, "m"), "key")
    engine.dispose()
    Path("bank.db").chmod(mode)
    caplog.clear()
    words = line.format(jti=jti, session=session.id).split()
    done = CliRunner().invoke(main, ["bank", *words, "--bank", "bank.db"])
    note = "Other users of this machine may use the bank's file, with its keys: chmod 600 bank.db"
    assert (note in caplog.messages) == wide, done.output


def test_companions_are_looked_at_and_names_can_be_pasted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = tmp_path / "a bank.db"
    engine = open_bank(place, create=True)
    assert caplog.messages == []
    Path(f"{place}-shm").chmod(0o644)
    open_bank(f"sqlite:///{place}").dispose()
    assert [line.rpartition(": ")[2] for line in caplog.messages] == [f"chmod 600 '{place}-shm'"]
    engine.dispose()


def test_the_server_says_it_on_its_error_stream(tmp_path: Path) -> None:
    """Once for a process, however often that opens the bank."""
    place = tmp_path / "bank.db"
    open_bank(place, create=True).dispose()
    place.chmod(0o644)
    with serving(str(place), tmp_path) as server:
        pass
    assert server.log.read_text(encoding="utf-8").count("Other users of this machine") == 1
