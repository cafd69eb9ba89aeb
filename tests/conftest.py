"""Settings of all tests: no network, an empty cache of model calls for each, little overhead."""

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
# Ballots are many small objects without cycles: collecting garbage takes a seventh of the time.
gc.set_threshold(100_000, 20, 100)
os.environ.setdefault("HF_HUB_OFFLINE", "1")
# For small matrices, threads wait for one another longer than they compute.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# The same holds for the embedded model: OpenMP's threads spin while others use their cores.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# The server that tells how a run is getting on takes a tenth of the time, and is not asked.
os.environ.setdefault("INSPECT_EVAL_CTL_SERVER", "false")
os.environ.setdefault("TIEBREAK_LOCAL_THREADS", "1")
# With "none", Inspect lays out a table of results for every run, but does not print it.
os.environ.setdefault("INSPECT_DISPLAY", "log")


def pytest_configure(config: pytest.Config) -> None:
    """Cache the search of installed packages, which takes half of a small run of Inspect."""
    patch = pytest.MonkeyPatch()
    search = cache(importlib.metadata.packages_distributions)
    patch.setattr(importlib.metadata, "packages_distributions", search)
    # And it looks at what killed runs of the last days left in the user's folder.
    data = TemporaryDirectory(prefix="tiebreak-data-", ignore_cleanup_errors=True)
    patch.setenv("XDG_DATA_HOME", data.name)
    config.add_cleanup(data.cleanup)
    config.add_cleanup(patch.undo)


LONGEST = cases(__file__, "longest")
"""Test files that take over six seconds of one core, in the order in which to run them."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first, so that workers can share small ones at the end."""
    here = Path(__file__).parent
    places = {here / f"{name}.py": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(LONGEST)))


def pytest_collection_finish() -> None:
    """Exempt all modules and tests from garbage collection, since they stay to the end."""
    gc.freeze()


@pytest.fixture(scope="session")
def inspect_caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Paths of new folders, one for each test; pytest's numbered ones list all earlier folders."""
    root = tmp_path_factory.mktemp("inspect-caches")
    return (root / str(number) for number in count())


@pytest.fixture(autouse=True)
def inspect_cache(inspect_caches: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Inspect's cache of model calls, empty for each test."""
    folder = next(inspect_caches)
    folder.mkdir()
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(folder))
    return folder
