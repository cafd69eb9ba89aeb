"""What the tests of judging runs share."""

from pathlib import Path

import pytest

from tests.inspect_tasks.reviews import write_answers


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which the planted judge notes every call that really happens."""
    file = tmp_path / "calls"
    monkeypatch.setenv("PLANTED_CALLS", str(file))
    return file


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of four models, all answers different."""
    return write_answers(tmp_path_factory.mktemp("pool"))
