"""What the tests of judging runs share."""

from pathlib import Path

import pytest


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which the planted judge notes every call that really happens."""
    file = tmp_path / "calls"
    monkeypatch.setenv("PLANTED_CALLS", str(file))
    return file
