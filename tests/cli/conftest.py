"""What tests of the command share."""

import pytest

from tests.cli.handed import Handed


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> Handed:
    """Nothing stands in for anything yet."""
    return Handed(monkeypatch)
