"""What tests of publishing share."""

from collections.abc import Iterator

import pytest

from tests.publish.fake_hub import FakeHub
from tests.publish.hub_client import changing, online, same_bytes
from tiebreak.publish import bundle
from tiebreak.rankers import MissingPackageError


@pytest.fixture
def no_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where matplotlib is not installed: drawing takes most of the time."""

    def missing() -> None:
        raise MissingPackageError("no matplotlib")

    monkeypatch.setattr(bundle, "require_matplotlib", missing)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """A Hub on loopback, and a client that talks to it only."""
    with online(monkeypatch) as running:
        yield running


@pytest.fixture
def small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """No real card and tables, which take their time to make, but small files in their place."""
    monkeypatch.setattr("tiebreak.publish.latest.changing_files", changing)
    monkeypatch.setattr("tiebreak.publish.latest.same_content", same_bytes)
