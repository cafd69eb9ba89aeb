"""Commands in processes of their own, forked from a server that has done their imports.

    python -m tests.forking        the server; its standard input is the socket for orders

A command starts at once instead of after seconds of imports. Apart from that its process is like
any other: it gets its environment, folder and files, and can be killed with its children.
"""

import gc
import importlib.metadata
import json
import os
import resource
import runpy
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
SCRIPTS = ("inspect", "tiebreak", "flow")
"""Console scripts that can be started; the third is imported when it is first started."""

WANTED = (
    *("tiebreak.inspect_tasks._registry", "tiebreak.publish.write_back.verdict", "planted_judge"),
    *("scipy.stats", "fastapi", "uvicorn.protocols.http.auto", "inspect_ai.agent._acp.server"),
    *("rich.markdown", "rich._emoji_codes", "tiebreak.cli.rank", "tiebreak.report.sentences"),
    *("anyio.abc", "anyio._backends._asyncio"),
)
"""Modules that a run imports, which takes most of its time."""

PLOTS = (
    *("tiebreak.report.page.build", "tiebreak.report.figures.canvas", "matplotlib.figure"),
    *("matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg"),
)
TOKENS = ("tiebreak.study.estimate.dry_judge", "tiktoken.load", "requests")
LATER: Mapping[str, tuple[str, ...]] = {
    "report": PLOTS,
    "run": (*PLOTS, *TOKENS, "tiebreak.study.run"),
    "estimate": TOKENS,
    "bank": (
        *("tiebreak.fair.server.app", "tiebreak.fair.cli.bank_serve"),
        *("sqlalchemy.dialects.postgresql.psycopg", "sqlalchemy.dialects.sqlite"),
    ),
}
"""Modules that single verbs of `tiebreak` import, loaded before the first command of the verb."""

CLIENTS = (
    *("openai.resources.chat", "inspect_ai.model._providers.openai_compatible"),
    *("anthropic", "inspect_ai.model._providers.anthropic"),
)
"""Modules that runs with real providers import, loaded if REAL_CLIENTS is in the environment."""

PATIENCE = 300.0
"""Seconds after which a command counts as hanging."""


class Fork:
    """A command that was started; its process leads a process group of its own."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self.pid = int(line.recv(64))
        self.returncode: int | None = None

    def poll(self, seconds: float = 0.0) -> int | None:
        """Wait up to so many seconds for the exit code; None if the command has not ended."""
        if self.returncode is None and select.select([self._line], [], [], seconds)[0]:
            self.returncode = int(self._line.recv(64))
            self._line.close()
        return self.returncode

    def wait(self) -> int:
        """Wait for the exit code; fails if the command does not end within `PATIENCE`."""
        code = self.poll(PATIENCE)
        assert code is not None, f"process {self.pid} hangs"
        return code

    def kill(self) -> None:
        """Kill the command with its children, if it still runs."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)


