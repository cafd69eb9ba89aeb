"""A browser and two reports to open in it, for the tests of a module."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.report.page.browser import chromium
from tests.report.page.sample_report import HOSTILE, report, single, written


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Headless Chromium; the tests are skipped where there is none, and fail in CI."""
    with chromium() as found:
        yield found


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
