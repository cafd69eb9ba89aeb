"""Runs pytest in forked processes with the libraries loaded, so that a mutant costs a second."""

import importlib
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.mutants.settings import COPY, HOME, REPOSITORY

NOT_IMPORTED = 70
SKIPPED_FOLDERS = (".git", ".venv*", ".mutants", ".*_cache", "__pycache__", ".hypothesis", "build")
# Plugins that these tests do not need: loading schemathesis takes longer than most tests.
WITHOUT = ("xdist", "schemathesis", "cacheprovider")
OPTIONS = (
    *(option for name in WITHOUT for option in ("-p", f"no:{name}")),
    *("--no-header", "--tb=line", f"--basetemp={HOME / 'tmp'}"),
)
# Loaded once, before forking. Tiebreak is not among them: each process loads it with its mutant.
LIBRARIES = (
    *("anyio.pytest_plugin", "chardet", "click", "datasets", "huggingface_hub", "hypothesis"),
    *("inspect_ai", "inspect_ai.log", "jinja2", "matplotlib.pyplot", "numpy", "pandas"),
    *("pyarrow.parquet", "requests", "scipy.optimize", "scipy.stats", "sqlalchemy", "yaml"),
)


def fresh_copy() -> None:
    """Copy the working tree to `COPY`, with the files' times, but without compiled files."""
    shutil.rmtree(COPY, ignore_errors=True)
    shutil.copytree(
        REPOSITORY, COPY, symlinks=True, ignore=shutil.ignore_patterns(*SKIPPED_FOLDERS)
    )
    (COPY / ".venv").symlink_to(Path(sys.prefix))


def prepare() -> None:
    """Load the libraries, and have the processes started from here use the copy of Tiebreak.

    Raises:
        RuntimeError: a library has loaded Tiebreak, which would then be the same for all mutants.
    """
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = "1"
    os.environ["PYTHONPATH"] = str(COPY / "src")
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["INSPECT_DISPLAY"] = "log"
    os.environ["MPLBACKEND"] = "Agg"
    for library in LIBRARIES:
        importlib.import_module(library)
    if loaded := [name for name in sys.modules if name.split(".")[0] == "tiebreak"]:
        raise RuntimeError(f"a library loads {loaded[0]}, which would be the same for all mutants")


class Chosen:
    """A pytest plugin that keeps only the chosen tests, in the given order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self.places = {test: place for place, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        chosen = [item for item in items if item.nodeid in self.places]
        items[:] = sorted(chosen, key=lambda item: self.places[item.nodeid])


def ask(
    tests: Sequence[str], log: Path, seconds: float | None, module: str | None = None
) -> int | None:
    """Run tests until one fails.

    Args:
        tests: their ids, in the order in which to run them.
        log: file for the output of pytest.
        seconds: time limit; None for no limit.
        module: a module of Tiebreak to import first.

    Returns:
        The exit code of pytest, `NOT_IMPORTED` if the module cannot be imported, or None if the
        time was over.
    """
    files = list(dict.fromkeys(test.split("::")[0] for test in tests))

    def run() -> int:
        if module is not None:
            try:
                importlib.import_module(module)
            except BaseException:
                return NOT_IMPORTED
        return int(pytest.main([*OPTIONS, "-x", *files], plugins=[_repeatable(), Chosen(tests)]))

    return apart(run, log, seconds)


def apart(run: Callable[[], int], log: Path, seconds: float | None) -> int | None:
    """Run a function in a fork, in the copy; return its exit code, or None if time ran out."""
    shutil.rmtree(HOME / "tmp", ignore_errors=True)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 99
        try:
            os.setsid()
            file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            for stream in (1, 2):
                os.dup2(file, stream)
            os.chdir(COPY)
            sys.path[:] = [str(COPY / "src"), str(COPY), *_others(sys.path)]
            code = run()
        finally:
            sys.stdout.flush()
            os._exit(code)
    return _wait(child, seconds)


def _wait(child: int, seconds: float | None) -> int | None:
    end = None if seconds is None else time.monotonic() + seconds
    try:
        while True:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            if end is not None and time.monotonic() > end:
                return None
            time.sleep(0.02)
    finally:
        # The group may hold processes that tests have started and left behind.
        try:
            os.killpg(child, signal.SIGKILL)
        except ProcessLookupError:
            pass
        else:
            if not _gone(child):
                os.waitpid(child, 0)


def _gone(child: int) -> bool:
    try:
        return os.waitpid(child, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True


def _others(path: list[str]) -> list[str]:
    """The search path without the entries of the clone."""
    here = (REPOSITORY, REPOSITORY / "src")
    return [entry for entry in path if Path(entry).resolve() not in here]


def _repeatable() -> object:
    class Repeatable:
        """A pytest plugin: Hypothesis tries the same examples in every run, and keeps none."""

        def pytest_configure(self) -> None:
            from hypothesis import settings

            settings.register_profile("mutants", derandomize=True, database=None, deadline=None)
            settings.load_profile("mutants")

    return Repeatable()
