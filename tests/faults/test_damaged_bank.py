"""The file of a bank, damaged at random: every verb works on what is left, or names the damage."""

from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from tests.cases import cases
from tests.fair.bank.builders import example_questions, make_bank
from tests.fair.bank.questions import keep
from tests.fair.bank.serving import KEYS, client, served, token
from tests.fair.bank.serving import make_bank as plain_bank
from tests.faults.record import Tried, amount, record
from tiebreak.cli.verbs import main
from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.quotas import grant
from tiebreak.fair.bank.schema import open_bank
from tiebreak.fair.server.settings import Settings

VERBS = cases(__file__, "verbs")


@pytest.mark.slow
def test_a_damaged_bank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    sound = bank(tmp_path / "sound.db")
    tried = amount(4, 200)
    for seed in range(tried):
        for verb in VERBS:
            for old in [*tmp_path.glob("bank.db*"), *tmp_path.glob("out.*")]:
                old.unlink()
            Path("bank.db").write_bytes(damaged(sound, Random(seed)))
            done = CliRunner().invoke(main, ["bank", *verb, "--bank", "bank.db"])
            assert done.exception is None or isinstance(done.exception, SystemExit), (verb, seed)
            # `check` and `import` may also find questions that no longer are what they were.
            assert done.exit_code in (0, 1)
            assert done.output
    times = tried * len(VERBS)
    record(request, Tried("damaged file of a bank, six verbs", times, times))


def bank(path: Path) -> bytes:
    engine = open_bank(path, create=True)
    keep(engine, *example_questions()[:60])
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    engine.dispose()
    return path.read_bytes()


def damaged(sound: bytes, rng: Random) -> bytes:
    """Cut off, or with some bits turned round, or with a page of zeros or noise."""
    data, place = bytearray(sound), rng.randrange(len(sound))
    match rng.randrange(4):
        case 0:
            return sound[:place]
        case 1:
            for _ in range(rng.choice([1, 5, 50, 500])):
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        case 2:
            data[place : place + 4096] = bytes(4096)
        case _:
            data[place : place + 4096] = rng.randbytes(4096)
    return bytes(data)


@pytest.mark.parametrize(("damage", "words"), cases(__file__, "damaged fields are named"))
def test_damaged_fields_are_named(damage: str, words: str, tmp_path: Path) -> None:
    make_bank(tmp_path / "bank.db").dispose()
    with open_bank(tmp_path / "bank.db").begin() as connection:
        connection.exec_driver_sql(f"UPDATE questions SET {damage}")
    command = ["bank", "check", "--bank", str(tmp_path / "bank.db")]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 1
    assert f"Error: the bank's file is damaged {words}" in done.output


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["options = '['", "question = CAST(x'ff' AS TEXT)"])
def test_who_is_examined_learns_nothing_of_a_damaged_bank(damage: str, tmp_path: Path) -> None:
    engine = plain_bank(tmp_path / "bank.db", 3)
    grant(engine, "example.org", 3)
    with (
        served(Settings(bank=str(tmp_path / "bank.db"), keys=KEYS)) as address,
        client(address, token(engine)) as ada,
    ):
        headers = {"Idempotency-Key": "first"}
        session = ada.post("/sessions", json={"k": 1, "model": "m"}, headers=headers).json()["id"]
        with engine.begin() as connection:
            connection.exec_driver_sql(f"UPDATE questions SET {damage}")
        reply = ada.get(f"/sessions/{session}/questions/1")
    assert reply.status_code == 500
    assert "the server failed" in reply.text
    assert "damaged" not in reply.text


def test_a_version_that_is_none(tmp_path: Path) -> None:
    with make_bank(tmp_path / "bank.db").begin() as connection:
        connection.exec_driver_sql("UPDATE bank_version SET version = 'new'")
    with pytest.raises(BankError, match="its version is not a number"):
        open_bank(tmp_path / "bank.db")
