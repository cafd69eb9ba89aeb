"""What tests of publishing share."""

import pytest

from tiebreak.publish import plots
from tiebreak.rankers import MissingPackageError


@pytest.fixture
def no_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where matplotlib is not installed: drawing takes most of the time."""

    def missing() -> None:
        raise MissingPackageError("no matplotlib")

    monkeypatch.setattr(plots, "require_matplotlib", missing)