class Forks:
    """Starts commands, several at once if need be."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._orders = ours  # the server ends when this closes, also because we end
        command = [sys.executable, "-m", "tests.forking"]
        self._server = subprocess.Popen(command, cwd=ROOT, env=env, stdin=theirs.fileno())
        theirs.close()

    @staticmethod
    @contextmanager
    def serving(env: Mapping[str, str]) -> Iterator["Forks"]:
        """Run a server that starts commands, until the block ends."""
        forks = Forks(env)
        try:
            yield forks
        finally:
            forks._orders.close()
            forks._server.wait()

    def start(
        self,
        *command: str,
        cwd: Path,
        env: Mapping[str, str],
        stdout: int,
        stderr: int,
        stdin: int | None = None,
        descriptors: int | None = None,
    ) -> Fork:
        """Start a command.

        Args:
            command: one of `SCRIPTS`, or "python" and a file; then the arguments.
            cwd: its working directory.
            env: its whole environment, but for PWD, which is set to `cwd`.
            stdout: file descriptor of its output.
            stderr: file descriptor of its error stream.
            stdin: file descriptor of its input; None for an empty input.
            descriptors: limit of its open files; None for the limit of the server.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        how = {"cwd": str(cwd), "env": {**env, "PWD": str(cwd)}, "descriptors": descriptors}
        order = json.dumps({"command": command, **how})
        with theirs, Path(os.devnull).open() as nothing:
            read = nothing.fileno() if stdin is None else stdin
            files = [theirs.fileno(), read, stdout, stderr]
            socket.send_fds(self._orders, [order.encode()], files)
        return Fork(ours)

    def run(
        self,
        *command: str,
        cwd: Path,
        env: Mapping[str, str],
        kill: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Run a command, which must end with exit code 0; its output goes to `cwd / "printed"`.

        Args:
            command: as for `start`.
            cwd: its working directory.
            env: variables to add to the environment of the server.
            kill: polled while the command runs; it is killed when this returns True.

        Returns:
            Whether it was killed before its end.
        """
        with (cwd / "printed").open("wb") as file:
            printed = file.fileno()
            env = {**self._env, **env}
            fork = self.start(*command, cwd=cwd, env=env, stdout=printed, stderr=printed)
        deadline = time.monotonic() + PATIENCE
        killed = False
        while not killed and fork.poll(0.001) is None:
            assert time.monotonic() < deadline, f"{command} hangs"
            if killed := kill():
                fork.kill()
        code = fork.wait()
        if killed and code == -signal.SIGKILL:
            return True
        assert code == 0, (cwd / "printed").read_text()
        return False


def serve() -> None:
    """Run the commands that are ordered, until the other end of the socket is closed."""
    # The search takes a third of a run and finds the same in all runs. Inspect looks the function
    # up in the module whenever it calls it, so the cached one can take its place there.
    search = cache(importlib.metadata.packages_distributions)
    importlib.metadata.packages_distributions = search
    search()
    _import(*WANTED, *(CLIENTS if os.environ.get("REAL_CLIENTS") else ()))
    from inspect_ai._util.entrypoints import ensure_entry_points
    from inspect_ai.model import get_model_info

    ensure_entry_points()
    get_model_info("planted/x")
    for name in SCRIPTS[:2]:
        _script(name)
    # A collection in a child would write to, and so copy, the pages that it shares with the server.
    gc.freeze()
    orders = socket.socket(fileno=os.dup(0))
    running: dict[int, tuple[int, socket.socket]] = {}
    while True:
        ready, _, _ = select.select([orders.fileno(), *running], [], [])
        for ended in set(ready) & set(running):
            pid, line = running.pop(ended)
            os.close(ended)
            _, status = os.waitpid(pid, 0)
            _tell(line, os.waitstatus_to_exitcode(status))
            line.close()
        if orders.fileno() not in ready:
            continue
        message, files, _, _ = socket.recv_fds(orders, 1 << 20, 4)
        if not message:
            return
        order = json.loads(message)
        for verb in order["command"][1:2]:
            _import(*LATER.get(verb, ()))
        if order["command"][0] in SCRIPTS:
            _script(order["command"][0])
        line = socket.socket(fileno=files[0])
        if pid := os.fork():
            running[os.pidfd_open(pid)] = pid, line
            for file in files[1:]:
                os.close(file)
        else:
            os.setsid()
            _tell(line, os.getpid())
            for inherited in (orders, line, *(line for _, line in running.values())):
                inherited.close()
            os._exit(_run(files[1:], **order))


def _import(*names: str) -> None:
    for name in names:
        import_module(name)


def _tell(line: socket.socket, number: int) -> None:
    with suppress(BrokenPipeError):  # nobody waits for it
        line.send(str(number).encode())


@cache
def _script(name: str) -> Callable[[], Any]:
    [script] = entry_points(group="console_scripts", name=name)
    main: Callable[[], Any] = script.load()
    return main


def _run(
    files: list[int],
    command: list[str],
    cwd: str,
    env: Mapping[str, str],
    descriptors: int | None,
) -> int:
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    if descriptors is not None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
    for number, file in enumerate(files):
        os.dup2(file, number)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    name, *arguments = command
    sys.argv = arguments if name == "python" else [str(BIN / name), *arguments]
    sys.path[0] = str(Path(sys.argv[0]).parent)
    main = sys.modules["__main__"]
    main.__spec__, main.__file__ = None, sys.argv[0]  # `multiprocessing` runs these again
    if "NO_PICTURES" in env:  # they take longer than the rest of a small study
        sys.modules["matplotlib"] = None  # type: ignore[assignment]
    code: object = 0
    try:
        if name == "python":
            runpy.run_path(arguments[0], run_name="__main__")
        else:
            _script(name)()
    except SystemExit as end:
        code = end.code
        if isinstance(code, str):
            print(code, file=sys.stderr)
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)  # Inspect sets its own
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return code if isinstance(code, int) else int(code is not None)


if __name__ == "__main__":
    serve()
