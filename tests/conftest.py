"""What every test needs: a cache and a working folder of its own, and no network."""

import gc
import importlib.metadata
import os
from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings

from tests.cases import cases

# A busy machine is no fault of what is tested.
settings.register_profile("tiebreak", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tiebreak")
# Ballots are many small objects without cycles: looking for some takes a seventh of the time.
gc.set_threshold(100_000, 20, 100)
os.environ.setdefault("HF_HUB_OFFLINE", "1")
# Threads of small matrices wait for one another longer than they compute.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# So do the embedded model's: where another process has its core, a thread of OpenMP spins.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# Nobody asks how a run is getting on, and what would answer takes a tenth of the time.
os.environ.setdefault("INSPECT_EVAL_CTL_SERVER", "false")
os.environ.setdefault("TIEBREAK_LOCAL_THREADS", "1")
# With "none" a table of results is laid out for every run, and then not printed.
os.environ.setdefault("INSPECT_DISPLAY", "log")


def pytest_configure(config: pytest.Config) -> None:
    """Inspect searches all installed packages in every run: half of the time of a small one."""
    patch = pytest.MonkeyPatch()
    search = cache(importlib.metadata.packages_distributions)
    patch.setattr(importlib.metadata, "packages_distributions", search)
    # And it looks at what killed runs of the last days left in the user's folder.
    data = TemporaryDirectory(prefix="tiebreak-data-", ignore_cleanup_errors=True)
    patch.setenv("XDG_DATA_HOME", data.name)
    config.add_cleanup(data.cleanup)
    config.add_cleanup(patch.undo)


LONGEST = cases(__file__, "longest")
"""Files that take over six seconds of one core."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files come first: at the end workers have small ones to share."""
    here = Path(__file__).parent
    places = {here / f"{name}.py": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(LONGEST)))


def pytest_collection_finish() -> None:
    """What has been imported and collected stays: a search for garbage need not look at it."""
    gc.freeze()


@pytest.fixture(scope="session")
def inspect_caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folders for one test after the other: a numbered one of pytest's looks at all before it."""
    root = tmp_path_factory.mktemp("inspect-caches")
    return (root / str(number) for number in count())


@pytest.fixture(autouse=True)
def inspect_cache(inspect_caches: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Inspect's cache of model calls, empty for each test."""
    folder = next(inspect_caches)
    folder.mkdir()
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(folder))
    return folder
