"""What every test needs: a cache and a working folder of its own, and no network."""

import importlib.metadata
import os
from functools import cache
from pathlib import Path

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TIEBREAK_LOCAL_THREADS", "1")
# With "none" a table of results is laid out for every run, and then not printed.
os.environ.setdefault("INSPECT_DISPLAY", "log")


def pytest_configure(config: pytest.Config) -> None:
    """Inspect searches all installed packages in every run: half of the time of a small one."""
    patch = pytest.MonkeyPatch()
    search = cache(importlib.metadata.packages_distributions)
    patch.setattr(importlib.metadata, "packages_distributions", search)
    config.add_cleanup(patch.undo)


@pytest.fixture(autouse=True)
def inspect_cache(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Inspect's cache of model calls, empty for each test."""
    folder = tmp_path_factory.mktemp("inspect-cache")
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(folder))
    return folder
