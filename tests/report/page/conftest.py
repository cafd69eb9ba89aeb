"""A browser and two reports to open in it, for the tests of a module."""

from pathlib import Path

import pytest

from tests.report.page.browser import browser as browser
from tests.report.page.sample_report import HOSTILE, report, single, written


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample report, with well-meant texts only."""
    return written(tmp_path_factory.mktemp("plain"), report())


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample report with markup, control and bidi characters in every text of a log."""
    return written(tmp_path_factory.mktemp("hostile"), report(HOSTILE))


@pytest.fixture(scope="session")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample report with four boards, which are folded."""
    return written(tmp_path_factory.mktemp("several"), report(folded=True))


@pytest.fixture(scope="session")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample report with one board."""
    return written(tmp_path_factory.mktemp("alone"), single())
