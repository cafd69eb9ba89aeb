"""Running the real command lines: `inspect`, `lm_eval` and `tiebreak`."""

import io
import os
import pty
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any
from unittest.mock import patch

from tests.forking import BIN as BIN
from tests.forking import ROOT as ROOT
from tests.forking import SCRIPTS, Forks

PLUGIN = ROOT / "tests" / "plugin"


def environment(**more: str) -> dict[str, str]:
    """Environment of a harness process: it finds the planted judge, and prints plain text."""
    path = os.pathsep.join([str(PLUGIN), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {
        **os.environ,
        "PYTHONPATH": path,
        "INSPECT_DISPLAY": "plain",
        "INSPECT_LOG_LEVEL": "warning",
        "COLUMNS": "100",
        **more,
    }


AT_THE_END = {"INSPECT_EVAL_NO_LOG_REALTIME": "1", "INSPECT_EVAL_LOG_REALTIME": "1"}
"""Keep Inspect from writing the database with which a run can be watched: it takes a tenth of the
time and more. `eval-retry` reads the second variable."""


def run(
    *command: str, cwd: Path, code: int | None = 0, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run a command of the virtual environment, such as `run("inspect", "eval", …, cwd=tmp)`.

    The command has a process of its own, which is forked if it is one of `SCRIPTS` or a Python
    file. Raises AssertionError with all its output if the exit code is not `code`; None allows any.
    """
    env = environment(PWD=str(cwd), **AT_THE_END, **env)
    is_file = command[0] == "python" and command[1].endswith(".py")
    if command[0] not in SCRIPTS and not is_file:
        done = subprocess.run(
            [str(BIN / command[0]), *command[1:]],
            cwd=cwd,
            env=env,
            capture_output=True,
            text=True,
            timeout=300,
            stdin=subprocess.DEVNULL,
        )
    else:
        with TemporaryFile("w+") as out, TemporaryFile("w+") as err:
            files = {"stdout": out.fileno(), "stderr": err.fileno()}
            ended = forks().start(*command, cwd=cwd, env=env, **files).wait()
            out.seek(0)
            err.seek(0)
            done = subprocess.CompletedProcess(command, ended, out.read(), err.read())
    if code is not None and done.returncode != code:
        raise AssertionError(
            f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
        )
    return done


AT_FIRST = environment()
"""The environment before a test changes it, since some packages read settings when imported."""


@cache
def forks() -> Forks:
    """The server that starts commands for all tests of this process."""
    return Forks(AT_FIRST)


def run_on_terminal(*command: str, cwd: Path, **env: str) -> tuple[str, int]:
    """Run a command on a terminal of its own; returns what it writes there, and its exit code.

    `COLUMNS` in `env` is the width of the terminal.
    """
    started = environment(TERM="xterm-256color", **env)
    ours, its = pty.openpty()
    termios.tcsetwinsize(its, (50, int(started.pop("COLUMNS"))))
    fork = forks().start(*command, cwd=cwd, env=started, stdin=its, stdout=its, stderr=its)
    os.close(its)
    written = b""
    with suppress(OSError), os.fdopen(ours, "rb", buffering=0) as screen:  # its end is an OSError
        while read := screen.read(1 << 16):
            written += read
    return written.decode("utf-8", "replace"), fork.wait()


def kill_once(enough: Callable[[], bool], *command: str, cwd: Path, **env: str) -> None:
    """Start a command as `run` does, and kill it with all its children once `enough()` is true.

    The planted judge is slowed down, so that the run does not end before it can be killed.
    """
    slowed = environment(PLANTED_DELAY="0.05", **env)
    assert forks().run(*command, cwd=cwd, env=slowed, kill=enough), (
        "ended before it could be killed"
    )


def run_lm_eval(*runs: Sequence[str], cwd: Path, model: str = "dummy") -> None:
    """Run `lm_eval run` offline in a process of its own, by default with its dummy model.

    Each of `runs` holds the arguments of one run; the process does them one after the other. Only
    the tasks in `--include_path` are known. `run("lm_eval", …)` also knows the built-in tasks, but
    takes ten seconds to index them.
    """
    words = [word for given in runs for word in ("then", "run", "--model", model, *given)]
    run(
        *("python", "-m", "own_lm_eval", *words),
        cwd=cwd,
        HF_HUB_OFFLINE="1",
        HF_HOME=str(cwd / "hf"),
    )


def run_here(*command: str, cwd: Path, **env: str) -> str:
    """Run a command's entry point in this process, and return what it prints.

    This is for tests of arguments and output, because all imports are done. `run` starts a process,
    which takes seconds: use it for exit codes, kills and finding what is installed.
    """
    [script] = entry_points(group="console_scripts", name=command[0])
    printed = io.StringIO()
    with (
        patch.dict(os.environ, {"COLUMNS": "100", **AT_THE_END, **env}),
        patch.object(sys, "argv", list(command)),
        patch.object(sys, "excepthook", sys.excepthook),  # Inspect sets its own
        chdir(cwd),
        redirect_stdout(printed),
        redirect_stderr(printed),
    ):
        try:
            script.load()()
        except SystemExit as end:
            code = end.code
        else:
            code = 0
    assert not code, f"{' '.join(command)} ended with {code}\n{printed.getvalue()}"
    return printed.getvalue()


@contextmanager
def serving(app: Any, **options: Any) -> Iterator[str]:
    """Serve an ASGI app in a thread during the block; yields its address."""
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", **options))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.005)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
