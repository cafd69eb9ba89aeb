"""What tests of the command share."""

from pathlib import Path

import pytest

from tests.cli.handed import ENGINE, Handed


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> Handed:
    """Nothing stands in for anything yet."""
    return Handed(monkeypatch)


@pytest.fixture
def away_from_banks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder and an environment without a bank."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TIEBREAK_BANK", raising=False)


@pytest.fixture
def no_bank(handed: Handed) -> Handed:
    """No bank is opened."""
    handed.instead("tiebreak.fair.bank.schema.open_bank", ENGINE)
    return handed
