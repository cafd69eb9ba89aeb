"""What tests of publishing share."""

from collections.abc import Iterator

import pytest

from tests.publish.fake_hub import FakeHub
from tests.publish.hub_client import online
from tiebreak.publish import plots
from tiebreak.rankers import MissingPackageError


@pytest.fixture
def no_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where matplotlib is not installed: drawing takes most of the time."""

    def missing() -> None:
        raise MissingPackageError("no matplotlib")

    monkeypatch.setattr(plots, "require_matplotlib", missing)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """A Hub on loopback, and a client that talks to it only."""
    with online(monkeypatch) as running:
        yield running
