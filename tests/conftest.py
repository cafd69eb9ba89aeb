"""What every test needs: a cache and a working folder of its own, and no network."""

import os
from pathlib import Path

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TIEBREAK_LOCAL_THREADS", "1")
os.environ.setdefault("INSPECT_DISPLAY", "none")


@pytest.fixture(autouse=True)
def inspect_cache(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Inspect's cache of model calls, empty for each test."""
    folder = tmp_path_factory.mktemp("inspect-cache")
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(folder))
    return folder
